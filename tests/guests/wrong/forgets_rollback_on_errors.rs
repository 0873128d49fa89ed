//! Breaks R5, R6 and R7: it returns each error straight away, and leaves the rollback to the drop.
//!
//! Expected:
//! - R5: an error was returned, but rollback was never called
//! - R6: an error was returned, but rollback was never called
//! - R7: an error was returned, but rollback was never called
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let tx = store::begin()?;
    if !tx.try_mark(event_id)? {
        tx.rollback();
        return Ok(Outcome::AlreadyApplied);
    }
    tx.save_alert(alert)?;
    tx.commit()?;
    Ok(Outcome::Applied)
}
