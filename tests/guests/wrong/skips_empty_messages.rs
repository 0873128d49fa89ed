//! Breaks R3: it answers `already-applied` without asking where there is nothing to say.
//!
//! Expected:
//! - R3: already-applied was returned, but begin was never called
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    if alert.message.is_empty() {
        return Ok(Outcome::AlreadyApplied);
    }
    apply(event_id, alert)
}
