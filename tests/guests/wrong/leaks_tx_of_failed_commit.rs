//! Breaks R13: the transaction of a commit that failed outlives the call.
//!
//! Expected:
//! - R13: 1 handle was still held when the call returned
#![no_std]

use core::mem::forget;

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
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
    if let Err(error) = tx.commit() {
        tx.rollback();
        forget(tx);
        return Err(error);
    }
    Ok(Outcome::Applied)
}
