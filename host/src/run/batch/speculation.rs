//! What answers a guest whose commit is going to be made later, with that of others.

use crate::contract::Violation;
use crate::deadline::Deadline;
use crate::event::Alert;
use crate::imports::{Backend, BackendTx};
use crate::store::{ErrorClass, StoreError};

/// Says what the store will say, if nothing comes in between.
///
/// The model has checked every call before it comes here, arguments included, and the delivery's
/// answer is looked at once the call has ended, so there is nothing to keep but the one answer that
/// depends on the event.
#[derive(Debug, Default)]
pub(super) struct Speculation {
    /// Whether the event that is delivered next has a marker, stored or staged.
    pub(super) marked: bool,
}

/// A transaction that stages nothing itself: that the guest's commit succeeded is what counts.
#[derive(Debug)]
pub(super) struct SpeculativeTx {
    marked: bool,
}

impl Backend for Speculation {
    type Tx = SpeculativeTx;

    fn begin(&mut self, _: Option<&Deadline>) -> Result<SpeculativeTx, StoreError> {
        Ok(SpeculativeTx { marked: self.marked })
    }

    fn refuse(&mut self, violation: &Violation) -> StoreError {
        // Never seen: a delivery that broke a rule runs again in the plain way.
        StoreError::new(ErrorClass::Misuse, violation.to_string())
    }
}

impl BackendTx for SpeculativeTx {
    fn try_mark(&mut self, _: &str) -> Result<bool, StoreError> {
        Ok(!self.marked)
    }

    fn save_alert(&mut self, _: &Alert) -> Result<(), StoreError> {
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn rollback(&mut self) {}
}
