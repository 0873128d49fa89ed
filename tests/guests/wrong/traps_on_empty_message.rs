//! Breaks R14: it traps where the message is empty.
//!
//! Expected:
//! - R14: the guest trapped: wasm trap: wasm `unreachable` instruction executed
#![no_std]
#![expect(clippy::panic, reason = "that it traps is what it is for")]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    if alert.message.is_empty() {
        panic!();
    }
    apply(event_id, alert)
}
