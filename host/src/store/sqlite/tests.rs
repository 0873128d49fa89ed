#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization, TransactionOperation};

use super::*;
use crate::event::Alert;
use crate::store::Tx;

const MARKERS: &str = "CREATE TABLE processed_reading_events (event_id TEXT PRIMARY KEY);";

/// What is said of a database with these tables; nothing, if they are accepted.
fn check(ddl: &str, expected: &str) {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(ddl).unwrap();
    let found = match schema::verify(&connection) {
        Ok(_) => String::new(),
        Err(OpenProblem::Schema(difference)) => difference.to_string(),
        Err(problem) => panic!("{problem}"),
    };
    assert_eq!(found, expected, "{ddl}");
}

/// As [`check`], for the table of markers.
fn check_markers(definition: &str, expected: &str) {
    let expected = format!("table \"processed_reading_events\"{expected}");
    check(&format!("CREATE TABLE processed_reading_events {definition}"), &expected);
}

/// As [`check`], for the table of alerts beside a right table of markers.
fn check_alerts(definition: &str, expected: &str) {
    let expected = format!("table \"alerts\"{expected}");
    check(&format!("{MARKERS} CREATE TABLE alerts {definition}"), &expected);
}

#[test]
fn what_differs_in_nothing_that_matters_is_accepted() {
    check("", "");
    check(MARKERS, "");
    check(
        "CREATE TABLE Processed_Reading_Events (Event_Id text NOT NULL, PRIMARY KEY (event_id))",
        "",
    );
    for alerts in [
        "(source_event_id text PRIMARY KEY REFERENCES processed_reading_events(event_id),
          device_id text NOT NULL, message text NOT NULL)",
        "(message Text NOT NULL DEFAULT '', device_id TEXT NOT NULL COLLATE NOCASE,
          source_event_id TEXT NOT NULL PRIMARY KEY REFERENCES processed_reading_events)
          STRICT, WITHOUT ROWID",
        "(source_event_id TEXT PRIMARY KEY
            REFERENCES processed_reading_events(event_id) DEFERRABLE INITIALLY DEFERRED,
          device_id TEXT NOT NULL CHECK (device_id <> ''), message TEXT NOT NULL);
         CREATE INDEX by_device ON alerts (device_id)",
    ] {
        check(&format!("{MARKERS} CREATE TABLE alerts {alerts}"), "");
    }
}

#[test]
fn another_table_of_markers_is_refused_with_the_difference() {
    let column = ", column \"event_id\": expected TEXT PRIMARY KEY, found";
    check_markers("(id TEXT PRIMARY KEY)", &format!("{column} no such column"));
    check_markers("(event_id INTEGER PRIMARY KEY)", &format!("{column} INTEGER PRIMARY KEY"));
    check_markers("(event_id PRIMARY KEY)", &format!("{column} no type PRIMARY KEY"));
    check_markers("(event_id VARCHAR(9) PRIMARY KEY)", &format!("{column} VARCHAR(9) PRIMARY KEY"));
    check_markers("(event_id TEXT NOT NULL UNIQUE)", &format!("{column} TEXT NOT NULL"));
    check_markers(
        "(event_id TEXT PRIMARY KEY, at INTEGER NOT NULL)",
        ", column \"at\": expected no such column, found INTEGER NOT NULL",
    );
    check_markers(
        "(event_id TEXT, tenant TEXT, PRIMARY KEY (event_id, tenant))",
        ", column \"tenant\": expected no such column, found TEXT PRIMARY KEY",
    );
    check_markers(
        "(event_id TEXT PRIMARY KEY, upper TEXT AS (upper(event_id)))",
        ", column \"upper\": expected no such column, found TEXT GENERATED",
    );
    for suffix in ["", " WITHOUT ROWID"] {
        check_markers(
            &format!("(event_id TEXT COLLATE NOCASE PRIMARY KEY){suffix}"),
            ": expected key compared byte for byte (BINARY), found key compared NOCASE",
        );
    }
    check_markers(
        "(event_id TEXT PRIMARY KEY REFERENCES events(id))",
        ": expected foreign key none, found foreign key event_id REFERENCES events(id)",
    );
    check_markers(
        "(event_id TEXT PRIMARY KEY); CREATE UNIQUE INDEX folded
           ON processed_reading_events (lower(event_id))",
        ": expected further unique index none, found further unique index folded",
    );
}

