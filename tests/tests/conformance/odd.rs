//! Right guests that are written differently: the same traces, whatever happens.

use process_once::store::{ErrorClass, Fault, StoreError};
use tests::guests::{REFERENCE, event, faulty_processor, load, patient, sources, text};
use tests::stores::MemoryLab;

/// The traces of a guest over every branch, with the redelivery behind each.
fn traces(name: &str) -> String {
    let guest = load(name, patient());
    let faults = [
        None,
        Some(Fault::Begin),
        Some(Fault::TryMark),
        Some(Fault::SaveAlert),
        Some(Fault::CommitNotApplied),
        Some(Fault::CommitReplyLost),
    ];
    let mut traces = String::new();
    for fault in faults {
        let lab = MemoryLab::default();
        let (mut processor, armed) = faulty_processor(&lab, &guest);
        if let Some(fault) = fault {
            armed.arm(fault, 1, StoreError::new(ErrorClass::OutcomeUnknown, "no luck"));
        }
        for id in ["e", "e", "f"] {
            traces += &text(&processor.deliver(&event(id), &processor.deadline()));
        }
    }
    traces
}

#[test]
fn every_odd_guest_gives_the_traces_of_the_reference() {
    let expected = traces(REFERENCE);
    let odd = sources("odd");
    assert!(odd.len() >= 2, "{odd:?}");
    for name in odd {
        assert_eq!(traces(&format!("tests/odd/{name}.wasm")), expected, "{name}");
    }
}
