//! Breaks R14: it traps in start-up, before any delivery.
//!
//! Expected:
//! - R14: in start-up, the guest trapped: wasm trap: wasm `unreachable` instruction executed
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};

process_once_sdk::export!(process_once);

fn process_once(_: &str, _: &Alert) -> Result<Outcome, Error> {
    Ok(Outcome::Unknown)
}

/// What the component runs when it is instantiated.
#[cfg(target_arch = "wasm32")]
#[expect(clippy::panic, reason = "that it traps is what it is for")]
#[unsafe(no_mangle)]
extern "C" fn _initialize() {
    panic!();
}
