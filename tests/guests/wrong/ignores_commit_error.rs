//! Breaks R7: it answers `applied` although its commit failed.
//!
//! Expected:
//! - R7: applied was returned after commit failed
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
    if tx.commit().is_err() {
        tx.rollback();
    }
    Ok(Outcome::Applied)
}