#[test]
fn what_is_no_table_is_refused() {
    check(
        "CREATE VIEW processed_reading_events AS SELECT 'e' AS event_id",
        "table \"processed_reading_events\": expected a table, found a view",
    );
    check(
        &format!("{MARKERS} CREATE VIRTUAL TABLE alerts USING fts5(message)"),
        "table \"alerts\": expected a table, found a virtual",
    );
}

#[test]
fn another_table_of_alerts_is_refused_with_the_difference() {
    let reference = "REFERENCES processed_reading_events(event_id)";
    let wanted = format!(": expected foreign key source_event_id {reference}, found foreign key");
    let texts = "device_id TEXT NOT NULL, message TEXT NOT NULL";
    check_alerts(
        &format!("(source_event_id TEXT PRIMARY KEY, {texts})"),
        &format!("{wanted} none"),
    );
    for (other, found) in [
        ("REFERENCES events(event_id)", "REFERENCES events(event_id)".to_owned()),
        (
            "REFERENCES processed_reading_events(id)",
            "REFERENCES processed_reading_events(id)".to_owned(),
        ),
        (&format!("{reference} ON DELETE CASCADE"), format!("{reference} ON DELETE CASCADE")),
        (&format!("{reference} ON UPDATE SET NULL"), format!("{reference} ON UPDATE SET NULL")),
    ] {
        check_alerts(
            &format!("(source_event_id TEXT PRIMARY KEY {other}, {texts})"),
            &format!("{wanted} source_event_id {found}"),
        );
    }
    check_alerts(
        &format!(
            "(source_event_id TEXT PRIMARY KEY {reference},
              device_id TEXT NOT NULL REFERENCES devices(id), message TEXT NOT NULL)"
        ),
        &format!("{wanted} device_id REFERENCES devices(id), source_event_id {reference}"),
    );
    let key = format!("source_event_id TEXT PRIMARY KEY {reference}");
    for (columns, difference) in [
        (
            format!("source_event_id TEXT {reference}, {texts}"),
            "\"source_event_id\": expected TEXT PRIMARY KEY, found TEXT",
        ),
        (
            format!("{key}, device_id TEXT, message TEXT NOT NULL"),
            "\"device_id\": expected TEXT NOT NULL, found TEXT",
        ),
        (
            format!("{key}, device_id TEXT NOT NULL, message BLOB NOT NULL"),
            "\"message\": expected TEXT NOT NULL, found BLOB NOT NULL",
        ),
        (
            format!("{key}, device_id TEXT NOT NULL"),
            "\"message\": expected TEXT NOT NULL, found no such column",
        ),
        (format!("{key}, {texts}, level TEXT"), "\"level\": expected no such column, found TEXT"),
    ] {
        check_alerts(&format!("({columns})"), &format!(", column {difference}"));
    }
    check_alerts(
        &format!("({key}, device_id TEXT NOT NULL UNIQUE, message TEXT NOT NULL)"),
        ": expected further unique index none, found further unique index sqlite_autoindex_alerts_2",
    );
}

#[test]
fn another_table_in_the_place_of_the_identity_is_refused() {
    check(
        "CREATE TABLE process_once_identity (id INTEGER PRIMARY KEY)",
        "table \"process_once_identity\", column \"database_id\": expected TEXT PRIMARY KEY, \
         found no such column",
    );
}

#[test]
fn a_database_that_cannot_log_ahead_is_refused_with_the_reason() {
    let problem = connect::use_wal(&Connection::open_in_memory().unwrap()).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "stays in journal mode \"memory\": without write-ahead logging its readers and the store \
         block each other; put the file on a local disk"
    );
}

#[test]
fn a_connection_is_set_up_to_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (synchronous, level) in [(Synchronous::Full, 2), (Synchronous::Off, 0)] {
        let path = folder.path().join("alerts.db");
        let connection = connect::connect(&path, synchronous, true).unwrap().connection;
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        assert_eq!(pragma("synchronous"), Ok(level));
        assert_eq!(pragma("foreign_keys"), Ok(1));
        assert_eq!(pragma("busy_timeout"), Ok(0));
    }
}

