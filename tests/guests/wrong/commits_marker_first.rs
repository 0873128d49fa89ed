//! Breaks R1: it commits the marker and would save the alert in a second transaction.
//!
//! Expected:
//! - R1: commit was called before save-alert
#![no_std]

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
    tx.commit().map_err(undo)?;

    let tx = store::begin()?;
    let undo = |error| {
        tx.rollback();
        error
    };
    tx.save_alert(alert).map_err(undo)?;
    tx.commit().map_err(undo)?;
    Ok(Outcome::Applied)
}
