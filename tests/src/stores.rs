//! Stores to test with, each with a way to look at what it has stored.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use process_once::deadline::Deadline;
use process_once::event::Alert;
use process_once::store::{Faulty, Memory, Sqlite, SqliteOptions, Store, StoreError, Traced, Tx};
use rusqlite::Connection;
use tempfile::TempDir;

/// Far longer than any test takes.
pub const LONG: Duration = Duration::from_secs(3_600);

/// One set of markers and alerts, and as many stores on it as a test wants.
pub trait Lab: Send + Sync + 'static {
    /// The kind of store.
    type Store: Store;

    /// Another handle on the same data; its `begin` waits up to `patience` for other writers.
    fn open(&self, patience: Duration) -> Self::Store;

    /// What is durably stored, found out without the store under test.
    fn stored(&self) -> Stored;
}

/// Shared by those that write and those that look.
impl<L: Lab> Lab for Arc<L> {
    type Store = L::Store;

    fn open(&self, patience: Duration) -> L::Store {
        self.as_ref().open(patience)
    }

    fn stored(&self) -> Stored {
        self.as_ref().stored()
    }
}

/// What a store holds, sorted.
#[derive(Debug, PartialEq, Eq)]
pub struct Stored {
    /// The ids of the markers.
    pub markers: Vec<String>,
    /// The alerts: source event, device, message.
    pub alerts: Vec<[String; 3]>,
}

impl Stored {
    /// Exactly one pair for each of these alerts, and nothing else.
    #[must_use]
    pub fn pairs(alerts: &[Alert]) -> Self {
        let alerts: Vec<_> = alerts.iter().map(texts).collect();
        Self { markers: alerts.iter().map(|[id, ..]| id.clone()).collect(), alerts }.sorted()
    }

    fn sorted(mut self) -> Self {
        self.markers.sort();
        self.alerts.sort();
        self
    }
}

fn texts(alert: &Alert) -> [String; 3] {
    alert.texts().map(str::to_owned)
}

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryLab(Memory);

impl Lab for MemoryLab {
    type Store = Memory;

    fn open(&self, patience: Duration) -> Memory {
        self.0.clone().with_patience(patience)
    }

    fn stored(&self) -> Stored {
        // Both at one moment: nothing is ever deleted.
        loop {
            let markers = self.0.markers();
            let alerts = self.0.alerts().iter().map(texts).collect();
            if markers == self.0.markers() {
                return Stored { markers, alerts }.sorted();
            }
        }
    }
}

/// A store in a SQLite database in a folder of its own.
#[derive(Debug)]
pub struct SqliteLab {
    folder: TempDir,
}

impl SqliteLab {
    /// An empty folder: the first `open` makes the database.
    #[must_use]
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A database that `sql` has been run on before any store has seen it.
    #[must_use]
    pub fn prepared(sql: &str) -> Self {
        let lab = Self::new();
        lab.sql(sql);
        lab
    }

    /// A database as a store makes it, that `sql` has been run on afterwards.
    #[must_use]
    pub fn altered(sql: &str) -> Self {
        let lab = Self::new();
        drop(lab.open(LONG));
        lab.sql(sql);
        lab
    }

    /// Where the database lies.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("alerts.db")
    }

    /// The folder that it lies in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A plain connection, as another program would open.
    #[must_use]
    pub fn connection(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    /// Runs statements on a plain connection.
    pub fn sql(&self, sql: &str) {
        self.connection().execute_batch(sql).unwrap();
    }
}

impl Default for SqliteLab {
    fn default() -> Self {
        Self::new()
    }
}

impl Lab for SqliteLab {
    type Store = Sqlite;

    fn open(&self, patience: Duration) -> Sqlite {
        let options = SqliteOptions { busy_timeout: patience, ..SqliteOptions::default() };
        Sqlite::open(self.path(), options).unwrap()
    }

    fn stored(&self) -> Stored {
        let connection = self.connection();
        // Both at one moment.
        connection.execute_batch("BEGIN").unwrap();
        let query = "SELECT event_id FROM processed_reading_events";
        let mut markers = connection.prepare(query).unwrap();
        let markers = markers.query_map([], |row| row.get(0)).unwrap();
        let markers = markers.collect::<Result<_, _>>().unwrap();
        let query = "SELECT source_event_id, device_id, message FROM alerts";
        let mut alerts = connection.prepare(query).unwrap();
        let alerts = alerts.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]));
        let alerts = alerts.unwrap().collect::<Result<_, _>>().unwrap();
        Stored { markers, alerts }.sorted()
    }
}

/// The stores of another lab, recorded.
#[derive(Debug, Default)]
pub struct TracedLab<L>(L);

impl<L: Lab> Lab for TracedLab<L> {
    type Store = Traced<L::Store>;

    fn open(&self, patience: Duration) -> Self::Store {
        Traced::new(self.0.open(patience))
    }

    fn stored(&self) -> Stored {
        self.0.stored()
    }
}

/// The stores of another lab, with no fault armed.
#[derive(Debug, Default)]
pub struct FaultyLab<L>(L);

impl<L: Lab> Lab for FaultyLab<L> {
    type Store = Faulty<L::Store>;

    fn open(&self, patience: Duration) -> Self::Store {
        Faulty::new(self.0.open(patience))
    }

    fn stored(&self) -> Stored {
        self.0.stored()
    }
}

/// A deadline that no test reaches.
#[must_use]
pub fn no_deadline() -> Deadline {
    let deadline = Deadline::new(LONG, LONG);
    deadline.start();
    deadline
}

/// An alert with texts that no other event's alert has.
#[must_use]
pub fn alert(event_id: &str) -> Alert {
    let (device_id, message) = (format!("device of {event_id}"), format!("message of {event_id}"));
    Alert::new(event_id, &device_id, &message)
}

/// What a right guest does with one event: `true` if it was applied now, `false` if it was before.
///
/// # Errors
/// The store's.
pub fn deliver<S: Store>(store: &mut S, alert: &Alert) -> Result<bool, StoreError> {
    let mut tx = store.begin(&no_deadline())?;
    let result = (|| {
        let new = tx.try_mark(alert.source_event_id())?;
        if new {
            tx.save_alert(alert)?;
            tx.commit()?;
        }
        Ok(new)
    })();
    if !matches!(result, Ok(true)) {
        tx.rollback();
    }
    result
}

/// The error and its causes, one a line.
#[must_use]
pub fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}\n{cause}"))
}
