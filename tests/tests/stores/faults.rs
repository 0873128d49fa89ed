//! The wrappers that fail on demand and that record, around every store.

use process_once::store::{
    CallLog, ErrorClass, Fault, Faults, Faulty, Store, StoreError, Traced, Tx,
};
use process_once::trace::{Answer, CallRecord, write_records};
use tests::stores::{LONG, Lab, Stored, alert, deliver, no_deadline};

use super::Clause;

pub(crate) fn clauses<L: Lab>() -> Vec<Clause<L>> {
    vec![
        ("an armed fault strikes the call it counts to, with the very error", counts),
        ("a fault before the commit leaves nothing after the rollback", not_stored),
        ("a commit whose reply is lost is stored all the same", reply_lost),
        ("after either commit fault a redelivery ends with one pair", redelivered),
        ("after a fault the transaction only rolls back", spoiled),
        ("a sticky fault fails every later call of its transaction but rollback", sticky),
        ("a disarmed fault does not strike", disarmed),
        ("a commit that the store refuses gives the store's own error", refused_by_the_store),
        ("a trace has each call with its arguments and its answer", traced),
        ("a trace has the very error that was answered", traced_error),
    ]
}

const KINDS: [Fault; 5] = [
    Fault::Begin,
    Fault::TryMark,
    Fault::SaveAlert,
    Fault::CommitNotApplied,
    Fault::CommitReplyLost,
];

fn error() -> StoreError {
    StoreError::new(ErrorClass::Io, "the cable was pulled")
}

fn faulty<L: Lab>(lab: &L) -> (Faulty<L::Store>, Faults) {
    let store = Faulty::new(lab.open(LONG));
    let faults = store.faults();
    (store, faults)
}

fn counts<L: Lab>(lab: &L) {
    let (mut store, faults) = faulty(lab);
    for kind in KINDS {
        for nth in 1..=3 {
            let armed = error();
            faults.arm(kind, nth, armed.clone());
            for call in 1..=3 {
                let result = deliver(&mut store, &alert(&format!("{kind:?} {nth} {call}")));
                match result {
                    Ok(new) => assert!(new && call != nth, "{kind:?}: {call} of {nth}"),
                    Err(error) => assert!(error.is(&armed) && call == nth, "{kind:?} {call}"),
                }
                assert_eq!(faults.pending(), usize::from(call < nth));
            }
        }
    }
}

fn not_stored<L: Lab>(lab: &L) {
    let (mut store, faults) = faulty(lab);
    for kind in [Fault::Begin, Fault::TryMark, Fault::SaveAlert, Fault::CommitNotApplied] {
        faults.arm(kind, 1, error());
        assert_eq!(deliver(&mut store, &alert("e")), Err(error()), "{kind:?}");
        assert_eq!(lab.stored(), Stored::pairs(&[]), "{kind:?}");
    }
}

fn reply_lost<L: Lab>(lab: &L) {
    let (mut store, faults) = faulty(lab);
    faults.arm(Fault::CommitReplyLost, 1, error());
    assert_eq!(deliver(&mut store, &alert("e")), Err(error()));
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e")]));
}

fn redelivered<L: Lab>(lab: &L) {
    let (mut store, faults) = faulty(lab);
    let events = [(Fault::CommitNotApplied, true), (Fault::CommitReplyLost, false)];
    for (kind, new_again) in events {
        let alert = alert(&format!("{kind:?}"));
        faults.arm(kind, 1, error());
        assert_eq!(deliver(&mut store, &alert), Err(error()));
        assert_eq!(deliver(&mut store, &alert), Ok(new_again));
        assert_eq!(deliver(&mut store, &alert), Ok(false));
    }
    let alerts = events.map(|(kind, _)| alert(&format!("{kind:?}")));
    assert_eq!(lab.stored(), Stored::pairs(&alerts));
}

