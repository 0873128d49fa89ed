//! One transaction of a SQLite store.

use rusqlite::{Connection, ffi};

use super::error::{store_error, with_class};
use super::{Place, SharedPlace, put, schema};
use crate::deadline::Deadline;
use crate::event::Alert;
use crate::store::stage::Stage;
use crate::store::{ErrorClass, StoreError, Tx};

/// How many steps of SQLite's virtual machine pass between two looks at the deadline: below a
/// millisecond, and more than the store's own statements ever take.
const STEPS_BETWEEN_CHECKS: i32 = 10_000;

/// Conflicts of the marker's key alone are passed over. `INSERT OR IGNORE` would pass over every
/// violation, and an event that was never stored would count as applied.
pub(super) const INSERT_MARKER: &str = "INSERT INTO processed_reading_events (event_id) VALUES (?1)
     ON CONFLICT (event_id) DO NOTHING";

pub(super) const INSERT_ALERT: &str =
    "INSERT INTO alerts (source_event_id, device_id, message) VALUES (?1, ?2, ?3)";

/// A transaction of [`Sqlite`](super::Sqlite). It holds the database's write lock until its end.
#[derive(Debug)]
pub struct SqliteTx {
    /// Lent by the store; given back at the end.
    connection: Option<Connection>,
    place: SharedPlace,
    deadline: Deadline,
    stage: Stage,
}

/// Begins a transaction with the write lock at once: no other writer can come between the look at
/// the marker and the commit.
pub(super) fn begin(connection: &Connection) -> Result<(), StoreError> {
    execute(connection, "BEGIN IMMEDIATE").map_err(|error| store_error("begin", error))
}

/// Makes the open transaction durable.
///
/// # Errors
/// With class [`ErrorClass::OutcomeUnknown`] it may have happened, with any other it has not.
pub(super) fn commit(connection: &Connection) -> Result<(), StoreError> {
    let Err(error) = execute(connection, "COMMIT") else { return Ok(()) };
    if connection.is_autocommit() {
        // The transaction is over, and the code does not say how.
        let doing = "commit: it is unknown whether it was applied";
        return Err(with_class(ErrorClass::OutcomeUnknown, doing, error));
    }
    Err(store_error("commit", error))
}

pub(super) fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

impl SqliteTx {
    /// The transaction that has just begun on `connection`.
    pub(super) fn new(
        connection: Connection,
        place: SharedPlace,
        deadline: Deadline,
    ) -> Result<Self, StoreError> {
        let mut tx = Self { connection: Some(connection), place, deadline, stage: Stage::Begun };
        tx.watch(true).map_err(|error| store_error("begin", error))?;
        Ok(tx)
    }

    /// Lets SQLite interrupt a statement when the delivery has ended, or no longer.
    fn watch(&mut self, on: bool) -> rusqlite::Result<()> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        let deadline = self.deadline.clone();
        let handler = on.then_some(move || deadline.check().is_err());
        connection.progress_handler(STEPS_BETWEEN_CHECKS, handler)
    }

    /// Runs a statement's work, unless the delivery has ended or ends meanwhile.
    fn run<T>(
        &self,
        doing: &str,
        work: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
    ) -> Result<T, StoreError> {
        self.deadline.check()?;
        let connection = self.connection.as_ref().ok_or_else(lost)?;
        work(connection).map_err(|error| {
            let interrupted = error.sqlite_extended_error_code() == Some(ffi::SQLITE_INTERRUPT);
            match self.deadline.check() {
                Err(expired) if interrupted => {
                    with_class(expired.into(), &format!("{doing}: {expired}"), error)
                }
                Ok(()) | Err(_) => store_error(doing, error),
            }
        })
    }

    /// Gives the connection back, or closes it if it cannot be trusted.
    fn end(&mut self, usable: bool) {
        self.stage = Stage::Ended;
        let Some(connection) = self.connection.take() else { return };
        if usable {
            put(&self.place, Place::Here(connection));
        } else {
            // Closing undoes what is open, so it comes before anyone opens the next.
            drop(connection);
            put(&self.place, Place::GivenUp);
        }
    }
}

