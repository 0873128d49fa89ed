//! Breaks R1 and R12: it answers `already-applied` for what it has applied itself.
//!
//! Expected:
//! - R1: already-applied was returned after commit succeeded
//! - R12: already-applied was returned, but the commit in doubt had not happened
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    apply(event_id, alert)?;
    Ok(Outcome::AlreadyApplied)
}
