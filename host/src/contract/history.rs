//! What spans deliveries: the rules that only a sequence of them can break.

use super::{Model, Returned, Rule, Violation};
use crate::trace::Method;

/// What the deliveries so far have made of one event, as far as the rules look back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum History {
    /// Nothing that a rule looks back to.
    #[default]
    Blank,
    /// A delivery that kept every rule applied it.
    Applied,
    /// Its last commit failed, and the guest left the outcome open as it should.
    InDoubt,
}

/// How many markers and alerts of an event the store holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Markers with the event's id.
    pub markers: u64,
    /// Alerts with the event's id.
    pub alerts: u64,
}

impl Rows {
    /// One marker and one alert: what an event that was applied once has left.
    pub const PAIR: Self = Self { markers: 1, alerts: 1 };
}

impl History {
    /// The rule that a delivery puts to the test beyond its own: R11 after an event was applied, R12
    /// after a commit in doubt. None if a call failed in it, which leaves either open.
    #[must_use]
    pub fn rule(self, model: &Model) -> Option<Rule> {
        match self {
            _ if model.failed().is_some() => None,
            Self::Blank => None,
            Self::Applied => Some(Rule::R11),
            Self::InDoubt => Some(Rule::R12),
        }
    }

    /// Whether a delivery has ended as [`History::rule`] asks for: with the answer that follows from
    /// what the store held before it, and one marker and one alert after it.
    ///
    /// The violation takes the place of one of R1 or R3: the guest goes wrong in a redelivery, and this
    /// is the rule that says so.
    ///
    /// # Errors
    /// The rule that was broken.
    pub fn may_end(
        self,
        returned: Returned,
        was_stored: bool,
        after: Rows,
    ) -> Result<(), Violation> {
        let (rule, expected, contradiction) = match (self, was_stored) {
            (Self::Blank, _) => return Ok(()),
            (Self::Applied, _) => (
                Rule::R11,
                Returned::AlreadyApplied,
                "was returned for an event that an earlier delivery had applied",
            ),
            (Self::InDoubt, true) => (
                Rule::R12,
                Returned::AlreadyApplied,
                "was returned, but the commit in doubt had happened",
            ),
            (Self::InDoubt, false) => (
                Rule::R12,
                Returned::Applied,
                "was returned, but the commit in doubt had not happened",
            ),
        };
        if returned != expected {
            return Err(Violation { rule, what: format!("{returned} {contradiction}") });
        }
        if after != Rows::PAIR {
            let Rows { markers, alerts } = after;
            let what = format!("the event has {markers} markers and {alerts} alerts");
            return Err(Violation { rule, what });
        }
        Ok(())
    }

    /// Takes in a delivery that has ended; `kept` says whether it broke no rule.
    pub fn ended(&mut self, model: &Model, returned: Option<Returned>, kept: bool) {
        *self = match (returned.filter(|_| kept), *self) {
            (Some(Returned::Applied), _) => Self::Applied,
            (Some(Returned::AlreadyApplied), Self::Applied | Self::InDoubt) => Self::Applied,
            (Some(Returned::Error(_)), _) if model.failed() == Some(Method::Commit) => {
                Self::InDoubt
            }
            // An error before the commit changes nothing that was known.
            (Some(Returned::Error(_)), before) => before,
            _ => Self::Blank,
        };
    }
}
