//! The state machine of one delivery: which call may come next, and what must be returned.

use std::fmt;

use super::Rule;
use crate::event::Event;
use crate::trace::Call;

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
    /// A call failed.
    Failed(Step, ErrorId),
    /// `rollback` ran, in this state.
    RolledBack(Undone),
}

/// What a rollback ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Undone {
    /// The duplicate path, where it belongs.
    Duplicate,
    /// A path on which a call had failed, where it belongs.
    Failure(Step, ErrorId),
    /// A path on which nothing had failed: it does not belong there.
    Work,
}

/// A call that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Begin,
    TryMark,
    SaveAlert,
    Commit,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::TryMark => "try-mark",
            Self::SaveAlert => "save-alert",
            Self::Commit => "commit",
        }
    }

    /// The rule that says what follows a failure of this call.
    fn failure_rule(self) -> Rule {
        match self {
            Self::Begin => Rule::R4,
            Self::TryMark => Rule::R5,
            Self::SaveAlert => Rule::R6,
            Self::Commit => Rule::R7,
        }
    }
}

impl Default for Model {
    fn default() -> Self {
        Self { state: State::Started, stored: Stored::No }
    }
}

impl Model {
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
            State::Failed(step, _) => step != Step::Begin,
            State::Started | State::Committed | State::RolledBack(_) => false,
        }
    }

    /// Whether `call` may come next in a delivery of `event`.
    ///
    /// # Errors
    /// The rule that forbids it. The call is then not made and [`Model::answered`] not told.
    pub fn may_call(&self, call: &Call, event: &Event) -> Result<(), Violation> {
        match call {
            Call::Begin => self.may_begin(),
            Call::TryMark(id) => {
                self.may_step(Step::TryMark)?;
                unchanged(id == event.id(), "try-mark was given an event id", "id")
            }
            Call::SaveAlert(alert) => {
                self.may_step(Step::SaveAlert)?;
                unchanged(alert == event.alert(), "save-alert was given an alert", "alert")
            }
            Call::Commit => self.may_step(Step::Commit),
            Call::Rollback => self.may_roll_back(),
        }
    }

    /// Takes in what a call was answered that [`Model::may_call`] had allowed: `Ok(Some(_))` is the
    /// answer of `try-mark`, `Ok(None)` that of any other call that succeeded. `in_doubt` says
    /// whether a failed commit may have happened all the same.
    pub fn answered(&mut self, call: &Call, answer: Result<Option<bool>, ErrorId>, in_doubt: bool) {
        let step = match call {
            Call::Begin => Step::Begin,
            Call::TryMark(_) => Step::TryMark,
            Call::SaveAlert(_) => Step::SaveAlert,
            Call::Commit => Step::Commit,
            Call::Rollback => return self.rolled_back(),
        };
        self.state = match (step, answer) {
            (_, Err(error)) => State::Failed(step, error),
            (Step::Begin, Ok(_)) => State::Begun,
            (Step::TryMark, Ok(Some(true))) => State::Marked,
            (Step::TryMark, Ok(_)) => State::Duplicate,
            (Step::SaveAlert, Ok(_)) => State::Saved,
            (Step::Commit, Ok(_)) => State::Committed,
        };
        self.stored = match self.state {
            State::Committed | State::Duplicate => Stored::Yes,
            State::Failed(Step::Commit, _) if in_doubt => Stored::Unknown,
            _ => self.stored,
        };
    }

    /// Takes in that the transaction was undone, by the guest or on its behalf.
    fn rolled_back(&mut self) {
        self.state = State::RolledBack(match self.state {
            State::Duplicate => Undone::Duplicate,
            State::Failed(step, error) => Undone::Failure(step, error),
            _ => Undone::Work,
        });
    }

    /// Whether the guest may return this now.
    ///
    /// # Errors
    /// The rule that asks for something else.
    pub fn may_return(&self, returned: Returned) -> Result<(), Violation> {
        let expected = match self.state {
            State::Committed => Returned::Applied,
            State::RolledBack(Undone::Duplicate) => Returned::AlreadyApplied,
            State::Failed(Step::Begin, error) | State::RolledBack(Undone::Failure(_, error)) => {
                Returned::Error(error)
            }
            _ => return Err(self.unfinished(returned)),
        };
        if returned == expected {
            return Ok(());
        }
        Err(match (self.state, returned) {
            (State::Committed, _) => {
                violation(Rule::R1, format!("{returned} was returned after commit succeeded"))
            }
            (
                State::Failed(step, _) | State::RolledBack(Undone::Failure(step, _)),
                Returned::Error(_),
            ) => {
                let what = format!("the error returned is not the one of {}", step.name());
                violation(Rule::R8, what)
            }
            (State::Failed(step, _) | State::RolledBack(Undone::Failure(step, _)), _) => {
                let what = format!("{returned} was returned after {} failed", step.name());
                violation(step.failure_rule(), what)
            }
            _ => violation(Rule::R3, format!("{returned} was returned after try-mark said false")),
        })
    }

    /// The violation of a guest that returned in the middle of its work.
    fn unfinished(&self, returned: Returned) -> Violation {
        let (rule, missing) = match self.state {
            State::Started => (Rule::R1, "begin was never called"),
            State::Begun => (Rule::R1, "try-mark was never called"),
            State::Marked => (Rule::R1, "try-mark said true and save-alert was never called"),
            State::Saved => (Rule::R1, "the alert was saved and commit was never called"),
            State::Duplicate => (Rule::R3, "try-mark said false and rollback was never called"),
            State::Failed(step, _) => (step.failure_rule(), "rollback was never called"),
            State::RolledBack(_) | State::Committed => (Rule::R1, "nothing was committed"),
        };
        violation(rule, format!("{returned} was returned, but {missing}"))
    }

    fn may_begin(&self) -> Result<(), Violation> {
        match self.state {
            State::Started => Ok(()),
            _ => Err(violation(Rule::R9, "begin was called a second time")),
        }
    }

    /// Whether the call that takes the transaction one step further may come next.
    fn may_step(&self, step: Step) -> Result<(), Violation> {
        let (rule, situation) = match (self.state, step) {
            (State::Begun, Step::TryMark)
            | (State::Marked, Step::SaveAlert)
            | (State::Saved, Step::Commit) => return Ok(()),
            (State::Begun, _) => (Rule::R1, "before try-mark".to_owned()),
            (State::Marked, Step::Commit) => (Rule::R1, "before save-alert".to_owned()),
            (State::Duplicate, Step::SaveAlert | Step::Commit) => {
                (Rule::R3, "although try-mark said false".to_owned())
            }
            (State::Failed(failed, _), _) if position(failed) < position(step) => {
                (failed.failure_rule(), format!("although {} had failed", failed.name()))
            }
            (State::Committed | State::RolledBack(_), _) => {
                (Rule::R9, "after the transaction had ended".to_owned())
            }
            _ => (Rule::R9, "a second time".to_owned()),
        };
        Err(violation(rule, format!("{} was called {situation}", step.name())))
    }

    fn may_roll_back(&self) -> Result<(), Violation> {
        let (rule, situation) = match self.state {
            State::Duplicate | State::Failed(Step::TryMark | Step::SaveAlert | Step::Commit, _) => {
                return Ok(());
            }
            State::Committed => (Rule::R2, "after commit had succeeded"),
            State::RolledBack(_) => (Rule::R9, "a second time"),
            State::Begun => (Rule::R1, "before try-mark"),
            State::Marked | State::Saved => (Rule::R1, "although nothing had failed"),
            State::Started | State::Failed(Step::Begin, _) => (Rule::R4, "without a transaction"),
        };
        Err(violation(rule, format!("rollback was called {situation}")))
    }
}

