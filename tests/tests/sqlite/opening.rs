//! Opening a database: what is made, what is accepted, what is refused, and in which words.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use process_once::store::{ErrorClass, OpenProblem, Sqlite, SqliteOptions, Synchronous};
use tests::stores::{LONG, Lab, SqliteLab, Stored, alert, chain, deliver};

/// The tables of the contract in their plain form, as any other host may have made them.
const PLAIN: &str = "
    CREATE TABLE processed_reading_events (event_id text PRIMARY KEY);
    CREATE TABLE alerts (
      source_event_id text PRIMARY KEY REFERENCES processed_reading_events(event_id),
      device_id text NOT NULL,
      message   text NOT NULL);";

/// Opening fails, and this is what the user reads, the path shown as `DB`.
fn check(path: &Path, expected: &str) {
    let options = SqliteOptions { busy_timeout: Duration::ZERO, ..SqliteOptions::default() };
    let error = Sqlite::open(path, options).unwrap_err();
    assert_eq!(error.path(), path);
    assert_eq!(chain(&error).replace(&format!("{path:?}"), "DB"), expected);
}

#[test]
fn a_path_that_is_no_file_is_refused() {
    let no_file =
        " is no file; give the path of one, since what is not kept cannot prevent a second run";
    check(Path::new(""), &format!("database DB{no_file}"));
    check(Path::new(":memory:"), &format!("database DB{no_file}"));
}

#[test]
fn a_folder_is_refused() {
    let lab = SqliteLab::new();
    check(lab.folder(), "database DB is a folder; give the path of a file");
}

#[test]
fn a_device_is_refused() {
    check(Path::new("/dev/null"), "database DB is not a regular file; give the path of one");
}

#[test]
fn a_missing_folder_is_named() {
    let lab = SqliteLab::new();
    let folder = lab.folder().join("missing");
    check(
        &folder.join("alerts.db"),
        &format!(
            "database DB has no folder to lie in; create {folder:?} first, or give another path"
        ),
    );
    assert!(!folder.exists());
}

/// SQLite takes a file of one byte for an empty one and would have written over it.
#[test]
fn a_file_of_another_kind_is_refused_and_left_as_it_is() {
    for content in ["x", "xy", "{\"source_event_id\":\"e\"}\n", &"no database\n".repeat(500)] {
        let lab = SqliteLab::new();
        fs::write(lab.path(), content).unwrap();
        let error = Sqlite::open(lab.path(), SqliteOptions::default()).unwrap_err();
        assert!(matches!(error.problem(), OpenProblem::NotADatabase(_)), "{error}");
        assert_eq!(fs::read_to_string(lab.path()).unwrap(), content);
        assert_eq!(fs::read_dir(lab.folder()).unwrap().count(), 1, "nothing was put beside it");
    }
}

#[test]
fn the_words_for_a_file_of_another_kind() {
    let lab = SqliteLab::new();
    fs::write(lab.path(), "a shopping list").unwrap();
    check(
        &lab.path(),
        "database DB is not a SQLite database; give another path (the file was left as it is)\n\
         file is not a database\n\
         Error code 26: file is not a database",
    );
}

#[test]
fn an_empty_file_becomes_a_database() {
    let lab = SqliteLab::new();
    fs::write(lab.path(), "").unwrap();
    assert_eq!(deliver(&mut lab.open(LONG), &alert("e")), Ok(true));
}

/// `INSERT … ON CONFLICT` would not notice: the ids `a` and `A` would be one event.
#[test]
fn a_foreign_schema_is_refused_with_the_difference_and_left_as_it_is() {
    let lab = SqliteLab::prepared(
        "CREATE TABLE processed_reading_events (event_id text PRIMARY KEY COLLATE NOCASE);",
    );
    let before = fs::read(lab.path()).unwrap();
    check(
        &lab.path(),
        "database DB holds a table of another shape: table \"processed_reading_events\": \
         expected key compared byte for byte (BINARY), found key compared NOCASE; \
         use another file, or rename that table",
    );
    assert_eq!(fs::read(lab.path()).unwrap(), before);
    assert_eq!(fs::read_dir(lab.folder()).unwrap().count(), 1);
}

/// SQLite turns U+FFFE and U+FFFF into U+FFFD on the way to UTF-16: two ids would become one.
#[test]
fn a_database_in_utf_16_is_refused() {
    let lab = SqliteLab::prepared("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (x);");
    check(
        &lab.path(),
        "database DB keeps text as UTF-16le, which alters some texts; use another file, or \
         convert it to UTF-8",
    );
}

#[test]
fn a_database_locked_by_another_connection_is_refused_after_the_busy_timeout() {
    for lock in ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"] {
        // In both journal modes, and with the tables there or not.
        for lab in [SqliteLab::prepared(PLAIN), SqliteLab::altered("")] {
            let other = lab.connection();
            other.execute_batch(lock).unwrap();
            for busy_timeout in [Duration::ZERO, Duration::from_millis(20)] {
                let options = SqliteOptions { busy_timeout, ..SqliteOptions::default() };
                let error = Sqlite::open(lab.path(), options).unwrap_err();
                assert!(matches!(error.problem(), OpenProblem::Locked(_)), "{error}");
                assert_eq!(error.problem().class(), ErrorClass::Busy);
                assert_eq!(error.problem().code(), Some(5));
            }
            other.execute_batch("ROLLBACK").unwrap();
            drop(lab.open(Duration::ZERO));
        }
    }
}

