//! Breaks R13: its transaction, ended as it should be, outlives the call.
//!
//! Expected:
//! - R13: 1 handle was still held when the call returned
#![no_std]

use core::mem::ManuallyDrop;

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let tx = ManuallyDrop::new(store::begin()?);
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
