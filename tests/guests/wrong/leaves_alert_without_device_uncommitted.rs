//! Breaks R1: it saves an alert of no device and answers `unknown`.
//!
//! Expected:
//! - R1: unknown was returned, but the alert was saved and commit was never called
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
    tx.save_alert(alert).map_err(undo)?;
    if alert.device_id.is_empty() {
        return Ok(Outcome::Unknown);
    }
    tx.commit().map_err(undo)?;
    Ok(Outcome::Applied)
}
