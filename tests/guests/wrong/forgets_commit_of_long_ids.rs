//! Breaks R1: it answers `applied` without a commit where the id has 256 bytes or more.
//!
//! Expected:
//! - R1: applied was returned, but the alert was saved and commit was never called
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
    if event_id.len() < 256 {
        tx.commit().map_err(undo)?;
    }
    Ok(Outcome::Applied)
}
