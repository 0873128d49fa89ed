//! Breaks R14: it computes for ever where `commit` failed.
//!
//! Expected:
//! - R14: the guest used up its 1,000,000,000 units of fuel
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
        loop {
            core::hint::spin_loop();
        }
    }
    Ok(Outcome::Applied)
}
