//! The store in a SQLite database: one local transaction per event.
//!
//! The database may be an application's own: two tables of the contract and one that holds the
//! database's identity are added to whatever else is in it.

mod bulk;
mod connect;
mod error;
mod schema;
mod transaction;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{io, mem};

use rusqlite::Connection;

pub use self::bulk::SqliteBulk;
pub use self::error::{OpenError, OpenProblem, SchemaDifference};
pub use self::transaction::SqliteTx;

use self::connect::Connected;
use self::error::store_error;
use super::patience::{Stopped, patiently, wait_for_lock};
use super::stage::still_open;
use super::{ErrorClass, Store, StoreError};
use crate::deadline::Deadline;

/// How a [`Sqlite`] store uses its database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// How long opening and each `begin` wait for another connection that writes; 5 seconds by
    /// default. A delivery's deadline may end the wait earlier.
    pub busy_timeout: Duration,
    /// What a commit waits for.
    pub synchronous: Synchronous,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(5), synchronous: Synchronous::Full }
    }
}

/// What a commit waits for before it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronous {
    /// Until the disk has it: what was committed survives a loss of power.
    Full,
    /// For nothing: what was committed survives the end of the process, but not a loss of power.
    /// For tests and measurements only.
    Off,
}

/// A store in a SQLite database, through one connection of its own.
///
/// Several stores, in one process or many, may use one database: the marker's uniqueness decides.
#[derive(Debug)]
pub struct Sqlite {
    /// Absolute, so that the database is found again whatever the working directory is by then.
    path: PathBuf,
    options: SqliteOptions,
    database_id: String,
    place: SharedPlace,
}

/// Where the connection is, shared with the transaction that borrows it.
type SharedPlace = Arc<Mutex<Place>>;

/// Where the connection is.
#[derive(Debug)]
enum Place {
    /// Here, and in no transaction.
    Here(Connection),
    /// With the open transaction.
    Lent,
    /// Nowhere: it could not be trusted any more and was closed. The next use opens another.
    GivenUp,
}

impl Sqlite {
    /// Opens the database at `path`, or makes it if there is none.
    ///
    /// The tables of the contract are created where they are absent, and verified where they are
    /// present. Nothing is changed in a file that is refused. Waits up to the busy timeout.
    ///
    /// # Errors
    /// What stands in the way, as one sentence with what to do about it, and its cause.
    pub fn open(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, OpenError> {
        let named = path.as_ref();
        let problem = |problem| OpenError::new(named, problem);
        if named.as_os_str().is_empty() || named == Path::new(":memory:") {
            return Err(problem(OpenProblem::NotAPath));
        }
        let unknown = |error: io::Error| problem(OpenProblem::Unreachable(error));
        let path = std::path::absolute(named).map_err(unknown)?;
        let is_busy = |problem: &OpenProblem| problem.class() == ErrorClass::Busy;
        let attempt = || connect::connect(&path, options.synchronous, true);
        let Connected { connection, database_id } =
            patiently(options.busy_timeout, &Deadline::endless(), is_busy, attempt).map_err(
                |stopped| match stopped {
                    Stopped::Failed(error) | Stopped::Expired(_, error) => problem(error),
                },
            )?;
        let place = Arc::new(Mutex::new(Place::Here(connection)));
        Ok(Self { path, options, database_id, place })
    }

    /// The identity of the database: a random text, made when the database was first opened as a
    /// store and kept in it ever since. A copy of the file has the same.
    #[must_use]
    pub fn database_id(&self) -> &str {
        &self.database_id
    }

    /// Whether a committed marker of the event exists. Waits up to the busy timeout.
    ///
    /// # Errors
    /// It is unknown. While a transaction of this store is open: [`ErrorClass::Misuse`].
    pub fn is_marked(&mut self, event_id: &str) -> Result<bool, StoreError> {
        self.with_connection(&Deadline::endless(), |connection| {
            schema::is_marked(connection, event_id)
                .map_err(|error| store_error("looking up a marker", error))
        })
        .map(|(connection, marked)| {
            put(&self.place, Place::Here(connection));
            marked
        })
    }

    /// Takes the connection and lets `attempt` use it until it succeeds, while it fails for want of
    /// the lock. On success the connection is the caller's to put back; on failure it is put back.
    fn with_connection<T>(
        &self,
        deadline: &Deadline,
        attempt: impl Fn(&Connection) -> Result<T, StoreError>,
    ) -> Result<(Connection, T), StoreError> {
        let mut connection = match put(&self.place, Place::Lent) {
            Place::Here(connection) => Some(connection),
            Place::GivenUp => None,
            Place::Lent => return Err(still_open()),
        };
        let result = wait_for_lock(self.options.busy_timeout, deadline, || {
            let usable = match connection.take() {
                Some(usable) => usable,
                None => self.reconnect()?,
            };
            attempt(connection.insert(usable))
        });
        match (result, connection) {
            (Ok(value), Some(connection)) => Ok((connection, value)),
            (Ok(_), None) => Err(StoreError::new(ErrorClass::ConnectionLost, "no connection")),
            (Err(error), connection) => {
                put(&self.place, connection.map_or(Place::GivenUp, Place::Here));
                Err(error)
            }
        }
    }

    /// A store on the same database, without a connection yet.
    fn another(&self) -> Self {
        let Self { path, options, database_id, .. } = self;
        let place = Arc::new(Mutex::new(Place::GivenUp));
        Self { path: path.clone(), options: *options, database_id: database_id.clone(), place }
    }

    /// Opens the database again, once, and never another one.
    fn reconnect(&self) -> Result<Connection, StoreError> {
        let opened = connect::connect(&self.path, self.options.synchronous, false);
        let Connected { connection, database_id } = opened.map_err(|problem| {
            let error = OpenError::new(&self.path, problem);
            let (class, code) = (error.problem().class(), error.problem().code());
            StoreError::from_driver(class, code, "the database could not be opened again", error)
        })?;
        if database_id != self.database_id {
            let message = format!("another database lies at {:?} now", self.path);
            return Err(StoreError::new(ErrorClass::ConnectionLost, message));
        }
        Ok(connection)
    }
}

impl Store for Sqlite {
    type Tx = SqliteTx;

    fn begin(&mut self, deadline: &Deadline) -> Result<SqliteTx, StoreError> {
        deadline.check()?;
        let (connection, ()) = self.with_connection(deadline, transaction::begin)?;
        deadline.transaction_began();
        SqliteTx::new(connection, Arc::clone(&self.place), deadline.clone())
    }
}

/// Says where the connection is now, and gives back where it was.
fn put(place: &SharedPlace, now: Place) -> Place {
    // A panic elsewhere cannot leave a place half written: it is replaced as a whole.
    mem::replace(&mut *place.lock().unwrap_or_else(PoisonError::into_inner), now)
}

#[cfg(test)]
mod tests;
