//! What a check came to.

mod json;
mod junit;
mod sides;
mod text;

pub(crate) use sides::situation;

use std::time::Duration;

use super::ideal;
use super::runner::{Covered, Walked};
use super::schedule::{Planned, Schedule};
use super::session::Judged;
use crate::contract::{Rule, Violation};
use crate::store::{ErrorClass, StoreError};
use crate::trace::CallTrace;

/// What a check came to.
#[derive(Debug)]
pub struct Report {
    /// Each rule, in order.
    pub rules: Vec<RuleReport>,
    /// The schedules within the bound.
    pub schedules: Covered,
    /// The schedules over unlikely texts.
    pub texts: Covered,
    /// The random walk.
    pub walked: Walked,
    /// The seed of the walk.
    pub seed: u64,
    /// How many deliveries there were in all, those to shrink and to look closer left out.
    pub deliveries: u64,
    /// Whether the clock ended the check: then what was not found broken is unknown.
    pub out_of_time: bool,
    /// The most memory that an instance had, in bytes.
    pub memory_bytes: usize,
    /// A digest of every trace: equal for two checks that saw the same.
    pub traces: String,
    /// How long the check took, without compiling the guest.
    pub elapsed: Duration,
    /// Whether only one schedule was asked for.
    pub replayed: bool,
}

/// What a check found out about one rule.
#[derive(Debug)]
pub struct RuleReport {
    /// The rule.
    pub rule: Rule,
    /// Whether the guest keeps it.
    pub verdict: Verdict,
    /// How many deliveries put it to the test and kept it.
    pub exercised: u64,
    /// How many deliveries broke it.
    pub broken: u64,
    /// The shortest schedule that breaks it.
    pub failing: Option<Failing>,
}

/// What is known of a rule, or of the whole contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is kept.
    Pass,
    /// It is broken.
    Fail,
    /// Nothing has put it to the test.
    Unknown,
}

/// A schedule that breaks a rule.
#[derive(Debug)]
pub struct Failing {
    /// The rule and what the guest did.
    pub violation: Violation,
    /// The schedule, up to the delivery that breaks the rule.
    pub schedule: Schedule,
    /// Its deliveries, as they were and as they should have been.
    pub looks: Vec<Look>,
}

/// A delivery as it was and as it should have been.
#[derive(Debug)]
pub struct Look {
    /// What was delivered.
    pub planned: Planned,
    /// What the guest did.
    pub was: CallTrace,
    /// What a right guest does in its place.
    pub should: CallTrace,
    /// Whether the store held the event before.
    pub was_stored: bool,
}

/// What a report is about.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The component, as it was named.
    pub component: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// Its size.
    pub bytes: usize,
    /// The name of the store that it was judged on.
    pub store: &'static str,
}

impl Report {
    /// Pass only if every rule does; of a single schedule, if it broke none.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let any = |verdict| self.rules.iter().any(|rule| rule.verdict == verdict);
        if any(Verdict::Fail) {
            Verdict::Fail
        } else if (any(Verdict::Unknown) && !self.replayed) || self.out_of_time {
            Verdict::Unknown
        } else {
            Verdict::Pass
        }
    }

    /// The rules that were broken.
    pub fn broken(&self) -> impl Iterator<Item = (Rule, &Failing)> {
        self.rules.iter().filter_map(|rule| Some((rule.rule, rule.failing.as_ref()?)))
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.rules.iter().filter(|rule| rule.verdict == verdict).count()
    }
}

impl Verdict {
    /// The verdict in a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Unknown => "unknown",
        }
    }
}

impl Look {
    pub(super) fn new(planned: &Planned, judged: Judged) -> Self {
        let Judged { trace, was_stored, injected, .. } = judged;
        let none = || StoreError::new(ErrorClass::Other, "no error");
        let should = ideal::trace(planned, was_stored, &injected.unwrap_or_else(none));
        Self { planned: planned.clone(), was: trace, should, was_stored }
    }
}

/// Both sides of a delivery that breaks a rule, line by line, with a mark where it does.
pub(crate) fn rows(look: &Look, violation: &Violation) -> Vec<String> {
    let sides = sides::Sides::of(look);
    let marked = |(row, differs)| format!("{} {row}", if differs { '>' } else { ' ' });
    let mut rows: Vec<String> = sides.rows().into_iter().map(marked).collect();
    if sides.are_alike() {
        rows.push(format!("> {}", violation.what));
    }
    rows
}
