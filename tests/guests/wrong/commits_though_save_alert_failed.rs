//! Breaks R6: it commits a marker whose alert could not be saved.
//!
//! Expected:
//! - R6: commit was called although save-alert had failed
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
    let saved = tx.save_alert(alert);
    tx.commit().map_err(undo)?;
    saved?;
    Ok(Outcome::Applied)
}
