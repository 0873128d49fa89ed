//! The six branches of the reference guest: order, arguments and number of the calls, the outcome,
//! the identity of the error, and what is stored.

use process_once::contract::Stored as Known;
use process_once::event::{Alert, Event};
use process_once::processor::{Failure, FailureReason, Outcome};
use process_once::store::{ErrorClass, Fault, StoreError, Traced};
use process_once::trace::write_records;
use tests::guests::{
    REFERENCE, event, faulty_processor, load, patient, recording, text, traced_processor,
};
use tests::stores::{LONG, Lab, MemoryLab, SqliteLab, Stored, alert};

/// A branch that fails: the fault, the class of its error, the calls, and what is known and stored.
const FAILURES: [(Fault, ErrorClass, &str, Known, bool); 5] = [
    (Fault::Begin, ErrorClass::Busy, "begin -> error 1 (busy): no luck", Known::No, false),
    (
        Fault::TryMark,
        ErrorClass::Io,
        "begin -> tx; try-mark ID -> error 1 (i/o): no luck; rollback",
        Known::No,
        false,
    ),
    (
        Fault::SaveAlert,
        ErrorClass::Full,
        "begin -> tx; try-mark ID -> true; save-alert ALERT -> error 1 (full): no luck; rollback",
        Known::No,
        false,
    ),
    (
        Fault::CommitNotApplied,
        ErrorClass::Full,
        "begin -> tx; try-mark ID -> true; save-alert ALERT -> ok; \
         commit -> error 1 (full): no luck; rollback",
        Known::No,
        false,
    ),
    (
        Fault::CommitReplyLost,
        ErrorClass::OutcomeUnknown,
        "begin -> tx; try-mark ID -> true; save-alert ALERT -> ok; \
         commit -> error 1 (outcome unknown): no luck; rollback",
        Known::Unknown,
        true,
    ),
];

/// The text form of a delivery of the event `id`, from the short form above.
fn expected(id: &str, calls: &str, ending: &str) -> String {
    let alert = alert(id);
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let alert = alert.texts().map(quoted).join(" ");
    let calls = calls.replace("ID", &format!("{id:?}")).replace("ALERT", &alert);
    let calls: String = calls.split("; ").map(|call| format!("  {call}\n")).collect();
    format!("event {id:?}\n{calls}  {ending}\n")
}

fn check_failures<L: Lab + Default>() {
    let guest = load(REFERENCE, patient());
    for (fault, class, calls, known, stored) in FAILURES {
        let lab = L::default();
        let (mut processor, faults) = faulty_processor(&lab, &guest);
        let injected = StoreError::new(class, "no luck");
        faults.arm(fault, 1, injected.clone());
        let delivery = processor.deliver(&event("e"), &processor.deadline());
        assert_eq!(text(&delivery), expected("e", calls, "return error 1"), "{fault:?}");
        let Err(Failure { reason: FailureReason::Store(error), stored: told }) = delivery.answer
        else {
            panic!("{fault:?}: {:?}", delivery.answer)
        };
        assert!(error.is(&injected), "{fault:?}: the caller gets the store's very error");
        assert_eq!(told, known, "{fault:?}");
        let expected = if stored { Stored::pairs(&[alert("e")]) } else { Stored::pairs(&[]) };
        assert_eq!(lab.stored(), expected, "{fault:?}");
    }
}

#[test]
fn a_failure_is_undone_and_returned_as_the_very_error_with_memory() {
    check_failures::<MemoryLab>();
}

#[test]
fn a_failure_is_undone_and_returned_as_the_very_error_with_sqlite() {
    check_failures::<SqliteLab>();
}

fn check_successes<L: Lab + Default>() {
    let lab = L::default();
    let (mut processor, log) = traced_processor(&load(REFERENCE, patient()), lab.open(LONG));
    let new = "begin -> tx; try-mark ID -> true; save-alert ALERT -> ok; commit -> ok";
    let again = "begin -> tx; try-mark ID -> false; rollback";
    for (calls, outcome) in [(new, Outcome::Applied), (again, Outcome::AlreadyApplied)] {
        let delivery = processor.deliver(&event("e"), &processor.deadline());
        assert_eq!(delivery.answer.clone().unwrap(), outcome);
        let expected = expected("e", calls, &format!("return {}", outcome.name()));
        assert_eq!(text(&delivery), expected);
        // What the guest called is what reached the store.
        let mut reached = String::new();
        write_records(&mut reached, &log.take()).unwrap();
        let called = delivery.trace.unwrap().calls;
        let mut calls = String::new();
        write_records(&mut calls, &called).unwrap();
        assert_eq!(reached, calls);
    }
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e")]));
}

#[test]
fn a_new_event_is_applied_and_its_redelivery_already_applied_with_memory() {
    check_successes::<MemoryLab>();
}

#[test]
fn a_new_event_is_applied_and_its_redelivery_already_applied_with_sqlite() {
    check_successes::<SqliteLab>();
}

#[test]
fn a_driver_s_error_comes_back_with_its_code_and_its_cause() {
    let lab = SqliteLab::altered(
        "CREATE TRIGGER no BEFORE INSERT ON alerts BEGIN SELECT RAISE(ABORT, 'too hot'); END",
    );
    let store = Traced::new(lab.open(LONG));
    let log = store.log();
    let mut processor = recording(&load(REFERENCE, patient()), store);
    let failure = processor.process(&event("e")).unwrap_err();
    let FailureReason::Store(error) = failure.reason else { panic!("{failure:?}") };
    let given = log.take().into_iter().find_map(|record| match record.answer {
        process_once::trace::Answer::Failed(error) => Some(error),
        _ => None,
    });
    assert!(error.is(&given.unwrap()), "from the driver to the caller it is one value");
    assert_eq!((error.class(), error.code()), (ErrorClass::Constraint, Some(1811)));
    let cause = std::error::Error::source(&error).unwrap();
    assert!(cause.downcast_ref::<rusqlite::ffi::Error>().is_some(), "{cause:?}");
    assert_eq!(lab.stored(), Stored::pairs(&[]));
}

#[test]
fn texts_reach_the_store_byte_for_byte() {
    let guest = load(REFERENCE, patient());
    let longest_id = "i".repeat(1_024);
    for id in ["e", " e ", "E\u{301}", "\u{c9}", "\u{1f525}\r\n", "\u{202e}e", "\"'", &longest_id] {
        let lab = SqliteLab::new();
        let mut processor = recording(&guest, lab.open(LONG));
        let alert = Alert::new(id, "", &format!("{}\u{1f525}", "m".repeat(65_532)));
        let event = Event::new(alert.clone()).unwrap();
        assert_eq!(processor.process(&event).unwrap(), Outcome::Applied);
        assert_eq!(processor.process(&event).unwrap(), Outcome::AlreadyApplied);
        assert_eq!(lab.stored(), Stored::pairs(&[alert]));
    }
}
