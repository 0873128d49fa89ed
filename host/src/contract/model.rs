//! The state machine of one delivery: which action comes next, and which rule any other breaks.

#[cfg(test)]
mod tests;

use std::fmt;

use super::{Rule, RuleSet};
use crate::trace::Method;

/// The identity of an error that was handed to the guest: a number never used twice in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ErrorId(pub u64);

/// What the guest returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// `ok(unknown)`: the guest is not finished.
    Unknown,
    /// `ok(applied)`
    Applied,
    /// `ok(already-applied)`
    AlreadyApplied,
    /// `err(e)`, by the identity of `e`.
    Error(ErrorId),
}

/// What a guest that keeps the contract does next: in each situation there is one right action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It makes this call, with the event's own texts.
    Call(Method),
    /// It returns this, with no handle left.
    Return(Returned),
}

/// What is known of the pair of marker and alert after a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// This delivery stored nothing.
    No,
    /// The pair is stored: this delivery's commit succeeded, or the marker was there before.
    Yes,
    /// A commit did not tell: the pair may or may not be stored.
    Unknown,
}

/// A rule that a delivery broke, and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {what}")]
pub struct Violation {
    /// The rule that was broken.
    pub rule: Rule,
    /// What the guest did, in words.
    pub what: String,
}

/// The model of one delivery. It is told every call before it is made and every answer after it.
///
/// A call that is refused changes nothing: the store never saw it.
#[derive(Clone, Debug)]
pub struct Model {
    state: State,
    stored: Stored,
    /// The rules that are asked for; all of them, but where the judge itself is judged.
    rules: RuleSet,
}

/// Where a delivery stands: what the last call was and how it was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing was called yet.
    Started,
    /// `begin` gave a transaction.
    Begun,
    /// `try-mark` said true.
    Marked,
    /// `try-mark` said false.
    Duplicate,
    /// The alert is staged.
    Saved,
    /// `commit` succeeded.
    Committed,
    /// This call failed.
    Failed(Method, ErrorId),
    /// `rollback` ran, in this state.
    RolledBack(Undone),
}

/// What a rollback ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Undone {
    /// The duplicate path, where it belongs.
    Duplicate,
    /// A path on which a call had failed, where it belongs.
    Failure(Method, ErrorId),
    /// A path on which nothing had failed: it does not belong there.
    Work,
}

impl Default for Model {
    fn default() -> Self {
        Self::asking(RuleSet::all())
    }
}

impl Model {
    /// A model that asks for these rules only.
    #[must_use]
    pub fn asking(rules: RuleSet) -> Self {
        Self { state: State::Started, stored: Stored::No, rules }
    }

    /// What is known of the pair by now.
    #[must_use]
    pub fn stored(&self) -> Stored {
        self.stored
    }

    /// Whether a transaction is open that was neither committed nor rolled back.
    #[must_use]
    pub fn has_open_transaction(&self) -> bool {
        match self.state {
            State::Begun | State::Marked | State::Duplicate | State::Saved => true,
            State::Failed(method, _) => method != Method::Begin,
            State::Started | State::Committed | State::RolledBack(_) => false,
        }
    }

    /// The one right action now; none once a rollback has undone work, after which nothing is right.
    #[must_use]
    pub fn next(&self) -> Option<Action> {
        Some(match self.state {
            State::Started => Action::Call(Method::Begin),
            State::Begun => Action::Call(Method::TryMark),
            State::Marked => Action::Call(Method::SaveAlert),
            State::Saved => Action::Call(Method::Commit),
            State::Duplicate => Action::Call(Method::Rollback),
            State::Failed(Method::Begin, error) => Action::Return(Returned::Error(error)),
            State::Failed(..) => Action::Call(Method::Rollback),
            State::Committed => Action::Return(Returned::Applied),
            State::RolledBack(Undone::Duplicate) => Action::Return(Returned::AlreadyApplied),
            State::RolledBack(Undone::Failure(_, error)) => Action::Return(Returned::Error(error)),
            State::RolledBack(Undone::Work) => return None,
        })
    }

    /// Whether a call may come next; `unaltered` says whether it was given the event's own texts.
    ///
    /// # Errors
    /// The rule that forbids it. The call is then not made and [`Model::answered`] not told.
    pub fn may_call(&self, method: Method, unaltered: bool) -> Result<(), Violation> {
        if self.next() != Some(Action::Call(method)) {
            let (rule, situation) = self.misplaced(method);
            self.ask(false, rule, || format!("{method} was called {situation}"))?;
        }
        self.ask(unaltered, Rule::R10, || match method {
            Method::TryMark => "try-mark was given an event id that differs from the event's id",
            _ => "save-alert was given an alert that differs from the event's alert",
        })
    }

