//! The reference guest: one event, one transaction, one outcome.
//!
//! The rules R1 to R14 are those of `wit/README.md`.
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

/// Applies the event unless it has been applied before.
fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    // R4: without a transaction there is nothing to undo.
    let tx = store::begin()?;

    // R5, R6, R7: roll back once, then return the store's own error, whatever it says.
    let undo = |error| {
        tx.rollback();
        error
    };

    // R3: a committed marker exists, so the alert does as well.
    if !tx.try_mark(event_id).map_err(undo)? {
        tx.rollback();
        return Ok(Outcome::AlreadyApplied);
    }

    // R1: marker and alert become durable together, and only then is the event applied.
    tx.save_alert(alert).map_err(undo)?;
    tx.commit().map_err(undo)?;
    Ok(Outcome::Applied)
    // R13: `tx` is dropped here, on every path, before the answer leaves.
}
