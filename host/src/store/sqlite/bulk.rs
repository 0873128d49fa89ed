//! Many pairs in one transaction, and many look-ups in one statement.
//!
//! In tables of our own making (`WITHOUT ROWID`, without triggers) nobody can tell in which order the
//! rows of a transaction were inserted, so they are inserted in the order of their keys: a page is
//! then written once. Elsewhere someone may follow by rowid, or a trigger sees each row, so the order
//! of delivery is kept, marker then alert.

use std::collections::HashSet;
use std::sync::LazyLock;

use rusqlite::{Connection, params_from_iter};

use super::error::store_error;
use super::transaction::{INSERT_ALERT, INSERT_MARKER, begin, commit, execute};
use super::{Sqlite, schema};
use crate::deadline::Deadline;
use crate::event::Alert;
use crate::run::batch::{Bulk, NotApplied};
use crate::store::patience::wait_for_lock;
use crate::store::{ErrorClass, StoreError};

/// How many rows one statement inserts, and how many ids it looks up.
const ROWS: usize = 64;

/// The cache for look-ups, in KiB: the pages they need are few, and the system caches the file.
const READER_CACHE: i64 = 1 << 10;

/// For a writer in tables of our own making, where ids follow each other.
///
/// No foreign key is checked: an alert has but the one to its marker, which the same transaction has
/// stored before it.
const FOLLOWING: Tuning = Tuning { cache: 8 << 10, checkpoint: 4_096, foreign_keys: false };

/// The same where ids are scattered over the tables: many pages are written again and again, and the
/// longer they wait, the more writes of one page are taken over from the log at once.
const SCATTERED: Tuning = Tuning { cache: 16 << 10, checkpoint: 16_384, ..FOLLOWING };

/// For a writer in other tables: a trigger may do anything.
const CAREFUL: Tuning = Tuning { foreign_keys: true, ..FOLLOWING };

/// How a connection writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tuning {
    /// The most pages that are cached, in KiB.
    cache: i64,
    /// After how many pages in the log they are taken over into the database.
    checkpoint: i64,
    /// Whether foreign keys are checked.
    foreign_keys: bool,
}

/// The order in which the rows of a batch are inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Marker, then alert, in the order of delivery: someone may look at it.
    Delivery,
    /// As they are: the ids are sorted, and behind those that were stored last.
    Following,
    /// By id.
    Scattered,
}

impl Order {
    fn tuning(self) -> Tuning {
        match self {
            Self::Delivery => CAREFUL,
            Self::Following => FOLLOWING,
            Self::Scattered => SCATTERED,
        }
    }
}

/// What a writer has to know of a schema that was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Schema {
    version: i64,
    /// Whether nobody can tell in which order rows are inserted.
    order_is_free: bool,
}

static INSERT_MARKERS: LazyLock<String> = LazyLock::new(|| {
    let rows = rows("(?)");
    format!(
        "INSERT INTO processed_reading_events (event_id) VALUES {rows}
         ON CONFLICT (event_id) DO NOTHING"
    )
});

static INSERT_ALERTS: LazyLock<String> = LazyLock::new(|| {
    format!("INSERT INTO alerts (source_event_id, device_id, message) VALUES {}", rows("(?,?,?)"))
});

static SELECT_MARKERS: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT event_id FROM processed_reading_events WHERE event_id IN ({})", rows("?"))
});

fn rows(row: &str) -> String {
    vec![row; ROWS].join(",")
}

/// A connection for look-ups or for batches, to the database of a [`Sqlite`] store.
#[derive(Debug)]
pub struct SqliteBulk {
    /// Opens the database anew where a connection cannot be trusted any more.
    store: Sqlite,
    connection: Option<Connection>,
    /// How it was set up last.
    tuning: Option<Tuning>,
    /// What was found out about the schema of this version.
    schema: Option<Schema>,
    /// The largest id of the last batch: ids behind it are at the end of the tables.
    last_id: String,
}

