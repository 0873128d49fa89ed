//! How long an instance of a guest lives.

use process_once::processor::{FailureReason, Isolation, Outcome, Processor};
use process_once::store::Memory;
use tests::guests::{event, load, patient};

/// In which delivery of `count` a guest fails for the first time.
fn first_failure(guest: &str, isolation: Isolation, count: usize) -> Option<usize> {
    let guest = load(&format!("tests/wrong/{guest}.wasm"), patient());
    let mut processor = Processor::new(guest, Memory::new()).unwrap().isolate(isolation);
    (1..=count).find(|n| match processor.process(&event(&n.to_string())) {
        Ok(outcome) => {
            assert_eq!(outcome, Outcome::Applied, "{n}");
            false
        }
        Err(failure) => {
            assert!(matches!(failure.reason, FailureReason::Fault(_)), "{n}: {failure:?}");
            true
        }
    })
}

#[test]
fn an_instance_is_kept_unless_each_event_is_to_have_its_own() {
    let guest = "traps_in_its_thousandth_delivery";
    assert_eq!(first_failure(guest, Isolation::Kept, 1_001), Some(1_000));
    assert_eq!(first_failure(guest, Isolation::Event, 1_001), None);
}

#[test]
fn an_instance_that_has_grown_to_half_of_its_memory_is_retired_before_it_runs_out() {
    // It keeps 40 KiB of each delivery, and may have 128 MiB.
    assert_eq!(first_failure("leaks_memory", Isolation::Kept, 4_000), None);
}
