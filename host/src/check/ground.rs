//! What guests are judged on: a store that is emptied for each schedule and counts an event's rows.

use rusqlite::{Connection, Row};
use tempfile::TempDir;

use super::CheckError;
use crate::contract::{Rows, Violation};
use crate::deadline::Deadline;
use crate::event::Alert;
use crate::store::{Memory, Sqlite, SqliteOptions, SqliteTx, Store, StoreError, Synchronous};

/// A store to judge guests on.
pub(crate) trait Ground: Store + Sized {
    /// A new one, empty.
    fn open() -> Result<Self, CheckError>;

    /// Removes everything, then stores the marker and the alert of each of these.
    fn reset(&mut self, stored: &mut dyn Iterator<Item = &Alert>) -> Result<(), CheckError>;

    /// Whether an event has a marker.
    fn is_stored(&mut self, event_id: &str) -> Result<bool, CheckError>;

    /// How many markers and alerts an event has.
    fn rows(&self, event_id: &str) -> Result<Rows, CheckError>;
}

impl Ground for Memory {
    fn open() -> Result<Self, CheckError> {
        Ok(Self::new())
    }

    fn reset(&mut self, stored: &mut dyn Iterator<Item = &Alert>) -> Result<(), CheckError> {
        *self = Self::new();
        stored.for_each(|alert| self.store(alert.clone()));
        Ok(())
    }

    fn is_stored(&mut self, event_id: &str) -> Result<bool, CheckError> {
        Ok(self.is_marked(event_id))
    }

    fn rows(&self, event_id: &str) -> Result<Rows, CheckError> {
        let markers = u64::from(self.is_marked(event_id));
        Ok(Rows { markers, alerts: self.count_alerts(event_id) as u64 })
    }
}

/// A database file of its own, gone when it is dropped, and a second connection that looks into it.
pub(crate) struct SqliteGround {
    store: Sqlite,
    looks: Connection,
    /// Dropped last: the connections close before the file goes.
    _folder: TempDir,
}

impl Store for SqliteGround {
    type Tx = SqliteTx;

    fn begin(&mut self, deadline: &Deadline) -> Result<SqliteTx, StoreError> {
        self.store.begin(deadline)
    }

    fn refuse(&mut self, violation: &Violation) -> StoreError {
        self.store.refuse(violation)
    }
}

impl Ground for SqliteGround {
    fn open() -> Result<Self, CheckError> {
        let folder = tempfile::tempdir().map_err(CheckError::Folder)?;
        let path = folder.path().join("check.db");
        // Nothing crashes here, so nothing has to reach the disk.
        let options = SqliteOptions { synchronous: Synchronous::Off, ..SqliteOptions::default() };
        let store = Sqlite::open(&path, options).map_err(CheckError::Open)?;
        let looks = Connection::open(&path)?;
        looks.pragma_update(None, "synchronous", "OFF")?;
        Ok(Self { store, looks, _folder: folder })
    }

    fn reset(&mut self, stored: &mut dyn Iterator<Item = &Alert>) -> Result<(), CheckError> {
        let transaction = self.looks.transaction()?;
        for table in ["alerts", "processed_reading_events"] {
            transaction.prepare_cached(&format!("DELETE FROM {table}"))?.execute([])?;
        }
        for alert in stored {
            transaction
                .prepare_cached("INSERT INTO processed_reading_events VALUES (?1)")?
                .execute([alert.source_event_id()])?;
            transaction
                .prepare_cached("INSERT INTO alerts VALUES (?1, ?2, ?3)")?
                .execute(alert.texts())?;
        }
        Ok(transaction.commit()?)
    }

    fn is_stored(&mut self, event_id: &str) -> Result<bool, CheckError> {
        self.store.is_marked(event_id).map_err(CheckError::Store)
    }

    fn rows(&self, event_id: &str) -> Result<Rows, CheckError> {
        let count = |sql| -> rusqlite::Result<u64> {
            let count = |row: &Row<'_>| row.get::<_, i64>(0);
            self.looks.prepare_cached(sql)?.query_row([event_id], count).map(i64::unsigned_abs)
        };
        Ok(Rows {
            markers: count("SELECT count(*) FROM processed_reading_events WHERE event_id = ?1")?,
            alerts: count("SELECT count(*) FROM alerts WHERE source_event_id = ?1")?,
        })
    }
}
