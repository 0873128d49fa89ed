//! Tables of calls and answers, and what the model says of them.

use super::*;
use crate::event::{Alert, Event};
use crate::trace::Call;

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
    Alert::new("evt-1", "dev-1", message)
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
        if let Err(violation) = model.may_call(call.method(), call.has_texts_of(&event)) {
            return violation.to_string();
        }
        model.answered(call.method(), answer, true);
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
