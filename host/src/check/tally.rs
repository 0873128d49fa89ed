//! What the deliveries have shown so far, rule by rule.

use super::schedule::Schedule;
use super::session::Judged;
use crate::contract::{Rule, Violation};

/// Counts and first failures, of one thread or of all.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    rules: [RuleTally; Rule::ALL.len()],
    /// Deliveries in all.
    pub(crate) deliveries: u64,
    /// Deliveries that the clock ended, of which nothing is known.
    pub(crate) timed_out: u64,
    /// The most memory that an instance had.
    pub(crate) memory_bytes: usize,
}

/// What was seen of one rule.
#[derive(Clone, Default)]
pub(crate) struct RuleTally {
    /// Deliveries that put it to the test and kept it.
    pub(crate) exercised: u64,
    /// Deliveries that broke it.
    pub(crate) broken: u64,
    /// The first that did.
    pub(crate) first: Option<First>,
}

/// The first delivery that broke a rule.
#[derive(Clone)]
pub(crate) struct First {
    /// The place of its schedule in the order of all.
    pub(crate) order: usize,
    pub(crate) schedule: Schedule,
    /// The index of the delivery in its schedule.
    pub(crate) delivery: usize,
    pub(crate) violation: Violation,
}

impl Tally {
    pub(crate) fn rule(&self, rule: Rule) -> &RuleTally {
        &self.rules[rule as usize]
    }

    pub(crate) fn rule_mut(&mut self, rule: Rule) -> &mut RuleTally {
        &mut self.rules[rule as usize]
    }

    /// Takes in a delivery; `schedule` says which schedule it belongs to, up to here or whole.
    pub(crate) fn add(
        &mut self,
        judged: &Judged,
        order: usize,
        delivery: usize,
        schedule: impl Fn() -> Schedule,
    ) {
        self.deliveries += 1;
        self.timed_out += u64::from(judged.timed_out);
        for rule in judged.exercised.iter() {
            self.rule_mut(rule).exercised += 1;
        }
        for violation in &judged.violations {
            let tally = self.rule_mut(violation.rule);
            tally.broken += 1;
            if tally.first.as_ref().is_none_or(|first| order < first.order) {
                let (schedule, violation) = (schedule(), violation.clone());
                tally.first = Some(First { order, schedule, delivery, violation });
            }
        }
    }

    /// Takes in what another thread saw.
    pub(crate) fn merge(&mut self, other: Self) {
        self.deliveries += other.deliveries;
        self.timed_out += other.timed_out;
        self.memory_bytes = self.memory_bytes.max(other.memory_bytes);
        for (mine, theirs) in self.rules.iter_mut().zip(other.rules) {
            mine.exercised += theirs.exercised;
            mine.broken += theirs.broken;
            mine.first = match (mine.first.take(), theirs.first) {
                (Some(mine), Some(theirs)) if theirs.order < mine.order => Some(theirs),
                (None, theirs) => theirs,
                (mine, _) => mine,
            };
        }
    }
}
