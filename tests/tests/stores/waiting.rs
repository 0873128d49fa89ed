//! Other writers, deadlines and cancellation.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use process_once::deadline::{Deadline, Expired};
use process_once::store::{ErrorClass, Store, Tx};
use tests::stores::{LONG, Lab, Stored, alert, deliver, no_deadline};

use super::Clause;

/// Short enough to wait for, and long enough for more than one attempt.
const SHORT: Duration = Duration::from_millis(20);

pub(crate) fn clauses<L: Lab>() -> Vec<Clause<L>> {
    vec![
        ("a second writer waits for the first and sees what it stored", second_writer_waits),
        ("a second writer is told busy when its patience ends", busy),
        ("contending handles store each event once", contention),
        ("a deadline ends the wait for the lock", deadline_ends_the_wait),
        ("a cancellation ends the wait for the lock", cancellation_ends_the_wait),
        ("a cancelled delivery gets no transaction", cancelled_before_begin),
        ("a cancellation at any step fails the next call and stores nothing", cancelled_at_a_step),
        ("a passed deadline fails the next call and stores nothing", deadline_passed),
        ("the transaction's time runs from its begin", transaction_time),
        ("a begin that failed does not start the transaction's time", failed_begin_starts_nothing),
        ("a commit that succeeded stays so whatever is cancelled later", cancelled_after_commit),
    ]
}

fn second_writer_waits<L: Lab>(lab: &L) {
    let (mut first, mut second) = (lab.open(LONG), lab.open(LONG));
    let mut tx = first.begin(&no_deadline()).unwrap();
    assert_eq!(tx.try_mark("e"), Ok(true));
    let (about_to_begin, begins) = mpsc::channel();
    let waiting = thread::spawn(move || {
        about_to_begin.send(()).unwrap();
        deliver(&mut second, &alert("e"))
    });
    begins.recv().unwrap();
    tx.save_alert(&alert("e")).unwrap();
    tx.commit().unwrap();
    assert_eq!(waiting.join().unwrap(), Ok(false));
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e")]));
}

fn busy<L: Lab>(lab: &L) {
    let mut first = lab.open(LONG);
    for patience in [Duration::ZERO, SHORT] {
        let mut second = lab.open(patience);
        let tx = first.begin(&no_deadline()).unwrap();
        let error = second.begin(&no_deadline()).map(drop).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Busy);
        drop(tx);
        assert_eq!(deliver(&mut second, &alert(&format!("{patience:?}"))), Ok(true));
    }
}

fn contention<L: Lab>(lab: &L) {
    let alerts: Vec<_> = (0..50).map(|n| alert(&format!("e{n}"))).collect();
    let handles = [lab.open(LONG), lab.open(LONG), lab.open(LONG)];
    let applied: usize = thread::scope(|scope| {
        let work = |mut store| {
            let alerts = &alerts;
            scope.spawn(move || alerts.iter().filter(|a| deliver(&mut store, a).unwrap()).count())
        };
        handles.map(work).into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(applied, alerts.len());
    assert_eq!(lab.stored(), Stored::pairs(&alerts));
}

fn deadline_ends_the_wait<L: Lab>(lab: &L) {
    let (mut first, mut second) = (lab.open(LONG), lab.open(LONG));
    let tx = first.begin(&no_deadline()).unwrap();
    let deadline = Deadline::new(SHORT, LONG);
    deadline.start();
    let error = second.begin(&deadline).map(drop).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Deadline);
    drop(tx);
    assert_eq!(deliver(&mut second, &alert("e")), Ok(true));
}

fn cancellation_ends_the_wait<L: Lab>(lab: &L) {
    let (mut first, mut second) = (lab.open(LONG), lab.open(LONG));
    let tx = first.begin(&no_deadline()).unwrap();
    let deadline = no_deadline();
    let shared = deadline.clone();
    let (about_to_begin, begins) = mpsc::channel();
    let waiting = thread::spawn(move || {
        about_to_begin.send(()).unwrap();
        let error = second.begin(&shared).map(drop).unwrap_err();
        (error.class(), second)
    });
    begins.recv().unwrap();
    deadline.cancel();
    let (class, mut second) = waiting.join().unwrap();
    assert_eq!(class, ErrorClass::Cancelled);
    drop(tx);
    assert_eq!(deliver(&mut second, &alert("e")), Ok(true));
}

fn cancelled_before_begin<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let deadline = no_deadline();
    deadline.cancel();
    let error = store.begin(&deadline).map(drop).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Cancelled);
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
}

fn cancelled_at_a_step<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    for step in 0..3 {
        let deadline = no_deadline();
        let mut tx = store.begin(&deadline).unwrap();
        let cancel_before = |this| {
            if this == step {
                deadline.cancel();
            }
        };
        cancel_before(0);
        let mut result = tx.try_mark("e").map(drop);
        if result.is_ok() {
            cancel_before(1);
            result = tx.save_alert(&alert("e"));
        }
        if result.is_ok() {
            cancel_before(2);
            result = tx.commit();
        }
        assert_eq!(result.unwrap_err().class(), ErrorClass::Cancelled);
        tx.rollback();
        assert_eq!(lab.stored(), Stored::pairs(&[]));
    }
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
}

fn deadline_passed<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let deadline = Deadline::new(Duration::ZERO, LONG);
    let mut tx = store.begin(&deadline).unwrap();
    assert_eq!(tx.try_mark("e"), Ok(true));
    tx.save_alert(&alert("e")).unwrap();
    deadline.start();
    assert_eq!(tx.commit().unwrap_err().class(), ErrorClass::Deadline);
    tx.rollback();
    assert_eq!(lab.stored(), Stored::pairs(&[]));
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
}

fn transaction_time<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let deadline = Deadline::new(LONG, Duration::ZERO);
    deadline.start();
    let mut tx = store.begin(&deadline).unwrap();
    assert_eq!(deadline.check(), Err(Expired::Transaction));
    assert_eq!(tx.try_mark("e").unwrap_err().class(), ErrorClass::Deadline);
    tx.rollback();
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
}

fn failed_begin_starts_nothing<L: Lab>(lab: &L) {
    let (mut first, mut second) = (lab.open(LONG), lab.open(Duration::ZERO));
    let _tx = first.begin(&no_deadline()).unwrap();
    let deadline = Deadline::new(LONG, Duration::ZERO);
    deadline.start();
    assert_eq!(second.begin(&deadline).map(drop).unwrap_err().class(), ErrorClass::Busy);
    assert_eq!(deadline.check(), Ok(()));
}

fn cancelled_after_commit<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let deadline = no_deadline();
    let mut tx = store.begin(&deadline).unwrap();
    assert_eq!(tx.try_mark("e"), Ok(true));
    tx.save_alert(&alert("e")).unwrap();
    tx.commit().unwrap();
    deadline.cancel();
    drop(tx);
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e")]));
    assert_eq!(deliver(&mut store, &alert("e")), Ok(false));
}
