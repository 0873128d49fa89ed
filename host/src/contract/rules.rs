//! The rules R1 to R14: the sentence and the intent of each, and what to look at when it is broken.

use std::fmt;
use std::str::FromStr;

/// A rule of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A new event: mark, save, commit, then `applied`.
    R1,
    /// No rollback after a commit that succeeded.
    R2,
    /// A redelivery: mark, roll back, then `already-applied`.
    R3,
    /// A failed begin is returned.
    R4,
    /// A failed try-mark is rolled back and returned.
    R5,
    /// A failed save-alert is rolled back and returned.
    R6,
    /// A failed commit is rolled back and returned, and nobody claims an outcome.
    R7,
    /// The error returned is the very one that the store handed out.
    R8,
    /// Each call at most once, in one transaction, never after its end.
    R9,
    /// Texts pass through unchanged.
    R10,
    /// Two deliveries leave one marker and one alert.
    R11,
    /// An ambiguous commit and a redelivery leave one marker and one alert.
    R12,
    /// No handle outlives the call.
    R13,
    /// No trap, and the budget is kept.
    R14,
}

impl Rule {
    /// Every rule, in order.
    pub const ALL: [Self; 14] = [
        Self::R1,
        Self::R2,
        Self::R3,
        Self::R4,
        Self::R5,
        Self::R6,
        Self::R7,
        Self::R8,
        Self::R9,
        Self::R10,
        Self::R11,
        Self::R12,
        Self::R13,
        Self::R14,
    ];

    /// The rule in one sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::R1 => {
                "when try-mark says true, the alert is saved, the transaction committed, \
                 and applied returned"
            }
            Self::R2 => "after a commit that succeeded, rollback is not called",
            Self::R3 => {
                "when try-mark says false, the transaction is rolled back and already-applied \
                 returned"
            }
            Self::R4 => "when begin fails, its error is returned and nothing else is called",
            Self::R5 => {
                "when try-mark fails, the transaction is rolled back and the error returned"
            }
            Self::R6 => {
                "when save-alert fails, the transaction is rolled back and the error returned"
            }
            Self::R7 => "when commit fails, the transaction is rolled back and the error returned",
            Self::R8 => "a returned error is the very one that the store handed out",
            Self::R9 => {
                "each call is made at most once per delivery, on its one transaction, and never \
                 after the transaction's end"
            }
            Self::R10 => "the event id and the alert reach the store unchanged",
            Self::R11 => "two deliveries of one event leave exactly one marker and one alert",
            Self::R12 => {
                "after an ambiguous commit, a redelivery ends with exactly one marker and one alert"
            }
            Self::R13 => "no handle outlives the call that it was handed out in",
            Self::R14 => "the guest neither traps nor exceeds its budget",
        }
    }

    /// Why the rule is there.
    #[must_use]
    pub fn intent(self) -> &'static str {
        match self {
            Self::R1 => {
                "True means that no committed marker exists: a first delivery, or one after a \
                 failure. The pair is stored whole, and `applied` is said of nothing else."
            }
            Self::R2 => {
                "There is nothing to undo; a guest that tries does not know what it has done."
            }
            Self::R3 => {
                "The store is asked in every delivery. A guest that answers from its own memory is \
                 wrong even where the rows come out right."
            }
            Self::R4 => "There is no transaction to touch.",
            Self::R5 => "Whether the event is new is unknown, so nothing may be stored for it.",
            Self::R6 => "A marker without its alert would lose the alert for good.",
            Self::R7 => "The pair may be stored or not, and nobody may claim either.",
            Self::R8 => {
                "The caller gets its own error back, with its class and its causes, and no guest \
                 stands between the two."
            }
            Self::R9 => {
                "Whether and when to try again is for the caller to decide: it delivers again."
            }
            Self::R10 => {
                "This holds for every legal text. An id that is trimmed or normalised is another \
                 event's id."
            }
            Self::R11 => "This is what \"once\" means to whoever reads the store.",
            Self::R12 => "The redelivery, and nothing else, settles what R7 leaves open.",
            Self::R13 => {
                "A handle that is kept is a transaction that blocks others, or a leak that ends a \
                 long run."
            }
            Self::R14 => {
                "A guest that is stopped midway has answered nothing, and the consumer stops with \
                 it."
            }
        }
    }

    /// What the author of a guest that breaks the rule should look at.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::R1 => {
                "check each step of the way of a new event: begin, try-mark, save-alert, commit, \
                 then return applied"
            }
            Self::R2 => {
                "return right after a commit that succeeded; a guard that rolls back on drop has to \
                 be disarmed first"
            }
            Self::R3 => {
                "ask try-mark in every delivery; when it says false call rollback once, then return \
                 already-applied"
            }
            Self::R4 => "when begin fails, return its error at once; there is nothing to roll back",
            Self::R5 => {
                "when try-mark fails, call rollback once, then return the error that try-mark gave"
            }
            Self::R6 => {
                "when save-alert fails, call rollback once, then return the error that save-alert \
                 gave"
            }
            Self::R7 => {
                "when commit fails, call rollback once, then return the error that commit gave; do \
                 not decide what the outcome was"
            }
            Self::R8 => {
                "hand on the error that the failed call gave; keep no error beyond the delivery and \
                 make none of another"
            }
            Self::R9 => {
                "make each call once, in order, and leave trying again to whoever delivers; let no \
                 state from an earlier delivery decide"
            }
            Self::R10 => {
                "hand the texts on as they came: no trimming, cutting, change of case or Unicode \
                 form, and no swapped members"
            }
            Self::R11 => {
                "keep nothing between deliveries that changes an answer: what try-mark says decides"
            }
            Self::R12 => {
                "keep nothing between deliveries that changes an answer: after a failed commit the \
                 next try-mark decides"
            }
            Self::R13 => {
                "drop the transaction, and each error that is not returned, before returning; in a \
                 language without destructors call their drop functions"
            }
            Self::R14 => "look for what panics, loops, recurses or keeps memory in this situation",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("R{}", *self as u8 + 1))
    }
}