    /// Whether a method may be called on a transaction that this delivery did not open.
    ///
    /// # Errors
    /// The rule that forbids it.
    pub fn may_call_elsewhere(&self, method: Method) -> Result<(), Violation> {
        let what = || format!("{method} was called on a transaction of another delivery");
        self.ask(false, Rule::R9, what)
    }

    /// Whether a method may be called while nothing is delivered.
    ///
    /// # Errors
    /// The rule that forbids it.
    pub fn may_call_outside(&self, method: Method) -> Result<(), Violation> {
        self.ask(false, Rule::R9, || format!("{method} was called outside of a delivery"))
    }

    /// Takes in what a call was answered that [`Model::may_call`] had allowed: `Ok(Some(_))` is the
    /// answer of `try-mark`, `Ok(None)` that of any other call that succeeded. `in_doubt` says
    /// whether a failed commit may have happened all the same.
    pub fn answered(
        &mut self,
        method: Method,
        answer: Result<Option<bool>, ErrorId>,
        in_doubt: bool,
    ) {
        self.state = match (method, answer) {
            (Method::Rollback, _) => match self.state {
                State::Duplicate => State::RolledBack(Undone::Duplicate),
                State::Failed(failed, error) => State::RolledBack(Undone::Failure(failed, error)),
                // There is nothing left to undo.
                State::Started | State::Committed | State::RolledBack(_) => self.state,
                State::Begun | State::Marked | State::Saved => State::RolledBack(Undone::Work),
            },
            (_, Err(error)) => State::Failed(method, error),
            (Method::Begin, Ok(_)) => State::Begun,
            (Method::TryMark, Ok(Some(true))) => State::Marked,
            (Method::TryMark, Ok(_)) => State::Duplicate,
            (Method::SaveAlert, Ok(_)) => State::Saved,
            (Method::Commit, Ok(_)) => State::Committed,
        };
        self.stored = match self.state {
            State::Committed | State::Duplicate => Stored::Yes,
            State::Failed(Method::Commit, _) if in_doubt => Stored::Unknown,
            _ => self.stored,
        };
    }

    /// Whether the guest may return this now.
    ///
    /// # Errors
    /// The rule that asks for something else.
    pub fn may_return(&self, returned: Returned) -> Result<(), Violation> {
        if self.next() == Some(Action::Return(returned)) {
            return Ok(());
        }
        let (rule, what) = match (self.state, returned) {
            // An error that is not the one of this delivery's failed call, if any failed.
            (State::Failed(method, error), Returned::Error(given))
            | (State::RolledBack(Undone::Failure(method, error)), Returned::Error(given))
                if given != error =>
            {
                (Rule::R8, format!("the error returned is not the one of {method}"))
            }
            (State::Failed(method, _), _) if method != Method::Begin => {
                (failure_rule(method), format!("{returned} was returned, {NO_ROLLBACK}"))
            }
            (State::Failed(method, _) | State::RolledBack(Undone::Failure(method, _)), _) => {
                (failure_rule(method), format!("{returned} was returned after {method} failed"))
            }
            (_, Returned::Error(_)) => {
                (Rule::R8, "the error returned was not handed out in this delivery".to_owned())
            }
            (State::Committed, _) => {
                (Rule::R1, format!("{returned} was returned after commit succeeded"))
            }
            (State::RolledBack(Undone::Duplicate), _) => {
                (Rule::R3, format!("{returned} was returned after try-mark said false"))
            }
            _ => self.too_early(returned),
        };
        self.ask(false, rule, || what)
    }

    /// Whether the guest may return while it holds this many handles.
    ///
    /// # Errors
    /// The rule that forbids it.
    pub fn may_hold(&self, handles: usize) -> Result<(), Violation> {
        self.ask(handles == 0, Rule::R13, || match handles {
            1 => "1 handle was still held when the call returned".to_owned(),
            more => format!("{more} handles were still held when the call returned"),
        })
    }

    /// Whether the guest may end other than by returning; `how` says how it ended.
    ///
    /// # Errors
    /// The rule that forbids it.
    pub fn may_stop(&self, how: impl fmt::Display) -> Result<(), Violation> {
        self.ask(false, Rule::R14, || how.to_string())
    }

