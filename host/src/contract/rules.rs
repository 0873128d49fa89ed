//! The rules R1 to R14, each with its sentence; `wit/README.md` has the intent of each.

use std::fmt;

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
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
