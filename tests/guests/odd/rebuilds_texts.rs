//! Right, and odd: no text is handed on as it came; each is rebuilt character by character.
#![no_std]

extern crate alloc;

use alloc::vec::Vec;

use process_once_sdk::{Alert, Error, Outcome, String, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let rebuilt = Alert {
        source_event_id: rebuild(event_id),
        device_id: rebuild(&alert.device_id),
        message: rebuild(&alert.message),
    };
    let tx = store::begin()?;
    let undo = |error| {
        tx.rollback();
        error
    };
    if !tx.try_mark(&rebuild(&alert.source_event_id)).map_err(undo)? {
        tx.rollback();
        return Ok(Outcome::AlreadyApplied);
    }
    tx.save_alert(&rebuilt).map_err(undo)?;
    tx.commit().map_err(undo)?;
    Ok(Outcome::Applied)
}

/// Turns a text round, and round again.
fn rebuild(text: &str) -> String {
    let turned: Vec<char> = text.chars().rev().collect();
    turned.into_iter().rev().collect()
}
