//! Breaks R14: it traps in the delivery after five that failed in a row.
//!
//! Expected:
//! - R14: the guest trapped: wasm trap: wasm `unreachable` instruction executed
#![no_std]
#![expect(clippy::panic, reason = "that it traps is what it is for")]

use core::sync::atomic::{AtomicU32, Ordering};

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

/// How many deliveries in a row have failed.
static FAILURES: AtomicU32 = AtomicU32::new(0);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let failures = FAILURES.load(Ordering::Relaxed);
    if failures == 5 {
        panic!();
    }
    let answer = apply(event_id, alert);
    FAILURES.store(if answer.is_err() { failures + 1 } else { 0 }, Ordering::Relaxed);
    answer
}