fn long_deadline() -> Deadline {
    Deadline::new(Duration::from_secs(3_600), Duration::from_secs(3_600))
}

/// A store whose connection refuses to roll back.
fn store_that_cannot_undo(path: &Path) -> Sqlite {
    let store = Sqlite::open(path, SqliteOptions::default()).unwrap();
    let Place::Here(mut connection) = put(&store.place, Place::Lent) else { panic!("lent") };
    let rollback = AuthAction::Transaction { operation: TransactionOperation::Rollback };
    let refuse = move |context: AuthContext<'_>| {
        if context.action == rollback { Authorization::Deny } else { Authorization::Allow }
    };
    connection.authorizer(Some(refuse)).unwrap();
    put(&store.place, Place::Here(connection));
    store
}

#[test]
fn a_connection_that_cannot_undo_is_given_up_and_another_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("alerts.db");
    let mut store = store_that_cannot_undo(&path);
    let mut tx = store.begin(&long_deadline()).unwrap();
    assert_eq!(tx.try_mark("e"), Ok(true));
    tx.rollback();
    assert!(matches!(*store.place.lock().unwrap(), Place::GivenUp));
    assert_eq!(store.is_marked("e"), Ok(false));
    let mut tx = store.begin(&long_deadline()).unwrap();
    assert_eq!(tx.try_mark("e"), Ok(true));
}

#[test]
fn a_begin_that_found_the_database_busy_keeps_its_connection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("alerts.db");
    let impatient = SqliteOptions { busy_timeout: Duration::ZERO, ..SqliteOptions::default() };
    let mut first = Sqlite::open(&path, impatient).unwrap();
    let mut second = Sqlite::open(&path, impatient).unwrap();
    let _tx = first.begin(&long_deadline()).unwrap();
    assert_eq!(second.begin(&long_deadline()).unwrap_err().class(), ErrorClass::Busy);
    assert!(matches!(*second.place.lock().unwrap(), Place::Here(_)));
}

#[test]
fn a_database_in_the_place_of_the_lost_one_is_not_taken_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("alerts.db");
    let mut store = store_that_cannot_undo(&path);
    let tx = store.begin(&long_deadline()).unwrap();
    std::fs::remove_file(&path).unwrap();
    drop(tx);

    let error = store.begin(&long_deadline()).unwrap_err();
    assert_eq!(error.to_string(), "the database could not be opened again");
    assert!(!path.exists(), "no empty database is made in its place");

    drop(Sqlite::open(&path, SqliteOptions::default()).unwrap());
    let error = store.begin(&long_deadline()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::ConnectionLost);
    assert_eq!(error.to_string(), format!("another database lies at {path:?} now"));
}

/// SQLite ends the transaction by itself here, so the rollback must find nothing to do.
#[test]
fn a_full_database_is_an_error_and_the_store_goes_on_once_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let mut store =
        Sqlite::open(folder.path().join("alerts.db"), SqliteOptions::default()).unwrap();
    let limit = |store: &Sqlite, pages: i64| {
        let place = store.place.lock().unwrap();
        let Place::Here(connection) = &*place else { panic!("lent") };
        connection.pragma_update(None, "max_page_count", pages).unwrap();
    };
    let alert = Alert::new("e", "", &"m".repeat(60_000));
    limit(&store, 1);
    let mut tx = store.begin(&long_deadline()).unwrap();
    assert_eq!(tx.try_mark("e"), Ok(true));
    let error = tx.save_alert(&alert).unwrap_err();
    assert_eq!((error.class(), error.code()), (ErrorClass::Full, Some(13)));
    assert_eq!(error.to_string(), "save-alert: database or disk is full");
    tx.rollback();
    assert_eq!(store.is_marked("e"), Ok(false));

    limit(&store, 1_000);
    let mut tx = store.begin(&long_deadline()).unwrap();
    assert_eq!(tx.try_mark("e"), Ok(true));
    tx.save_alert(&alert).unwrap();
    tx.commit().unwrap();
    assert_eq!(store.is_marked("e"), Ok(true));
}
