//! Breaks R9: it begins and rolls back a transaction in start-up, to see whether the store is there.
//!
//! Expected:
//! - R9: begin was called outside of a delivery
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    apply(event_id, alert)
}

/// What the component runs when it is instantiated.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
extern "C" fn _initialize() {
    if let Ok(tx) = process_once_sdk::store::begin() {
        tx.rollback();
    }
}
