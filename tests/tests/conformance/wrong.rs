//! Wrong guests in production: the host names what each did, believes nothing, undoes what is not
//! committed, and serves the next event. The judge has them all; here are those that differ for a host.

use process_once::contract::Stored as Known;
use process_once::store::{ErrorClass, Fault, StoreError};
use tests::guests::{event, faulty_processor, impatient, load};
use tests::stores::{Lab, SqliteLab, Stored, alert};

/// What befalls a delivery.
#[derive(Clone, Copy, Debug)]
enum Given {
    /// A new event.
    New,
    /// An event that was applied before.
    Redelivery,
    /// A new event, and this fault.
    Faulty(Fault),
}
use Given::{Faulty, New, Redelivery};

/// A guest's file, the delivery that shows it up, what the host says, and what is known of the pair.
const GUESTS: &[(&str, Given, &str, Known)] = &[
    (
        "alters_alert",
        New,
        "the guest broke the contract, R10: save-alert was given an alert that differs from the event's alert",
        Known::No,
    ),
    (
        "alters_id",
        New,
        "the guest broke the contract, R10: try-mark was given an event id that differs from the event's id",
        Known::No,
    ),
    (
        "begins_twice",
        New,
        "the guest broke the contract, R9: begin was called a second time",
        Known::Yes,
    ),
    (
        "commits_twice",
        New,
        "the guest broke the contract, R9: commit was called after the transaction had ended",
        Known::Yes,
    ),
    (
        "eats_memory",
        New,
        "the guest ran out of memory: wasm trap: wasm `unreachable` instruction executed",
        Known::No,
    ),
    (
        "ignores_commit_error",
        Faulty(Fault::CommitNotApplied),
        "the guest broke the contract, R7: applied was returned after commit failed",
        Known::No,
    ),
    (
        "keeps_error",
        Faulty(Fault::TryMark),
        "the guest broke the rules of handles: R13: 1 handle was still held when the call returned",
        Known::No,
    ),
    (
        "leaks_tx",
        New,
        "the guest broke the rules of handles: R13: 1 handle was still held when the call returned",
        Known::Yes,
    ),
    (
        "leaves_tx_open",
        New,
        "the guest broke the contract, R1: unknown was returned, but try-mark said true and save-alert was never called",
        Known::No,
    ),
    (
        "lies_already_applied",
        New,
        "the guest broke the contract, R1: rollback was called although nothing had failed",
        Known::No,
    ),
    (
        "lies_applied",
        New,
        "the guest broke the contract, R1: rollback was called although nothing had failed",
        Known::No,
    ),
    ("loops", New, "the guest ran on after its deadline and was stopped", Known::No),
    (
        "loops_in_calls",
        New,
        "the guest broke the contract, R9: begin was called a second time",
        Known::No,
    ),
    ("recurses", New, "the guest trapped: wasm trap: out of bounds memory access", Known::No),
    (
        "retries_commit",
        Faulty(Fault::CommitNotApplied),
        "the guest broke the contract, R9: commit was called a second time",
        Known::No,
    ),
    (
        "rolls_back_after_commit",
        New,
        "the guest broke the contract, R2: rollback was called after commit had succeeded",
        Known::Yes,
    ),
    (
        "swaps_device_and_message",
        New,
        "the guest broke the contract, R10: save-alert was given an alert that differs from the event's alert",
        Known::No,
    ),
    (
        "traps",
        New,
        "the guest trapped: wasm trap: wasm `unreachable` instruction executed",
        Known::No,
    ),
    (
        "traps_after_commit",
        New,
        "the guest trapped: wasm trap: wasm `unreachable` instruction executed",
        Known::Yes,
    ),
    (
        "traps_at_start",
        New,
        "the guest trapped: wasm trap: wasm `unreachable` instruction executed",
        Known::No,
    ),
    (
        "trims_id",
        New,
        "the guest broke the contract, R10: try-mark was given an event id that differs from the event's id",
        Known::No,
    ),
    ("unfinished", New, "the guest answered unknown, as an unfinished one does", Known::No),
    (
        "uses_no_rollback_on_duplicate",
        Redelivery,
        "the guest broke the contract, R3: already-applied was returned, but try-mark said false and rollback was never called",
        Known::Yes,
    ),
];

fn check(name: &str, given: Given, said: &str, known: Known) {
    let lab = SqliteLab::new();
    let guest = load(&format!("tests/wrong/{name}.wasm"), impatient());
    let (mut processor, faults) = faulty_processor(&lab, &guest);
    if let Redelivery = given {
        assert!(tests::stores::deliver(&mut lab.open(tests::stores::LONG), &alert(" e ")).unwrap());
    }
    if let Faulty(fault) = given {
        faults.arm(fault, 1, StoreError::new(ErrorClass::Io, "no luck"));
    }
    let failure = processor.process(&event(" e ")).unwrap_err();
    assert_eq!((failure.to_string().as_str(), failure.stored), (said, known), "{name}");
    let stored = known == Known::Yes;
    let expected = if stored { Stored::pairs(&[alert(" e ")]) } else { Stored::pairs(&[]) };
    assert_eq!(lab.stored(), expected, "{name}: only what was committed is stored");
    // Nothing of the wrong delivery is left: another store can write at once.
    let mut other = lab.open(std::time::Duration::ZERO);
    assert!(tests::stores::deliver(&mut other, &alert("f")).unwrap(), "{name}");
}

#[test]
fn every_wrong_guest_is_caught_and_nothing_of_it_is_left() {
    for (name, given, said, known) in GUESTS {
        check(name, *given, said, *known);
    }
}
