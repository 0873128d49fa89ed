//! Breaks R14: it traps in post-return, once it has given its answer.
//!
//! Expected:
//! - R14: the guest trapped: wasm trap: wasm `unreachable` instruction executed
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    apply(event_id, alert)
}

/// What the host calls when it has read the answer.
#[cfg(target_arch = "wasm32")]
#[expect(clippy::panic, reason = "that it traps is what it is for")]
#[unsafe(export_name = "cabi_post_process-once:alerts/processor@0.1.0#process-once")]
extern "C" fn post_return(_: *const u8) {
    panic!();
}
