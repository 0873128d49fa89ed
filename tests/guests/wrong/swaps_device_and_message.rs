//! Breaks R10: it saves the message as the device and the device as the message.
//!
//! Expected:
//! - R10: save-alert was given an alert that differs from the event's alert
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
    let Alert { source_event_id, device_id: message, message: device_id } = alert.clone();
    let swapped = Alert { source_event_id, device_id, message };
    tx.save_alert(&swapped).map_err(undo)?;
    tx.commit().map_err(undo)?;
    Ok(Outcome::Applied)
}
