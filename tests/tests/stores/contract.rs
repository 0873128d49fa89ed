//! What each call does, and in which order calls are allowed.

use process_once::event::Alert;
use process_once::store::{ErrorClass, Store, StoreError, Tx};
use tests::stores::{LONG, Lab, Stored, alert, deliver, no_deadline};

use super::Clause;

pub(crate) fn clauses<L: Lab>() -> Vec<Clause<L>> {
    vec![
        ("a new event is marked, saved and committed", new_event),
        ("a redelivery is told so and stores nothing", redelivery),
        ("nothing is stored before the commit", staged_is_not_stored),
        ("a rollback at any step leaves nothing and frees the store", rollback_leaves_nothing),
        ("a dropped transaction is undone at any step", drop_undoes),
        ("a rollback after a commit changes nothing", rollback_after_commit),
        ("a call out of order is misuse and does nothing", out_of_order),
        ("after the end every call but rollback is misuse", after_the_end),
        ("a begin while a transaction is open is misuse and leaves it alone", second_begin),
        ("an alert of another event than the marked one is misuse", alert_of_another_event),
        ("a transaction outlives its store", transaction_outlives_store),
        ("a transaction may move to another thread", transaction_moves),
        ("two handles agree on what is stored", two_handles_agree),
        ("events are independent of each other", many_events),
    ]
}

fn new_event<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let mut tx = store.begin(&no_deadline()).unwrap();
    assert_eq!(tx.try_mark("e"), Ok(true));
    assert_eq!(tx.save_alert(&alert("e")), Ok(()));
    assert_eq!(tx.commit(), Ok(()));
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e")]));
}

fn redelivery<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
    let again = Alert::new("e", "device of e", "another text");
    for _ in 0..2 {
        assert_eq!(deliver(&mut store, &again), Ok(false));
    }
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e")]));
}

fn staged_is_not_stored<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let mut tx = store.begin(&no_deadline()).unwrap();
    for step in &STEPS {
        assert_eq!(lab.stored(), Stored::pairs(&[]));
        step(&mut tx).unwrap();
    }
    assert_eq!(lab.stored(), Stored::pairs(&[]));
    tx.commit().unwrap();
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e")]));
}

/// What is done inside a transaction before its commit.
const STEPS: [Step; 2] = [|tx| tx.mark("e").map(drop), |tx| tx.save("e")];

type Step = fn(&mut dyn Calls) -> Result<(), StoreError>;

/// A transaction of any store.
trait Calls {
    fn mark(&mut self, event_id: &str) -> Result<bool, StoreError>;
    fn save(&mut self, event_id: &str) -> Result<(), StoreError>;
}

impl<T: Tx> Calls for T {
    fn mark(&mut self, event_id: &str) -> Result<bool, StoreError> {
        self.try_mark(event_id)
    }

    fn save(&mut self, event_id: &str) -> Result<(), StoreError> {
        self.save_alert(&alert(event_id))
    }
}

fn rollback_leaves_nothing<L: Lab>(lab: &L) {
    let (mut store, mut other) = (lab.open(LONG), lab.open(LONG));
    let mut stored = Vec::new();
    for steps in 0..=STEPS.len() {
        let mut tx = store.begin(&no_deadline()).unwrap();
        STEPS[..steps].iter().for_each(|step| step(&mut tx).unwrap());
        tx.rollback();
        assert_eq!(lab.stored(), Stored::pairs(&stored));
        // Another handle finds the store free although `tx` still exists.
        stored.push(alert(&steps.to_string()));
        assert_eq!(deliver(&mut other, &stored[steps]), Ok(true));
        drop(tx);
    }
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
}

fn drop_undoes<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    for steps in 0..=STEPS.len() {
        let mut tx = store.begin(&no_deadline()).unwrap();
        STEPS[..steps].iter().for_each(|step| step(&mut tx).unwrap());
        drop(tx);
        assert_eq!(lab.stored(), Stored::pairs(&[]));
    }
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
}

fn rollback_after_commit<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let mut first = store.begin(&no_deadline()).unwrap();
    STEPS.iter().for_each(|step| step(&mut first).unwrap());
    first.commit().unwrap();
    // The next transaction of the handle is not the first one's to undo.
    let mut second = store.begin(&no_deadline()).unwrap();
    assert_eq!(second.try_mark("f"), Ok(true));
    first.rollback();
    first.rollback();
    drop(first);
    second.save_alert(&alert("f")).unwrap();
    second.commit().unwrap();
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e"), alert("f")]));
}

fn misuse<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    assert_eq!(result.unwrap_err().class(), ErrorClass::Misuse);
}