impl SqliteBulk {
    /// A further connection to the database of `store`.
    ///
    /// # Errors
    /// It cannot be opened again.
    pub fn new(store: &Sqlite) -> Result<Self, StoreError> {
        let store = store.another();
        let connection = Some(open(&store)?);
        Ok(Self { store, connection, tuning: None, schema: None, last_id: String::new() })
    }

    /// The connection, or a new one if the last had to be given up.
    fn connect(&mut self) -> Result<&Connection, StoreError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                (self.tuning, self.schema) = (None, None);
                open(&self.store)?
            }
        };
        Ok(self.connection.insert(connection))
    }

    /// Begins a transaction that writes, once no other connection does.
    ///
    /// # Errors
    /// There is none; one that had begun in another `schema` is undone.
    fn begin(&mut self, schema: Schema) -> Result<&Connection, StoreError> {
        let patience = self.store.options.busy_timeout;
        let connection = self.connect()?;
        wait_for_lock(patience, &Deadline::endless(), || begin(connection))?;
        if schema::version(connection).is_ok_and(|version| version == schema.version) {
            return self.connect();
        }
        self.undo();
        Err(StoreError::new(ErrorClass::Busy, "begin: another connection has changed the schema"))
    }

    /// Looks at the schema, if it has changed since the last look.
    fn schema(&mut self) -> Result<Schema, StoreError> {
        let failed = |error| store_error("reading the schema", error);
        let version = schema::version(self.connect()?).map_err(failed)?;
        if let Some(known) = self.schema {
            if known.version == version {
                return Ok(known);
            }
            // A new connection verifies the tables.
            self.connection = None;
        }
        let connection = self.connect()?;
        let schema = Schema {
            version: schema::version(connection).map_err(failed)?,
            order_is_free: schema::order_shows_nowhere(connection).map_err(failed)?,
        };
        Ok(*self.schema.insert(schema))
    }

    fn tune(&mut self, wanted: Tuning) -> Result<(), StoreError> {
        if self.tuning == Some(wanted) {
            return Ok(());
        }
        let connection = self.connect()?;
        let Tuning { cache, checkpoint, foreign_keys } = wanted;
        connection
            .pragma_update(None, "cache_size", -cache)
            .and_then(|()| connection.pragma_update(None, "wal_autocheckpoint", checkpoint))
            .and_then(|()| connection.pragma_update(None, "foreign_keys", foreign_keys))
            .map_err(|error| store_error("setting the database up", error))?;
        self.tuning = Some(wanted);
        Ok(())
    }

    /// Ends a transaction that is known not to be committed, and gives the connection up if it
    /// cannot be.
    fn undo(&mut self) {
        let undone = self.connection.as_ref().is_some_and(|connection| {
            connection.is_autocommit() || execute(connection, "ROLLBACK").is_ok()
        });
        if !undone {
            self.connection = None;
        }
    }
}

impl Bulk for SqliteBulk {
    fn marked(&mut self, event_ids: &[&str]) -> Result<Vec<bool>, StoreError> {
        self.tune(Tuning { cache: READER_CACHE, ..FOLLOWING })?;
        let connection = self.connect()?;
        let found = event_ids.chunks(ROWS).map(|ids| look_up(connection, ids));
        let found: rusqlite::Result<Vec<HashSet<String>>> = found.collect();
        let found = found.map_err(|error| store_error("looking up markers", error))?;
        let marked = event_ids.chunks(ROWS).zip(&found);
        Ok(marked.flat_map(|(ids, found)| ids.iter().map(|id| found.contains(*id))).collect())
    }

    fn apply(&mut self, pairs: &[&Alert]) -> Result<(), NotApplied> {
        let following = pairs.is_sorted_by(|a, b| a.source_event_id() < b.source_event_id())
            && pairs.first().is_none_or(|first| first.source_event_id() > self.last_id.as_str());
        let schema = self.schema().map_err(NotApplied::Failed)?;
        let order = match (schema.order_is_free, following) {
            (false, _) => Order::Delivery,
            (true, true) => Order::Following,
            (true, false) => Order::Scattered,
        };
        self.tune(order.tuning()).map_err(NotApplied::Failed)?;
        let connection = self.begin(schema).map_err(NotApplied::Failed)?;
        if let Err(error) = insert(connection, pairs, order) {
            self.undo();
            return Err(error);
        }
        if let Err(error) = commit(connection) {
            self.undo();
            return Err(match error.class() {
                ErrorClass::OutcomeUnknown => NotApplied::InDoubt(error),
                _ => NotApplied::Failed(error),
            });
        }
        if let Some(last) = pairs.last() {
            last.source_event_id().clone_into(&mut self.last_id);
        }
        Ok(())
    }
}