#[test]
fn the_words_for_a_locked_database() {
    let lab = SqliteLab::altered("");
    let other = lab.connection();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    check(
        &lab.path(),
        "database DB is locked by another process for longer than the busy timeout; end that \
         process, or wait\n\
         database is locked\n\
         Error code 5: database is locked",
    );
}

#[test]
fn opening_waits_for_a_lock_that_is_let_go_in_time() {
    let lab = SqliteLab::altered("");
    let other = lab.connection();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (about_to_open, opens) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let opened = scope.spawn(|| {
            about_to_open.send(()).unwrap();
            let options = SqliteOptions { busy_timeout: LONG, ..SqliteOptions::default() };
            Sqlite::open(lab.path(), options).map(drop)
        });
        opens.recv().unwrap();
        other.execute_batch("ROLLBACK").unwrap();
        opened.join().unwrap().unwrap();
    });
}

#[test]
fn many_may_open_a_new_database_at_once() {
    let lab = SqliteLab::new();
    let ids: Vec<String> = std::thread::scope(|scope| {
        let open = || lab.open(LONG).database_id().to_owned();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[test]
fn the_plain_tables_are_accepted_and_used_as_they_are() {
    let lab = SqliteLab::prepared(PLAIN);
    let mut store = lab.open(LONG);
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
    assert_eq!(deliver(&mut store, &alert("e")), Ok(false));
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e")]));
}

#[test]
fn one_of_the_tables_may_be_there_already() {
    let markers = "CREATE TABLE processed_reading_events (event_id text PRIMARY KEY);
                   INSERT INTO processed_reading_events VALUES ('old');";
    let lab = SqliteLab::prepared(markers);
    let mut store = lab.open(LONG);
    assert_eq!(store.is_marked("old"), Ok(true));
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
}

#[test]
fn the_tables_join_those_of_an_application() {
    let lab = SqliteLab::prepared(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (7);
         CREATE VIEW recent AS SELECT id FROM orders;",
    );
    assert_eq!(deliver(&mut lab.open(LONG), &alert("e")), Ok(true));
    let order: i64 = lab.connection().query_row("SELECT id FROM recent", [], |r| r.get(0)).unwrap();
    assert_eq!(order, 7);
}

#[test]
fn a_new_database_is_strict_and_without_rowids_and_nowhere_null() {
    let lab = SqliteLab::altered("");
    let connection = lab.connection();
    let loose: i64 = connection
        .query_row(
            "SELECT count(*) FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c
             WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'
               AND (NOT t.strict OR NOT t.wr OR NOT c.\"notnull\" OR c.type <> 'TEXT')",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(loose, 0);
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |r| r.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[test]
fn a_database_keeps_its_identity_and_no_two_have_the_same() {
    let (one, other) = (SqliteLab::new(), SqliteLab::prepared(PLAIN));
    let id = one.open(LONG).database_id().to_owned();
    assert_eq!(id.len(), 32);
    assert_eq!(one.open(LONG).database_id(), id);
    assert_ne!(other.open(LONG).database_id(), id);
}

#[test]
fn a_store_tells_whether_an_event_is_marked() {
    let lab = SqliteLab::new();
    let mut store = lab.open(LONG);
    assert_eq!(store.is_marked("e"), Ok(false));
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
    assert_eq!(store.is_marked("e"), Ok(true));
    assert_eq!(store.is_marked("E"), Ok(false));
    let reopened = &mut lab.open(LONG);
    assert_eq!(reopened.is_marked("e"), Ok(true));
    assert_eq!(deliver(reopened, &alert("e")), Ok(false));
}

#[test]
fn a_relative_path_stays_the_same_file_and_a_link_is_followed() {
    let lab = SqliteLab::altered("");
    let link = lab.folder().join("link.db");
    symlink(lab.path(), &link).unwrap();
    let mut store = Sqlite::open(&link, SqliteOptions::default()).unwrap();
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
    assert_eq!(lab.stored(), Stored::pairs(&[alert("e")]));
}

/// SQLite would read such a name as a URI with settings in it, and open another file.
#[test]
fn a_name_that_looks_like_a_uri_is_a_plain_file_name() {
    let lab = SqliteLab::new();
    let path = lab.folder().join("file:alerts.db?mode=memory");
    drop(Sqlite::open(&path, SqliteOptions::default()).unwrap());
    assert!(path.is_file());
}

#[test]
fn a_store_that_does_not_wait_for_the_disk_keeps_the_contract() {
    let lab = SqliteLab::new();
    let options = SqliteOptions { synchronous: Synchronous::Off, ..SqliteOptions::default() };
    let mut store = Sqlite::open(lab.path(), options).unwrap();
    assert_eq!(deliver(&mut store, &alert("e")), Ok(true));
    assert_eq!(deliver(&mut store, &alert("e")), Ok(false));
}