fn out_of_order<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    assert_eq!(deliver(&mut store, &alert("old")), Ok(true));

    let mut tx = store.begin(&no_deadline()).unwrap();
    misuse(tx.save_alert(&alert("e")));
    misuse(tx.commit());
    assert_eq!(tx.try_mark("old"), Ok(false));
    misuse(tx.try_mark("old"));
    misuse(tx.try_mark("e"));
    misuse(tx.save_alert(&alert("old")));
    misuse(tx.save_alert(&alert("e")));
    misuse(tx.commit());
    tx.rollback();
    assert_eq!(lab.stored(), Stored::pairs(&[alert("old")]));

    // Nothing of the misuse is left behind: the right calls between them still do their work.
    let mut tx = store.begin(&no_deadline()).unwrap();
    misuse(tx.save_alert(&alert("e")));
    misuse(tx.commit());
    assert_eq!(tx.try_mark("e"), Ok(true));
    misuse(tx.try_mark("e"));
    misuse(tx.try_mark("f"));
    misuse(tx.commit());
    assert_eq!(tx.save_alert(&alert("e")), Ok(()));
    misuse(tx.save_alert(&alert("e")));
    misuse(tx.save_alert(&alert("f")));
    misuse(tx.try_mark("f"));
    assert_eq!(tx.commit(), Ok(()));
    assert_eq!(lab.stored(), Stored::pairs(&[alert("old"), alert("e")]));
}

fn after_the_end<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let mut committed = store.begin(&no_deadline()).unwrap();
    STEPS.iter().for_each(|step| step(&mut committed).unwrap());
    committed.commit().unwrap();
    let mut undone = store.begin(&no_deadline()).unwrap();
    undone.rollback();
    for tx in [&mut committed, &mut undone] {
        misuse(tx.try_mark("f"));
        misuse(tx.save_alert(&alert("f")));
        misuse(tx.commit());
        tx.rollback();
        misuse(tx.try_mark("f"));
    }
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e")]));
}

fn second_begin<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let mut tx = store.begin(&no_deadline()).unwrap();
    misuse(store.begin(&no_deadline()).map(drop));
    assert_eq!(tx.try_mark("e"), Ok(true));
    misuse(store.begin(&no_deadline()).map(drop));
    tx.save_alert(&alert("e")).unwrap();
    tx.commit().unwrap();
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e")]));
    assert_eq!(deliver(&mut store, &alert("f")), Ok(true));
}

/// An alert without its own marker cannot be stored, not even under the marker of another event.
fn alert_of_another_event<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    assert_eq!(deliver(&mut store, &alert("old")), Ok(true));
    let mut tx = store.begin(&no_deadline()).unwrap();
    assert_eq!(tx.try_mark("e"), Ok(true));
    misuse(tx.save_alert(&alert("never marked")));
    misuse(tx.save_alert(&alert("old")));
    misuse(tx.commit());
    tx.rollback();
    assert_eq!(lab.stored(), Stored::pairs(&[alert("old")]));
}

fn transaction_outlives_store<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let mut tx = store.begin(&no_deadline()).unwrap();
    drop(store);
    STEPS.iter().for_each(|step| step(&mut tx).unwrap());
    tx.commit().unwrap();
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e")]));
}

fn transaction_moves<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let mut tx = store.begin(&no_deadline()).unwrap();
    assert_eq!(tx.try_mark("e"), Ok(true));
    let ended = std::thread::spawn(move || {
        tx.save_alert(&alert("e")).unwrap();
        tx.commit()
    });
    assert_eq!(ended.join().unwrap(), Ok(()));
    assert_eq!(deliver(&mut store, &alert("e")), Ok(false));
}

fn two_handles_agree<L: Lab>(lab: &L) {
    let (mut one, mut other) = (lab.open(LONG), lab.open(LONG));
    assert_eq!(deliver(&mut one, &alert("e")), Ok(true));
    assert_eq!(deliver(&mut other, &alert("e")), Ok(false));
    assert_eq!(deliver(&mut other, &alert("f")), Ok(true));
    assert_eq!(deliver(&mut one, &alert("f")), Ok(false));
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e"), alert("f")]));
}

fn many_events<L: Lab>(lab: &L) {
    let mut store = lab.open(LONG);
    let alerts: Vec<_> = (0..50).map(|n| alert(&format!("e{n}"))).collect();
    for alert in &alerts {
        assert_eq!(deliver(&mut store, alert), Ok(true));
    }
    for alert in alerts.iter().rev() {
        assert_eq!(deliver(&mut store, alert), Ok(false));
    }
    assert_eq!(lab.stored(), Stored::pairs(&alerts));
}