impl Tx for SqliteTx {
    fn try_mark(&mut self, event_id: &str) -> Result<bool, StoreError> {
        self.stage.may_mark()?;
        self.stage = Stage::Failed;
        let (inserted, exists) = self.run("try-mark", |connection| {
            let inserted = connection.prepare_cached(INSERT_MARKER)?.execute([event_id])?;
            // A trigger of the database's owner can swallow the row, which is no redelivery.
            Ok((inserted == 1, inserted == 1 || schema::is_marked(connection, event_id)?))
        })?;
        if !exists {
            let message = "try-mark: the database neither took the marker nor has it";
            return Err(StoreError::new(ErrorClass::Constraint, message));
        }
        self.stage =
            if inserted { Stage::Marked(event_id.to_owned()) } else { Stage::AlreadyCommitted };
        Ok(inserted)
    }

    fn save_alert(&mut self, alert: &Alert) -> Result<(), StoreError> {
        self.stage.may_save(alert)?;
        self.stage = Stage::Failed;
        let inserted = self.run("save-alert", |connection| {
            connection.prepare_cached(INSERT_ALERT)?.execute(alert.texts())
        })?;
        if inserted != 1 {
            let message = "save-alert: the database did not take the alert";
            return Err(StoreError::new(ErrorClass::Constraint, message));
        }
        self.stage = Stage::Saved;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.stage.may_commit()?;
        self.stage = Stage::Failed;
        self.deadline.check()?;
        // A COMMIT is never interrupted: it would turn a known outcome into an unknown one.
        self.watch(false).map_err(|error| store_error("commit", error))?;
        let connection = self.connection.as_ref().ok_or_else(lost)?;
        commit(connection)?;
        self.end(true);
        Ok(())
    }

    fn rollback(&mut self) {
        let usable = self.watch(false).is_ok()
            && self.connection.as_ref().is_some_and(|connection| {
                // SQLite ends the transaction by itself after some errors.
                connection.is_autocommit() || execute(connection, "ROLLBACK").is_ok()
            });
        self.end(usable);
    }
}

impl Drop for SqliteTx {
    fn drop(&mut self) {
        self.rollback();
    }
}

/// Unreachable by the order of calls: a transaction has its connection until its end.
fn lost() -> StoreError {
    StoreError::new(ErrorClass::ConnectionLost, "the transaction has no connection")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use std::time::Duration;

    use super::*;
    use crate::store::{Sqlite, SqliteOptions, Store};

    /// Stages a pair in a database prepared by `sql`, lets SQLite interrupt any statement from then
    /// on, and ends the transaction: the connection is kept, and the pair is stored or not.
    fn check(sql: &str, end: fn(&mut SqliteTx), stored: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("alerts.db");
        let mut store = Sqlite::open(&path, SqliteOptions::default()).unwrap();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let hour = Duration::from_secs(3_600);
        let mut tx = store.begin(&Deadline::new(hour, hour)).unwrap();
        assert_eq!(tx.try_mark("e"), Ok(true));
        let saved = tx.save_alert(&Alert::new("e", "", ""));
        assert_eq!(saved.is_ok(), sql.is_empty());
        tx.connection.as_mut().unwrap().progress_handler(1, Some(|| true)).unwrap();
        end(&mut tx);
        let place = put(&tx.place, Place::GivenUp);
        assert!(matches!(place, Place::Here(_)), "the connection is trusted: {place:?}");
        assert_eq!(store.is_marked("e"), Ok(stored));
    }

    #[test]
    fn a_commit_is_never_interrupted() {
        check("", |tx| tx.commit().unwrap(), true);
    }

    #[test]
    fn a_rollback_is_never_interrupted() {
        check("", SqliteTx::rollback, false);
    }

    #[test]
    fn a_rollback_of_what_sqlite_has_rolled_back_sends_nothing_and_keeps_the_connection() {
        let trigger = "CREATE TRIGGER no BEFORE INSERT ON alerts
                       BEGIN SELECT RAISE(ROLLBACK, 'gone'); END";
        check(trigger, SqliteTx::rollback, false);
    }
}
