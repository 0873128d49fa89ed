//! Breaks R9: it begins a second transaction to see whether the first has marked the event.
//!
//! Expected:
//! - R9: begin was called a second time
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, store};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let outcome = apply(event_id, alert)?;
    let tx = store::begin()?;
    let new = tx.try_mark(event_id)?;
    tx.rollback();
    Ok(if new { Outcome::Unknown } else { outcome })
}