/// The order in which the calls are made.
fn position(step: Step) -> u8 {
    match step {
        Step::Begin => 0,
        Step::TryMark => 1,
        Step::SaveAlert => 2,
        Step::Commit => 3,
    }
}

fn unchanged(same: bool, call: &str, what: &str) -> Result<(), Violation> {
    if same {
        return Ok(());
    }
    Err(violation(Rule::R10, format!("{call} that differs from the event's {what}")))
}

fn violation(rule: Rule, what: impl Into<String>) -> Violation {
    Violation { rule, what: what.into() }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Alert;

    const ERROR: ErrorId = ErrorId(7);

    /// One step of a delivery, as the tables below write it.
    #[derive(Clone, Copy, Debug)]
    enum Did {
        Begin,
        BeginFails,
        MarkTrue,
        MarkFalse,
        MarkFails,
        MarkOtherId,
        Save,
        SaveFails,
        SaveOther,
        Commit,
        CommitFails,
        Rollback,
        Return(Returned),
    }
    use Did::*;
    use Returned::{AlreadyApplied, Applied, Unknown};

    fn alert(message: &str) -> Alert {
        Alert {
            source_event_id: "evt-1".to_owned(),
            device_id: "dev-1".to_owned(),
            message: message.to_owned(),
        }
    }

    /// Plays the steps and gives the first violation as text, or "kept".
    fn play(steps: &[Did]) -> String {
        let event = Event::new(alert("hot")).expect("the event is legal");
        let mut model = Model::default();
        for step in steps {
            let (call, answer) = match *step {
                Begin => (Call::Begin, Ok(None)),
                BeginFails => (Call::Begin, Err(ERROR)),
                MarkTrue => (Call::TryMark("evt-1".to_owned()), Ok(Some(true))),
                MarkFalse => (Call::TryMark("evt-1".to_owned()), Ok(Some(false))),
                MarkFails => (Call::TryMark("evt-1".to_owned()), Err(ERROR)),
                MarkOtherId => (Call::TryMark("evt-1 ".to_owned()), Ok(Some(true))),
                Save => (Call::SaveAlert(alert("hot")), Ok(None)),
                SaveFails => (Call::SaveAlert(alert("hot")), Err(ERROR)),
                SaveOther => (Call::SaveAlert(alert("HOT")), Ok(None)),
                Commit => (Call::Commit, Ok(None)),
                CommitFails => (Call::Commit, Err(ERROR)),
                Rollback => (Call::Rollback, Ok(None)),
                Return(returned) => match model.may_return(returned) {
                    Ok(()) => return "kept".to_owned(),
                    Err(violation) => return violation.to_string(),
                },
            };
            if let Err(violation) = model.may_call(&call, &event) {
                return violation.to_string();
            }
            model.answered(&call, answer, true);
        }
        "not returned".to_owned()
    }

    fn check(cases: &[(&[Did], &str)]) {
        for (steps, expected) in cases {
            assert_eq!(play(steps), *expected, "after {steps:?}");
        }
    }

    #[test]
    fn the_six_branches_keep_the_contract() {
        let err = Return(Returned::Error(ERROR));
        check(&[
            (&[Begin, MarkTrue, Save, Commit, Return(Applied)], "kept"),
            (&[Begin, MarkFalse, Rollback, Return(AlreadyApplied)], "kept"),
            (&[BeginFails, err], "kept"),
            (&[Begin, MarkFails, Rollback, err], "kept"),
            (&[Begin, MarkTrue, SaveFails, Rollback, err], "kept"),
            (&[Begin, MarkTrue, Save, CommitFails, Rollback, err], "kept"),
        ]);
    }

    #[test]
    fn a_call_out_of_place_names_its_rule() {
        check(&[
            (&[Begin, Begin], "R9: begin was called a second time"),
            (&[BeginFails, Begin], "R9: begin was called a second time"),
            (&[BeginFails, Rollback], "R4: rollback was called without a transaction"),
            (&[Begin, Save], "R1: save-alert was called before try-mark"),
            (&[Begin, Commit], "R1: commit was called before try-mark"),
            (&[Begin, Rollback], "R1: rollback was called before try-mark"),
            (&[Begin, MarkTrue, MarkTrue], "R9: try-mark was called a second time"),
            (&[Begin, MarkTrue, Commit], "R1: commit was called before save-alert"),
            (&[Begin, MarkTrue, Rollback], "R1: rollback was called although nothing had failed"),
            (&[Begin, MarkFalse, Save], "R3: save-alert was called although try-mark said false"),
            (&[Begin, MarkFalse, Commit], "R3: commit was called although try-mark said false"),
            (&[Begin, MarkFalse, MarkFalse], "R9: try-mark was called a second time"),
            (&[Begin, MarkFails, MarkFails], "R9: try-mark was called a second time"),
            (&[Begin, MarkFails, Save], "R5: save-alert was called although try-mark had failed"),
            (&[Begin, MarkFails, Commit], "R5: commit was called although try-mark had failed"),
            (&[Begin, MarkTrue, Save, Save], "R9: save-alert was called a second time"),
            (&[Begin, MarkTrue, SaveFails, Save], "R9: save-alert was called a second time"),
            (
                &[Begin, MarkTrue, SaveFails, Commit],
                "R6: commit was called although save-alert had failed",
            ),
            (
                &[Begin, MarkTrue, Save, Commit, Rollback],
                "R2: rollback was called after commit had succeeded",
            ),
            (
                &[Begin, MarkTrue, Save, Commit, Commit],
                "R9: commit was called after the transaction had ended",
            ),
            (&[Begin, MarkTrue, Save, CommitFails, Commit], "R9: commit was called a second time"),
            (&[Begin, MarkFalse, Rollback, Rollback], "R9: rollback was called a second time"),
        ]);
    }

    #[test]
    fn an_altered_argument_is_refused() {
        check(&[
            (
                &[Begin, MarkOtherId],
                "R10: try-mark was given an event id that differs from the event's id",
            ),
            (
                &[Begin, MarkTrue, SaveOther],
                "R10: save-alert was given an alert that differs from the event's alert",
            ),
        ]);
    }

    #[test]
    fn an_answer_that_the_calls_contradict_names_its_rule() {
        let other = Return(Returned::Error(ErrorId(8)));
        check(&[
            (&[Return(Unknown)], "R1: unknown was returned, but begin was never called"),
            (&[Return(Applied)], "R1: applied was returned, but begin was never called"),
            (&[Begin, Return(Applied)], "R1: applied was returned, but try-mark was never called"),
            (
                &[Begin, MarkTrue, Save, Return(Applied)],
                "R1: applied was returned, but the alert was saved and commit was never called",
            ),
            (
                &[Begin, MarkTrue, Save, Commit, Return(AlreadyApplied)],
                "R1: already-applied was returned after commit succeeded",
            ),
            (
                &[Begin, MarkFalse, Return(AlreadyApplied)],
                "R3: already-applied was returned, but try-mark said false and rollback was \
                 never called",
            ),
            (
                &[Begin, MarkFalse, Rollback, Return(Applied)],
                "R3: applied was returned after try-mark said false",
            ),
            (&[BeginFails, Return(Applied)], "R4: applied was returned after begin failed"),
            (&[BeginFails, other], "R8: the error returned is not the one of begin"),
            (
                &[Begin, MarkFails, Return(Returned::Error(ERROR))],
                "R5: an error was returned, but rollback was never called",
            ),
            (
                &[Begin, MarkTrue, Save, CommitFails, Rollback, Return(Applied)],
                "R7: applied was returned after commit failed",
            ),
            (
                &[Begin, MarkTrue, Save, CommitFails, Rollback, other],
                "R8: the error returned is not the one of commit",
            ),
        ]);
    }
}
