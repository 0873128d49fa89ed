//! What a right guest does: the model's one right action, one after another.

use super::schedule::{Planned, Trouble};
use crate::contract::{Action, ErrorId, Model, Returned};
use crate::store::{ErrorClass, Fault, StoreError};
use crate::trace::{Answer, Call, CallRecord, CallTrace, Ending, Method};

/// The trace of a right guest in a delivery to a store that holds the event's marker, or does not.
pub(crate) fn trace(planned: &Planned, was_stored: bool, error: &StoreError) -> CallTrace {
    let event = planned.subject.event();
    let mut model = Model::default();
    let mut calls = Vec::new();
    let ending = loop {
        let method = match model.next() {
            Some(Action::Call(method)) => method,
            Some(Action::Return(Returned::Applied)) => break Ending::Outcome("applied"),
            Some(Action::Return(Returned::AlreadyApplied)) => {
                break Ending::Outcome("already-applied");
            }
            Some(Action::Return(Returned::Error(_))) => break Ending::Error(error.clone()),
            Some(Action::Return(Returned::Unknown)) | None => break Ending::Outcome("unknown"),
        };
        let answer = answer(method, planned.trouble, was_stored, error);
        let told = match &answer {
            Answer::Done => Ok(None),
            Answer::Marked(new) => Ok(Some(*new)),
            Answer::Failed(_) => Err(ErrorId(0)),
        };
        model.answered(method, told, false);
        calls.push(CallRecord { call: Call::of(method, event), answer });
    };
    CallTrace { event_id: event.id().to_owned(), calls, ending }
}

/// What the store answers it.
pub(crate) fn answer(
    method: Method,
    trouble: Trouble,
    was_stored: bool,
    error: &StoreError,
) -> Answer {
    match (method, trouble.fault.map(struck)) {
        (Method::Rollback, _) => Answer::Done,
        (method, Some(struck)) if method == struck => Answer::Failed(error.clone()),
        (Method::TryMark, _) => Answer::Marked(!was_stored),
        _ => Answer::Done,
    }
}

/// The call that a fault strikes.
fn struck(fault: Fault) -> Method {
    match fault {
        Fault::Begin => Method::Begin,
        Fault::TryMark => Method::TryMark,
        Fault::SaveAlert => Method::SaveAlert,
        Fault::CommitNotApplied | Fault::CommitReplyLost => Method::Commit,
    }
}

/// What stores say, to catch a guest that lets it decide; the first ones are alike, so that only
/// identity tells them apart.
const MESSAGES: [&str; 9] = [
    "the store failed",
    "the store failed",
    "the store failed",
    "database is locked",
    "UNIQUE constraint failed: processed_reading_events.event_id",
    "",
    "timeout: busy, try again",
    "la base de donn\u{e9}es a \u{e9}chou\u{e9} \u{1f4a5}",
    "duplicate key",
];

/// The `number`th error of a schedule, as the store gives it for this fault.
pub(crate) fn error(fault: Fault, number: usize) -> StoreError {
    let class = match fault {
        Fault::Begin => ErrorClass::Busy,
        Fault::TryMark => ErrorClass::Io,
        Fault::SaveAlert => ErrorClass::Full,
        // Whether it was applied or not, the client knows the same.
        Fault::CommitNotApplied | Fault::CommitReplyLost => ErrorClass::OutcomeUnknown,
    };
    let message = MESSAGES[number % MESSAGES.len()];
    // Now and then a long one.
    StoreError::new(class, if number % 10 == 9 { message.repeat(100) } else { message.to_owned() })
}
