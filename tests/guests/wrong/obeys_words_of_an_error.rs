//! Breaks R6: it takes an error of save-alert that speaks of a constraint for an event already applied.
//!
//! Expected:
//! - R6: already-applied was returned after save-alert failed
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
    if let Err(error) = tx.save_alert(alert).map_err(undo) {
        let duplicate = error.message().contains("UNIQUE");
        return if duplicate { Ok(Outcome::AlreadyApplied) } else { Err(error) };
    }
    tx.commit().map_err(undo)?;
    Ok(Outcome::Applied)
}
