//! One attempt to open a database and to make it fit for a store.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, MAIN_DB, OpenFlags, TransactionBehavior};

use super::error::OpenProblem;
use super::{Synchronous, schema};

/// A connection that is set up, to a database whose schema is right.
#[derive(Debug)]
pub(super) struct Connected {
    pub(super) connection: Connection,
    pub(super) database_id: String,
}

/// Opens `path` once, without waiting for anyone; `create` allows a new file.
///
/// # Errors
/// Of class `Busy` where another connection is in the way: worth another attempt.
pub(super) fn connect(
    path: &Path,
    synchronous: Synchronous,
    create: bool,
) -> Result<Connected, OpenProblem> {
    check_path(path)?;
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
    let doing = "opening it";
    let mut connection =
        Connection::open_with_flags(path, flags).map_err(OpenProblem::during(doing))?;
    // SQLite's own waiting knows nothing of deadlines; the store waits by itself.
    connection.busy_timeout(Duration::ZERO).map_err(OpenProblem::during(doing))?;
    if connection.is_readonly(MAIN_DB).map_err(OpenProblem::during(doing))? {
        return Err(OpenProblem::ReadOnly(None));
    }
    // Before anything is written: a database that is refused stays as it is.
    check_encoding(&connection)?;
    schema::verify(&connection)?;
    set_up(&connection, synchronous)?;
    let database_id = prepare_schema(&mut connection)?;
    Ok(Connected { connection, database_id })
}

/// Finds what SQLite would let pass, or only call "unable to open database file".
fn check_path(path: &Path) -> Result<(), OpenProblem> {
    match path.metadata() {
        Ok(found) if found.is_dir() => Err(OpenProblem::Folder),
        Ok(found) if !found.is_file() => Err(OpenProblem::NotAFile),
        // SQLite takes one byte for an empty file, and would write over it.
        Ok(found) if found.len() == 1 => Err(OpenProblem::NotADatabase(None)),
        Ok(_) => Ok(()),
        Err(_) => match path.parent() {
            Some(parent) if parent.is_dir() => Ok(()),
            Some(parent) => Err(OpenProblem::NoFolder(parent.to_owned())),
            None => Ok(()),
        },
    }
}

fn check_encoding(connection: &Connection) -> Result<(), OpenProblem> {
    let encoding: String = connection
        .pragma_query_value(None, "encoding", |row| row.get(0))
        .map_err(OpenProblem::during("reading it"))?;
    if encoding == "UTF-8" { Ok(()) } else { Err(OpenProblem::Encoding(encoding)) }
}

fn set_up(connection: &Connection, synchronous: Synchronous) -> Result<(), OpenProblem> {
    use_wal(connection)?;
    let level = match synchronous {
        Synchronous::Full => 2,
        Synchronous::Off => 0,
    };
    set(connection, "synchronous", level)?;
    // Only Apple's systems know the difference: there a plain sync does not reach the disk.
    set(connection, "fullfsync", i64::from(synchronous == Synchronous::Full))?;
    set(connection, "foreign_keys", 1)
}

/// Switches to write-ahead logging, which the answer of the pragma confirms or not.
pub(super) fn use_wal(connection: &Connection) -> Result<(), OpenProblem> {
    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))
        .map_err(OpenProblem::during("switching to write-ahead logging"))?;
    if mode == "wal" { Ok(()) } else { Err(OpenProblem::NotWal(mode)) }
}

/// Sets a pragma and reads it back: SQLite passes over what it cannot do in silence.
fn set(connection: &Connection, pragma: &'static str, value: i64) -> Result<(), OpenProblem> {
    let doing = "setting it up";
    connection.pragma_update(None, pragma, value).map_err(OpenProblem::during(doing))?;
    let found: i64 = connection
        .pragma_query_value(None, pragma, |row| row.get(0))
        .map_err(OpenProblem::during(doing))?;
    if found == value { Ok(()) } else { Err(OpenProblem::Setting { pragma, value, found }) }
}

/// Creates what is absent, under the write lock: of two processes the second finds all there.
fn prepare_schema(connection: &mut Connection) -> Result<String, OpenProblem> {
    let doing = "creating its tables";
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(OpenProblem::during(doing))?;
    let absent = schema::verify(&transaction)?;
    schema::create(&transaction, &absent).map_err(OpenProblem::during(doing))?;
    let database_id = schema::identity(&transaction).map_err(OpenProblem::during(doing))?;
    transaction.commit().map_err(OpenProblem::during(doing))?;
    Ok(database_id)
}
