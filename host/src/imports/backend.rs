//! What stands behind the store interface: a store, or a speculation about what one will say.

use crate::contract::Violation;
use crate::deadline::Deadline;
use crate::event::Alert;
use crate::store::{Store, StoreError, Tx};

/// Answers a guest's calls.
///
/// Every [`Store`] is one. A speculation is one as well and no store: its `commit` answers before
/// anything is durable, so its caller has to withhold what came of the delivery.
pub(crate) trait Backend: Send + 'static {
    /// A transaction.
    type Tx: BackendTx;

    /// As [`Store::begin`]; without a deadline it waits for nobody.
    fn begin(&mut self, deadline: Option<&Deadline>) -> Result<Self::Tx, StoreError>;

    /// As [`Store::refuse`].
    fn refuse(&mut self, violation: &Violation) -> StoreError;
}

/// One transaction of a [`Backend`]; the methods are those of [`Tx`].
pub(crate) trait BackendTx: Send + 'static {
    fn try_mark(&mut self, event_id: &str) -> Result<bool, StoreError>;
    fn save_alert(&mut self, alert: &Alert) -> Result<(), StoreError>;
    fn commit(&mut self) -> Result<(), StoreError>;
    fn rollback(&mut self);
}

impl<S: Store> Backend for S {
    type Tx = S::Tx;

    fn begin(&mut self, deadline: Option<&Deadline>) -> Result<S::Tx, StoreError> {
        match deadline {
            Some(deadline) => Store::begin(self, deadline),
            None => Store::begin(self, &Deadline::endless()),
        }
    }

    fn refuse(&mut self, violation: &Violation) -> StoreError {
        Store::refuse(self, violation)
    }
}

impl<T: Tx> BackendTx for T {
    fn try_mark(&mut self, event_id: &str) -> Result<bool, StoreError> {
        Tx::try_mark(self, event_id)
    }

    fn save_alert(&mut self, alert: &Alert) -> Result<(), StoreError> {
        Tx::save_alert(self, alert)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        Tx::commit(self)
    }

    fn rollback(&mut self) {
        Tx::rollback(self);
    }
}
