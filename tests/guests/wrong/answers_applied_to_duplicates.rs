//! Breaks R3, R11 and R12: it rolls back a duplicate as it should, and answers `applied`.
//!
//! Expected:
//! - R3: applied was returned after try-mark said false
//! - R11: applied was returned for an event that an earlier delivery had applied
//! - R12: applied was returned, but the commit in doubt had happened
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    apply(event_id, alert)?;
    Ok(Outcome::Applied)
}