/// Delivers up to the fault, then makes every call that a wrong guest could make.
fn calls_after_fault<S: Store>(store: &mut S, kind: Fault) -> [StoreError; 3] {
    let mut tx = store.begin(&no_deadline()).unwrap();
    let failed = match kind {
        Fault::TryMark => tx.try_mark("e").map(drop),
        Fault::SaveAlert => tx.try_mark("e").and_then(|_| tx.save_alert(&alert("e"))),
        Fault::Begin | Fault::CommitNotApplied | Fault::CommitReplyLost => {
            tx.try_mark("e").and_then(|_| tx.save_alert(&alert("e"))).and_then(|()| tx.commit())
        }
    };
    assert_eq!(failed, Err(error()));
    let later = [
        tx.try_mark("e").unwrap_err(),
        tx.save_alert(&alert("e")).unwrap_err(),
        tx.commit().unwrap_err(),
    ];
    tx.rollback();
    assert_eq!(tx.commit().unwrap_err().class(), ErrorClass::Misuse);
    later
}

fn spoiled<L: Lab>(lab: &L) {
    let (mut store, faults) = faulty(lab);
    for kind in &KINDS[1..4] {
        faults.arm(*kind, 1, error());
        let later = calls_after_fault(&mut store, *kind);
        assert_eq!(later.map(|error| error.class()), [ErrorClass::Misuse; 3], "{kind:?}");
        assert_eq!(lab.stored(), Stored::pairs(&[]), "{kind:?}");
    }
}

fn sticky<L: Lab>(lab: &L) {
    let (mut store, faults) = faulty(lab);
    for kind in &KINDS[1..4] {
        let armed = error();
        faults.arm_sticky(*kind, 1, armed.clone());
        let [a, b, c] = calls_after_fault(&mut store, *kind);
        assert!([&a, &b, &c].into_iter().all(|error| *error == armed), "{kind:?}: they are alike");
        let others = [&armed, &b, &c];
        assert!(!others.into_iter().any(|other| other.is(&a)), "{kind:?}: each is its own");
        assert_eq!(lab.stored(), Stored::pairs(&[]), "{kind:?}");
    }
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true), "the next transaction is free of it");
}

fn disarmed<L: Lab>(lab: &L) {
    let (mut store, faults) = faulty(lab);
    KINDS.into_iter().for_each(|kind| faults.arm(kind, 1, error()));
    assert_eq!(faults.pending(), KINDS.len());
    faults.disarm();
    assert_eq!(faults.pending(), 0);
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
}

/// A reply can only be lost where there is one: the commit did not happen, and nobody may say so
/// with the armed error, which could be "outcome unknown".
fn refused_by_the_store<L: Lab>(lab: &L) {
    let (mut store, faults) = faulty(lab);
    faults.arm(Fault::CommitReplyLost, 1, error());
    let mut tx = store.begin(&no_deadline()).unwrap();
    assert_eq!(tx.commit().unwrap_err().class(), ErrorClass::Misuse);
    tx.rollback();
    assert_eq!(faults.pending(), 0);
}

fn text_of(log: &CallLog) -> String {
    let mut text = String::new();
    write_records(&mut text, &log.take()).unwrap();
    text
}

fn traced<L: Lab>(lab: &L) {
    let mut store = Traced::new(lab.open(LONG));
    let log = store.log();
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
    assert_eq!(deliver(&mut store, &alert("e")), Ok(false));
    assert_eq!(
        text_of(&log),
        "begin -> tx\n\
         try-mark \"e\" -> true\n\
         save-alert \"e\" \"device of e\" \"message of e\" -> ok\n\
         commit -> ok\n\
         begin -> tx\n\
         try-mark \"e\" -> false\n\
         rollback\n"
    );
    assert_eq!(text_of(&log), "", "taken once");

    let mut tx = store.begin(&no_deadline()).unwrap();
    assert_eq!(text_of(&log), "begin -> tx\n");
    assert_eq!(tx.try_mark("f"), Ok(true));
    drop(tx);
    assert_eq!(text_of(&log), "try-mark \"f\" -> true\n", "a drop is no call");
}

fn traced_error<L: Lab>(lab: &L) {
    let inner = Faulty::new(lab.open(LONG));
    let faults = inner.faults();
    let mut store = Traced::new(inner);
    let log = store.log();
    for kind in KINDS {
        let armed = error();
        faults.arm(kind, 1, armed.clone());
        assert_eq!(deliver(&mut store, &alert(&format!("{kind:?}"))), Err(error()));
        let records = log.take();
        let is_armed = |record: &&CallRecord| matches!(&record.answer, Answer::Failed(error) if error.is(&armed));
        assert_eq!(records.iter().filter(is_armed).count(), 1, "{kind:?}: {records:?}");
    }
}
