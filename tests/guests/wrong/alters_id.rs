//! Breaks R10: it marks another id than the event's.
//!
//! Expected:
//! - R10: try-mark was given an event id that differs from the event's id
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, String, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let tx = store::begin()?;
    let undo = |error| {
        tx.rollback();
        error
    };
    let mut other = String::from(event_id);
    other.push('.');
    if !tx.try_mark(&other).map_err(undo)? {
        tx.rollback();
        return Ok(Outcome::AlreadyApplied);
    }
    tx.save_alert(alert).map_err(undo)?;
    tx.commit().map_err(undo)?;
    Ok(Outcome::Applied)
}
