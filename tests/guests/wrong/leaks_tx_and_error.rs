//! Breaks R7 and R13: it answers `unknown` where `commit` failed, and drops neither the transaction nor the error.
//!
//! Expected:
//! - R7: unknown was returned after commit failed
//! - R13: 2 handles were still held when the call returned
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
        forget((tx, error));
        return Ok(Outcome::Unknown);
    }
    Ok(Outcome::Applied)
}
