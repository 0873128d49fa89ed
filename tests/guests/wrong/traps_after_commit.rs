//! Breaks R14: it traps once its commit has succeeded.
//!
//! Expected:
//! - R14: the guest trapped: wasm trap: wasm `unreachable` instruction executed
#![no_std]
#![expect(clippy::panic, reason = "that it traps is what it is for")]

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
    tx.commit().map_err(undo)?;
    panic!();
}
