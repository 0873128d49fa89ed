//! What a database has to offer so that many deliveries can share one durable commit.

use crate::event::Alert;
use crate::store::StoreError;

/// A connection to a database of markers and alerts, for many at once.
///
/// It is plain and blocking, and all its waits are bounded.
pub trait Bulk: Send + 'static {
    /// Which of these events have a committed marker, in their order.
    ///
    /// It looks at what is committed now and keeps no transaction open behind it.
    ///
    /// # Errors
    /// It is unknown.
    fn marked(&mut self, event_ids: &[&str]) -> Result<Vec<bool>, StoreError>;

    /// Makes the markers and alerts of all pairs durable, in one transaction.
    ///
    /// Pairs are applied in the given order, or in another where nobody can tell. No id is given
    /// twice.
    ///
    /// # Errors
    /// Either nothing of it has happened, or that is in doubt; the error says which.
    fn apply(&mut self, pairs: &[&Alert]) -> Result<(), NotApplied>;
}

/// Why pairs are not, or not known to be, durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotApplied {
    /// Nothing has happened: another writer had stored one of the markers.
    Conflict,
    /// Nothing has happened.
    Failed(StoreError),
    /// All of it has happened, or nothing.
    InDoubt(StoreError),
}
