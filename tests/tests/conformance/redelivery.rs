//! An ambiguous commit, in both worlds, and what a redelivery makes of it.

use process_once::processor::{FailureReason, Outcome};
use process_once::store::{ErrorClass, Fault, StoreError};
use tests::guests::{REFERENCE, event, faulty_processor, load, patient};
use tests::stores::{Lab, MemoryLab, SqliteLab, Stored, alert};

fn check<L: Lab + Default>() {
    let guest = load(REFERENCE, patient());
    for (world, then) in [
        (Fault::CommitNotApplied, Outcome::Applied),
        (Fault::CommitReplyLost, Outcome::AlreadyApplied),
    ] {
        let lab = L::default();
        let (mut processor, faults) = faulty_processor(&lab, &guest);
        let lost = StoreError::new(ErrorClass::OutcomeUnknown, "the reply was lost");
        faults.arm(world, 1, lost.clone());
        let failure = processor.process(&event("e")).unwrap_err();
        assert!(matches!(failure.reason, FailureReason::Store(error) if error.is(&lost)));
        assert_eq!(processor.process(&event("e")).unwrap(), then, "{world:?}");
        assert_eq!(processor.process(&event("e")).unwrap(), Outcome::AlreadyApplied);
        assert_eq!(lab.stored(), Stored::pairs(&[alert("e")]), "{world:?}");
    }
}

#[test]
fn an_ambiguous_commit_ends_with_one_pair_in_both_worlds_with_memory() {
    check::<MemoryLab>();
}

#[test]
fn an_ambiguous_commit_ends_with_one_pair_in_both_worlds_with_sqlite() {
    check::<SqliteLab>();
}
