//! What SQLite's failures become: their class, their code, and what is stored afterwards.

use std::time::Duration;

use process_once::deadline::Deadline;
use process_once::store::{ErrorClass, Store, StoreError, Tx};
use tests::stores::{LONG, Lab, SqliteLab, Stored, alert, chain, deliver, no_deadline};

/// A call of a delivery.
#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    TryMark,
    SaveAlert,
    Commit,
}

/// Delivers `e` and gives the call that failed, with its error. Nothing is left to the transaction
/// then but to be rolled back, which it is.
fn failure<S: Store>(store: &mut S, deadline: &Deadline) -> (At, StoreError) {
    let mut tx = store.begin(deadline).unwrap();
    let failed = match tx.try_mark("e") {
        Err(error) => (At::TryMark, error),
        Ok(new) => {
            assert!(new);
            match tx.save_alert(&alert("e")) {
                Err(error) => (At::SaveAlert, error),
                Ok(()) => (At::Commit, tx.commit().unwrap_err()),
            }
        }
    };
    for later in [tx.try_mark("e").map(drop), tx.save_alert(&alert("e")), tx.commit()] {
        assert_eq!(later.unwrap_err().class(), ErrorClass::Misuse);
    }
    tx.rollback();
    failed
}

/// On a database altered by `sql`, the delivery of `e` fails at that call with that class, code
/// and message; nothing of it is stored, and once `repair` is run it is applied.
fn check(sql: &str, at: At, class: ErrorClass, code: i32, message: &str, repair: &str) {
    let lab = SqliteLab::altered(sql);
    let mut store = lab.open(LONG);
    let (call, error) = failure(&mut store, &no_deadline());
    assert_eq!((call, error.class(), error.code()), (at, class, Some(code)), "{error}");
    assert_eq!(error.to_string(), message);
    assert!(chain(&error).contains(&format!("Error code {code}: ")), "{}", chain(&error));
    assert_eq!(lab.stored(), Stored::pairs(&[]));
    lab.sql(repair);
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true), "the store goes on");
}

#[test]
fn a_constraint_of_a_trigger_is_an_error_with_the_triggers_words() {
    check(
        "CREATE TRIGGER no BEFORE INSERT ON processed_reading_events
         BEGIN SELECT RAISE(ABORT, 'not today'); END",
        At::TryMark,
        ErrorClass::Constraint,
        1811,
        "try-mark: not today",
        "DROP TRIGGER no",
    );
    check(
        "CREATE TRIGGER no BEFORE INSERT ON alerts BEGIN SELECT RAISE(ABORT, 'not today'); END",
        At::SaveAlert,
        ErrorClass::Constraint,
        1811,
        "save-alert: not today",
        "DROP TRIGGER no",
    );
}

/// RAISE(ROLLBACK) ends the transaction under the store's feet: its rollback finds none.
#[test]
fn a_trigger_that_rolls_back_is_an_error_and_the_store_goes_on() {
    check(
        "CREATE TRIGGER no BEFORE INSERT ON alerts BEGIN SELECT RAISE(ROLLBACK, 'gone'); END",
        At::SaveAlert,
        ErrorClass::Constraint,
        1811,
        "save-alert: gone",
        "DROP TRIGGER no",
    );
}

/// With `INSERT OR IGNORE` the event would count as applied although nothing was stored.
#[test]
fn a_check_violation_is_an_error_and_never_already_applied() {
    let lab = SqliteLab::prepared(
        "CREATE TABLE processed_reading_events (event_id TEXT PRIMARY KEY CHECK (event_id <> 'e'))",
    );
    let mut store = lab.open(LONG);
    let (call, error) = failure(&mut store, &no_deadline());
    assert_eq!(call, At::TryMark);
    assert_eq!((error.class(), error.code()), (ErrorClass::Constraint, Some(275)));
    assert_eq!(deliver(&mut store, &alert("f")), Ok(true));
    assert_eq!(lab.stored(), Stored::pairs(&[alert("f")]));
}

/// A row that a trigger swallows affects as many rows as a redelivery: none.
#[test]
fn a_swallowed_marker_is_an_error_and_never_already_applied() {
    let lab = SqliteLab::altered(
        "CREATE TRIGGER hush BEFORE INSERT ON processed_reading_events
         BEGIN SELECT RAISE(IGNORE); END",
    );
    let mut store = lab.open(LONG);
    let (call, error) = failure(&mut store, &no_deadline());
    assert_eq!((call, error.class()), (At::TryMark, ErrorClass::Constraint));
    assert_eq!(lab.stored(), Stored::pairs(&[]));
}

#[test]
fn a_swallowed_alert_is_an_error_and_its_marker_is_not_stored() {
    let lab = SqliteLab::altered(
        "CREATE TRIGGER hush BEFORE INSERT ON alerts BEGIN SELECT RAISE(IGNORE); END",
    );
    let mut store = lab.open(LONG);
    let (call, error) = failure(&mut store, &no_deadline());
    assert_eq!((call, error.class()), (At::SaveAlert, ErrorClass::Constraint));
    assert_eq!(lab.stored(), Stored::pairs(&[]));
}

