//! Breaks R9: it rolls back a commit that failed and does everything again.
//!
//! Expected:
//! - R9: begin was called a second time
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, store};
use wrong_guests::apply;

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
        return apply(event_id, alert);
    }
    Ok(Outcome::Applied)
}