/// A new connection, once no other one is in the way.
fn open(store: &Sqlite) -> Result<Connection, StoreError> {
    wait_for_lock(store.options.busy_timeout, &Deadline::endless(), || store.reconnect())
}

/// Which of at most [`ROWS`] ids have a marker.
fn look_up(connection: &Connection, ids: &[&str]) -> rusqlite::Result<HashSet<String>> {
    let mut statement = connection.prepare_cached(&SELECT_MARKERS)?;
    // One id fills the places that are left.
    let ids = (0..ROWS).filter_map(|place| ids.get(place).or(ids.last()));
    statement.query_map(params_from_iter(ids), |row| row.get(0))?.collect()
}

/// Inserts all rows of a transaction that has begun.
fn insert(connection: &Connection, pairs: &[&Alert], order: Order) -> Result<(), NotApplied> {
    match order {
        Order::Delivery => pairs.chunks(1).try_for_each(|pair| {
            insert_markers(connection, pair)?;
            insert_alerts(connection, pair)
        }),
        Order::Following => {
            // A statement of many rows is the fastest where they go to one page, and slow where not.
            pairs.chunks(ROWS).try_for_each(|chunk| insert_markers(connection, chunk))?;
            pairs.chunks(ROWS).try_for_each(|chunk| insert_alerts(connection, chunk))
        }
        Order::Scattered => {
            let mut sorted = pairs.to_vec();
            sorted.sort_unstable_by(|a, b| a.source_event_id().cmp(b.source_event_id()));
            sorted.chunks(1).try_for_each(|pair| insert_markers(connection, pair))?;
            sorted.chunks(1).try_for_each(|pair| insert_alerts(connection, pair))
        }
    }
}

/// Inserts the markers of [`ROWS`] pairs at once, or of fewer one by one.
fn insert_markers(connection: &Connection, pairs: &[&Alert]) -> Result<(), NotApplied> {
    let ids = pairs.iter().map(|pair| pair.source_event_id());
    let inserted = if pairs.len() == ROWS {
        connection
            .prepare_cached(&INSERT_MARKERS)
            .and_then(|mut statement| statement.execute(params_from_iter(ids)))
    } else {
        let each = |id| connection.prepare_cached(INSERT_MARKER)?.execute([id]);
        ids.map(each).sum()
    };
    match inserted {
        Ok(inserted) if inserted == pairs.len() => Ok(()),
        // Another writer has stored one of them, or a trigger has swallowed it.
        Ok(_) => Err(NotApplied::Conflict),
        Err(error) => Err(NotApplied::Failed(store_error("storing markers", error))),
    }
}

/// Inserts the alerts of [`ROWS`] pairs at once, or of fewer one by one.
fn insert_alerts<'a>(connection: &Connection, pairs: &'a [&Alert]) -> Result<(), NotApplied> {
    let texts = |pair: &'a &Alert| pair.texts();
    let inserted = if pairs.len() == ROWS {
        connection.prepare_cached(&INSERT_ALERTS).and_then(|mut statement| {
            statement.execute(params_from_iter(pairs.iter().flat_map(texts)))
        })
    } else {
        let each = |pair| connection.prepare_cached(INSERT_ALERT)?.execute(texts(pair));
        pairs.iter().map(each).sum()
    };
    match inserted {
        Ok(inserted) if inserted == pairs.len() => Ok(()),
        Ok(_) => {
            let message = "storing alerts: the database did not take one of them";
            Err(NotApplied::Failed(StoreError::new(ErrorClass::Constraint, message)))
        }
        Err(error) => Err(NotApplied::Failed(store_error("storing alerts", error))),
    }
}