#[test]
fn foreign_keys_are_enforced() {
    check(
        "CREATE TRIGGER steal AFTER INSERT ON processed_reading_events
         BEGIN DELETE FROM processed_reading_events WHERE event_id = NEW.event_id; END",
        At::SaveAlert,
        ErrorClass::Constraint,
        787,
        "save-alert: FOREIGN KEY constraint failed",
        "DROP TRIGGER steal",
    );
}

/// Only the marker's own key says "already applied".
#[test]
fn a_conflict_with_an_index_added_later_is_an_error_and_never_already_applied() {
    let lab = SqliteLab::new();
    let mut store = lab.open(LONG);
    lab.sql("CREATE UNIQUE INDEX folded ON processed_reading_events (lower(event_id))");
    assert_eq!(deliver(&mut store, &alert("E")), Ok(true));
    let (call, error) = failure(&mut store, &no_deadline());
    assert_eq!(call, At::TryMark);
    assert_eq!((error.class(), error.code()), (ErrorClass::Constraint, Some(2067)));
    assert_eq!(lab.stored(), Stored::pairs(&[alert("E")]));
}

#[test]
fn an_alert_that_is_there_before_its_turn_is_an_error() {
    check(
        "CREATE TRIGGER early AFTER INSERT ON processed_reading_events
         BEGIN INSERT INTO alerts VALUES (NEW.event_id, 'd', 'm'); END",
        At::SaveAlert,
        ErrorClass::Constraint,
        1555,
        "save-alert: UNIQUE constraint failed: alerts.source_event_id",
        "DROP TRIGGER early",
    );
}

/// SQLite keeps the transaction open when a deferred constraint fails its COMMIT: so it is known
/// that nothing was applied, and it is the rollback that ends it.
#[test]
fn a_commit_that_leaves_the_transaction_open_is_known_not_to_be_applied() {
    check(
        "CREATE TABLE devices (id TEXT PRIMARY KEY);
         CREATE TABLE seen (id TEXT REFERENCES devices(id) DEFERRABLE INITIALLY DEFERRED);
         CREATE TRIGGER see AFTER INSERT ON alerts
         BEGIN INSERT INTO seen VALUES (NEW.device_id); END",
        At::Commit,
        ErrorClass::Constraint,
        787,
        "commit: FOREIGN KEY constraint failed",
        "DROP TRIGGER see",
    );
}

/// A statement of the database's owner that runs for seconds must not hold a delivery for as long.
#[test]
fn a_statement_is_interrupted_when_the_transactions_time_is_over() {
    let lab = SqliteLab::altered(
        "CREATE TABLE counted (n);
         CREATE TRIGGER count AFTER INSERT ON processed_reading_events BEGIN
           INSERT INTO counted SELECT count(*) FROM generate AS a, generate AS b, generate AS c;
         END;
         CREATE TABLE generate (value);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500)
         INSERT INTO generate SELECT i FROM n;",
    );
    let mut store = lab.open(LONG);
    let deadline = Deadline::new(LONG, Duration::from_millis(50));
    let (call, error) = failure(&mut store, &deadline);
    assert_eq!(call, At::TryMark);
    assert_eq!((error.class(), error.code()), (ErrorClass::Deadline, Some(9)));
    assert_eq!(error.to_string(), "try-mark: the transaction's deadline has passed: interrupted");
    lab.sql("DROP TRIGGER count");
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
}

#[test]
fn a_busy_error_carries_the_code_and_an_expired_wait_carries_the_busy_error() {
    let lab = SqliteLab::new();
    let (mut first, mut patient) = (lab.open(LONG), lab.open(LONG));
    let mut impatient = lab.open(Duration::ZERO);
    let _tx = first.begin(&no_deadline()).unwrap();
    let busy = impatient.begin(&no_deadline()).unwrap_err();
    assert_eq!((busy.class(), busy.code()), (ErrorClass::Busy, Some(5)));
    assert_eq!(busy.to_string(), "begin: database is locked");

    let deadline = Deadline::new(Duration::from_millis(20), LONG);
    deadline.start();
    let error = patient.begin(&deadline).unwrap_err();
    assert_eq!((error.class(), error.code()), (ErrorClass::Deadline, Some(5)));
    assert_eq!(
        chain(&error),
        "the delivery's deadline has passed while waiting for another writer\n\
         begin: database is locked\n\
         Error code 5: database is locked"
    );
}

#[test]
fn looking_up_a_marker_needs_no_lock_but_the_stores_own_connection() {
    let lab = SqliteLab::new();
    let (mut first, mut second) = (lab.open(LONG), lab.open(Duration::ZERO));
    let mut tx = first.begin(&no_deadline()).unwrap();
    assert_eq!(tx.try_mark("e"), Ok(true));
    assert_eq!(second.is_marked("e"), Ok(false), "what is staged is not stored");
    assert_eq!(first.is_marked("e").unwrap_err().class(), ErrorClass::Misuse);
    tx.save_alert(&alert("e")).unwrap();
    tx.commit().unwrap();
    assert_eq!(second.is_marked("e"), Ok(true));
    assert_eq!(first.is_marked("e"), Ok(true));
}
