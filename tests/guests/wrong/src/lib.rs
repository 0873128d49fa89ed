//! What the wrong guests share: the right way, for those that leave it only now and then, and a place for
//! what they keep.
#![cfg_attr(target_arch = "wasm32", no_std)]

use core::cell::RefCell;

use process_once_sdk::{Alert, Error, Outcome, store};

/// Does what a right guest does with this id and this alert.
///
/// # Errors
/// The error of the call that failed, after the rollback that it asks for.
pub fn apply(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let tx = store::begin()?;
    let undo = |error| {
        tx.rollback();
        error
    };
    if !tx.try_mark(event_id).map_err(undo)? {
        tx.rollback();
        return Ok(Outcome::AlreadyApplied);
    }
    tx.save_alert(alert).map_err(undo)?;
    tx.commit().map_err(undo)?;
    Ok(Outcome::Applied)
}

/// What a guest keeps from one delivery to the next.
pub struct Kept<T>(RefCell<T>);

// SAFETY: a guest has one thread.
unsafe impl<T> Sync for Kept<T> {}

impl<T> Kept<T> {
    /// Something to keep.
    pub const fn new(value: T) -> Self {
        Self(RefCell::new(value))
    }

    /// Works on what is kept.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.0.borrow_mut())
    }
}