    /// The call that failed in this delivery.
    #[must_use]
    pub fn failed(&self) -> Option<Method> {
        match self.state {
            State::Failed(method, _) | State::RolledBack(Undone::Failure(method, _)) => {
                Some(method)
            }
            _ => None,
        }
    }

    /// The rules that a delivery which has ended rightly has put to the test.
    #[must_use]
    pub fn exercised(&self) -> RuleSet {
        let always = [Rule::R9, Rule::R13, Rule::R14];
        let path: &[Rule] = match self.state {
            State::Committed => &[Rule::R1, Rule::R2, Rule::R10],
            State::RolledBack(Undone::Duplicate) => &[Rule::R3],
            State::Failed(Method::Begin, _) => &[Rule::R4, Rule::R8],
            State::RolledBack(Undone::Failure(Method::TryMark, _)) => &[Rule::R5, Rule::R8],
            State::RolledBack(Undone::Failure(Method::SaveAlert, _)) => {
                &[Rule::R6, Rule::R8, Rule::R10]
            }
            State::RolledBack(Undone::Failure(Method::Commit, _)) => {
                &[Rule::R7, Rule::R8, Rule::R10]
            }
            _ => &[],
        };
        always.iter().chain(path).copied().collect()
    }

    /// The rule that a call breaks which does not come next, and where it was made.
    fn misplaced(&self, method: Method) -> (Rule, String) {
        use Method::{Begin, Commit, Rollback, SaveAlert, TryMark};
        let (rule, situation) = match (self.state, method) {
            (_, Begin) => (Rule::R9, "a second time"),
            (State::Committed, Rollback) => (Rule::R2, "after commit had succeeded"),
            (State::RolledBack(_), Rollback) => (Rule::R9, "a second time"),
            (State::Begun, Rollback | SaveAlert | Commit) => (Rule::R1, "before try-mark"),
            (State::Marked | State::Saved, Rollback) => (Rule::R1, "although nothing had failed"),
            (State::Marked, Commit) => (Rule::R1, "before save-alert"),
            (State::Duplicate, SaveAlert | Commit) => (Rule::R3, "although try-mark said false"),
            (State::Started | State::Failed(Begin, _), _) => (Rule::R4, "without a transaction"),
            (State::Failed(failed, _), TryMark | SaveAlert | Commit) if failed < method => {
                return (failure_rule(failed), format!("although {failed} had failed"));
            }
            (State::Committed | State::RolledBack(_), _) => {
                (Rule::R9, "after the transaction had ended")
            }
            _ => (Rule::R9, "a second time"),
        };
        (rule, situation.to_owned())
    }

    /// The rule that an outcome breaks which is returned in the middle of the work.
    fn too_early(&self, returned: Returned) -> (Rule, String) {
        // Nothing but a false from the store makes an event already applied.
        let asked = match returned {
            Returned::AlreadyApplied => Rule::R3,
            _ => Rule::R1,
        };
        let (rule, missing) = match self.state {
            State::Started => (asked, "but begin was never called"),
            State::Begun => (asked, "but try-mark was never called"),
            State::Marked => (Rule::R1, "but try-mark said true and save-alert was never called"),
            State::Saved => (Rule::R1, "but the alert was saved and commit was never called"),
            State::Duplicate => (Rule::R3, "but try-mark said false and rollback was never called"),
            State::Failed(..) | State::RolledBack(_) | State::Committed => {
                (Rule::R1, "but nothing was committed")
            }
        };
        (rule, format!("{returned} was returned, {missing}"))
    }

    /// The one way to a violation: says nothing of a rule that is not asked for.
    fn ask<W: Into<String>>(
        &self,
        kept: bool,
        rule: Rule,
        what: impl FnOnce() -> W,
    ) -> Result<(), Violation> {
        if kept || !self.rules.contains(rule) {
            return Ok(());
        }
        Err(Violation { rule, what: what().into() })
    }
}

const NO_ROLLBACK: &str = "but rollback was never called";

/// The rule that says what follows a failure of this call.
fn failure_rule(method: Method) -> Rule {
    match method {
        Method::Begin => Rule::R4,
        Method::TryMark => Rule::R5,
        Method::SaveAlert => Rule::R6,
        // A rollback has no answer, so it never fails.
        Method::Commit | Method::Rollback => Rule::R7,
    }
}

impl fmt::Display for Returned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown",
            Self::Applied => "applied",
            Self::AlreadyApplied => "already-applied",
            Self::Error(_) => "an error",
        })
    }
}
