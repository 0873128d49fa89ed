//! Breaks R14: it traps in its 1,000th delivery, and in no other.
//!
//! Expected:
//! - R14: the guest trapped: wasm trap: wasm `unreachable` instruction executed
#![no_std]
#![expect(clippy::panic, reason = "that it traps is what it is for")]

use core::sync::atomic::{AtomicU32, Ordering};

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

static DELIVERIES: AtomicU32 = AtomicU32::new(0);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    if DELIVERIES.fetch_add(1, Ordering::Relaxed) == 999 {
        panic!();
    }
    apply(event_id, alert)
}
