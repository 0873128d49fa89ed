//! Each trouble in every position, so that none is left to chance.

use process_once::store::Fault;

use crate::plan::{FAILING, How, Plan, Trouble, Way, When};
use crate::play::{Ended, History};
use crate::world::Observed;
use crate::{batches, holds};

const HOWS: [How; 3] = [How::NotApplied, How::AppliedInDoubt, How::NotAppliedInDoubt];

/// Six new events, of which the third writes.
const SIX: [(u8, &str); 6] =
    [(0, "apply"), (1, "apply"), (2, "write"), (3, "apply"), (4, "apply"), (5, "apply")];

/// Ids that repeat within a batch, across batches, and what was stored long ago (9).
const REPEATING: [(u8, &str); 9] = [
    (0, "apply"),
    (9, "write"),
    (0, "write"),
    (1, "apply"),
    (0, "apply"),
    (9, "apply"),
    (2, "write"),
    (1, "write"),
    (2, "apply"),
];

fn with(events: &[(u8, &'static str)], way: Way, trouble: &[Trouble]) -> Plan {
    let plan = Plan::of(events, way);
    Plan { stored: vec![9], trouble: trouble.to_vec(), ..plan }
}

/// What can be seen, but for the moment.
fn seen(history: &History) -> Vec<Observed> {
    let deliveries = |observed: &&Observed| matches!(observed, Observed::Delivered { .. });
    let observed = history.moments.iter().map(|moment| &moment.observed);
    observed.filter(deliveries).cloned().collect()
}

#[test]
fn without_faults_batches_of_every_size_show_what_single_transactions_show() {
    for events in [SIX.as_slice(), &REPEATING] {
        let plain = holds(&with(events, Way::Plain, &[]));
        for size in 1..=events.len() + 1 {
            let history = holds(&with(events, batches(size), &[]));
            assert_eq!(seen(&history), seen(&plain), "batches of {size}");
            assert_eq!(history.counts, plain.counts, "batches of {size}");
            let stored = |history: &History| {
                history.moments.last().map(|moment| format!("{:?}", moment.stored))
            };
            assert_eq!(stored(&history), stored(&plain), "batches of {size}");
        }
    }
}

#[test]
fn a_guest_may_fail_in_every_position() {
    for script in FAILING {
        for position in 0..SIX.len() {
            for size in 1..=4 {
                let mut events = SIX;
                events[position].1 = script;
                let history = holds(&with(&events, batches(size), &[]));
                assert_eq!(history.ended, Ended::Failed { event: position }, "{script}");
            }
        }
    }
}

#[test]
fn a_batch_may_fail_at_every_operation_and_a_doubtful_one_is_never_played_again() {
    for events in [SIX.as_slice(), &REPEATING] {
        for size in 1..=4 {
            for nth in 1..=4 {
                for how in HOWS {
                    let history = holds(&with(events, batches(size), &[Trouble::Apply(nth, how)]));
                    let ended_in_doubt = matches!(history.ended, Ended::InDoubt { .. });
                    assert_eq!(ended_in_doubt, history.doubted, "{size}, {nth}, {how:?}");
                }
                let history = holds(&with(events, batches(size), &[Trouble::LookUp(nth)]));
                assert_eq!(history.ended, Ended::Well);
            }
        }
    }
}

#[test]
fn what_fails_in_the_plain_way_after_a_failed_batch_is_reported() {
    for fault in Fault::ALL {
        for nth in 1..=3 {
            let trouble = [
                Trouble::Apply(1, How::NotApplied),
                Trouble::Apply(2, How::NotApplied),
                Trouble::Store(fault, nth),
            ];
            let history = holds(&with(&SIX, batches(2), &trouble));
            if history.struck {
                assert!(matches!(history.ended, Ended::Failed { .. }), "{fault:?}, {nth}");
            }
            assert!(history.struck || nth > 1, "{fault:?}");
        }
    }
}

#[test]
fn another_process_may_write_any_marker_at_any_moment() {
    let whens = [When::BeforeLookUp, When::AfterLookUp, When::BeforeApply, When::AfterApply];
    for when in whens {
        for nth in 1..=3 {
            for id in 0..3 {
                for size in 1..=4 {
                    let overtaken = [Trouble::Overtaken(id, when(nth))];
                    let history = holds(&with(&REPEATING, batches(size), &overtaken));
                    assert_eq!(history.ended, Ended::Well, "{overtaken:?}, {size}");
                }
            }
        }
    }
}

/// The guest fails only where the event is new. In speculation it is; by the time of the plain way
/// another process has applied it, so nothing failed.
#[test]
fn a_failure_that_rests_on_a_look_up_which_was_overtaken_is_not_reported() {
    for size in 2..=4 {
        let mut events = SIX;
        events[2].1 = "trap if new";
        let overtaken = [Trouble::Overtaken(2, When::AfterLookUp(1))];
        let history = holds(&with(&events, batches(size), &overtaken));
        assert_eq!(history.ended, Ended::Well, "batches of {size}");
    }
}

#[test]
fn a_run_may_be_stopped_from_outside_at_every_moment() {
    for size in 1..=4 {
        for nth in 1..=SIX.len() {
            holds(&with(&SIX, batches(size), &[Trouble::Drain(nth - 1)]));
            let source = holds(&with(&SIX, batches(size), &[Trouble::Source(nth)]));
            assert_eq!(source.counts.events(), nth as u64 - 1);
            let watch = holds(&with(&SIX, batches(size), &[Trouble::Watch(nth)]));
            assert_eq!(watch.ended, Ended::Watch { event: nth - 1 });
            holds(&with(&SIX, batches(size), &[Trouble::Acknowledgement(nth)]));
        }
    }
}

/// The source is read ahead, and had failed before the drain ended the run; the failure was reported
/// although the events before it had not been run.
#[test]
fn a_failure_of_the_source_behind_what_a_drain_leaves_over_is_left_to_the_next_run() {
    for size in 2..=4 {
        for drained in 0..SIX.len() {
            let trouble = [Trouble::Drain(drained), Trouble::Source(SIX.len() + 1)];
            let history = holds(&with(&SIX, batches(size), &trouble));
            let all = history.counts.events() == SIX.len() as u64;
            assert_eq!(history.ended != Ended::Well, all, "{:?}", history.ended);
        }
    }
}
