//! Breaks R14: it traps once it has rolled back a duplicate.
//!
//! Expected:
//! - R14: the guest trapped: wasm trap: wasm `unreachable` instruction executed
#![no_std]
#![expect(clippy::panic, reason = "that it traps is what it is for")]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    match apply(event_id, alert)? {
        Outcome::AlreadyApplied => panic!(),
        outcome => Ok(outcome),
    }
}