impl FromStr for Rule {
    type Err = NoRule;

    fn from_str(name: &str) -> Result<Self, NoRule> {
        let named = |rule: &Self| rule.to_string().eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(named).ok_or(NoRule)
    }
}

/// A text names no rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are the rules R1 to R14")]
pub struct NoRule;

/// A set of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleSet(u16);

impl RuleSet {
    /// Every rule.
    #[must_use]
    pub fn all() -> Self {
        Rule::ALL.into_iter().collect()
    }

    /// The same set without `rule`.
    #[must_use]
    pub fn without(self, rule: Rule) -> Self {
        Self(self.0 & !Self::bit(rule))
    }

    /// Whether `rule` belongs to the set.
    #[must_use]
    pub fn contains(self, rule: Rule) -> bool {
        self.0 & Self::bit(rule) != 0
    }

    /// Adds `rule`.
    pub fn insert(&mut self, rule: Rule) {
        self.0 |= Self::bit(rule);
    }

    /// Adds every one of `rules`.
    pub fn extend(&mut self, rules: impl IntoIterator<Item = Rule>) {
        rules.into_iter().for_each(|rule| self.insert(rule));
    }

    /// The rules of the set, in order.
    pub fn iter(self) -> impl Iterator<Item = Rule> {
        Rule::ALL.into_iter().filter(move |rule| self.contains(*rule))
    }

    fn bit(rule: Rule) -> u16 {
        1 << rule as u16
    }
}

impl FromIterator<Rule> for RuleSet {
    fn from_iter<I: IntoIterator<Item = Rule>>(rules: I) -> Self {
        let mut set = Self::default();
        set.extend(rules);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_says_the_intent_in_the_same_words() {
        let contract = include_str!("../../../wit/README.md");
        for rule in Rule::ALL {
            let row = contract.lines().find(|line| line.starts_with(&format!("| {rule} |")));
            let row = row.expect("each rule has its row");
            assert!(row.ends_with(&format!("| {} |", rule.intent())), "{rule}: {row}");
        }
    }

    #[test]
    fn a_rule_is_found_by_its_name() {
        assert_eq!("r12".parse(), Ok(Rule::R12));
        for name in ["", "R", "R0", "R15", "R1 ", "1"] {
            assert_eq!(name.parse::<Rule>(), Err(NoRule), "{name:?}");
        }
    }

    #[test]
    fn a_set_holds_what_was_put_in() {
        assert_eq!(RuleSet::all().iter().collect::<Vec<_>>(), Rule::ALL);
        let set = RuleSet::all().without(Rule::R8);
        assert!(!set.contains(Rule::R8) && set.contains(Rule::R9));
    }
}
