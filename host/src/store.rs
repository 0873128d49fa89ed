//! The store: where markers and alerts are kept, and the contract that every implementation keeps.
//!
//! A store holds two things: *markers*, one for each event that has been applied, and *alerts*, one
//! for each marker. Both of an event become durable together or not at all. `wit/README.md` has the
//! same contract from the guest's side.
//!
//! Both traits are plain and blocking. A store is driven from one thread, and every wait inside it
//! is bounded by what is left of the delivery's [`Deadline`].
//!
//! Faults, traces and fakes are wrappers around a store, never a branch inside one.

mod error;
mod faulty;
mod memory;
mod patience;
mod sqlite;
mod stage;
mod traced;

pub use error::{ErrorClass, StoreError};
pub use faulty::{Fault, Faults, Faulty, FaultyTx};
pub use memory::{Memory, MemoryTx};
pub use sqlite::{
    OpenError, OpenProblem, SchemaDifference, Sqlite, SqliteBulk, SqliteOptions, SqliteTx,
    Synchronous,
};
pub use traced::{CallLog, Traced, TracedTx};

use crate::contract::Violation;
use crate::deadline::Deadline;
use crate::event::Alert;

/// Opens transactions, one at a time.
pub trait Store: Send + 'static {
    /// A transaction of this store.
    type Tx: Tx;

    /// Opens a transaction.
    ///
    /// Waits for others who write, as long as the store's own patience and `deadline` allow. The
    /// store tells `deadline` when its physical transaction began. The transaction belongs to the
    /// delivery that `deadline` belongs to: all its waits are bounded by it.
    ///
    /// # Errors
    /// There is no transaction, and nothing to undo. A store whose last transaction was neither
    /// ended nor dropped answers with [`ErrorClass::Misuse`].
    fn begin(&mut self, deadline: &Deadline) -> Result<Self::Tx, StoreError>;

    /// The error that answers a call which the contract forbids. The call itself never reaches the
    /// store: it is recorded, answered with this error, and has no effect.
    fn refuse(&mut self, violation: &Violation) -> StoreError {
        StoreError::new(ErrorClass::Misuse, format!("refused, {violation}"))
    }
}

/// One transaction: a marker and its alert, staged and then committed together.
///
/// A transaction has *ended* once [`commit`](Tx::commit) succeeded or [`rollback`](Tx::rollback) ran.
/// After its end each call but `rollback` answers with [`ErrorClass::Misuse`] and does nothing.
///
/// Dropping a transaction that has not ended undoes it, as `rollback` does. It never commits.
pub trait Tx: Send + 'static {
    /// Stages the marker of `event_id`, unless a committed one exists.
    ///
    /// `true`: no committed marker exists; the marker is staged in this transaction, not yet stored.
    /// `false`: a *committed* marker exists; nothing is staged.
    ///
    /// # Errors
    /// It is unknown whether a marker exists. The transaction is still to be rolled back.
    fn try_mark(&mut self, event_id: &str) -> Result<bool, StoreError>;

    /// Stages exactly one alert, only after `try_mark` returned `true` in this transaction.
    ///
    /// # Errors
    /// Nothing may be committed; the transaction is still to be rolled back. An alert that was
    /// not asked for by a `true`, or a second one, is [`ErrorClass::Misuse`].
    fn save_alert(&mut self, alert: &Alert) -> Result<(), StoreError>;

    /// Makes the staged marker and alert durable, both at once.
    ///
    /// Only its success means that the pair is stored.
    ///
    /// # Errors
    /// With class [`ErrorClass::OutcomeUnknown`] the pair may or may not be stored, and nobody may
    /// claim either: a redelivery finds out. With any other class the pair is known not to be
    /// stored. In both cases the transaction is still to be rolled back, as clean-up of this side
    /// only. A commit without a staged marker and alert is [`ErrorClass::Misuse`].
    fn commit(&mut self) -> Result<(), StoreError>;

    /// Undoes what was staged and ends the transaction.
    ///
    /// After a commit that failed it only cleans up this side: what the store has made durable
    /// stays. It cannot fail: a store that cannot undo gives the connection up instead, which
    /// undoes it as well. After the end it does nothing.
    fn rollback(&mut self);
}
