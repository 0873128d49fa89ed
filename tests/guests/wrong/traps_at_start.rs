//! Breaks R14: it traps in start-up, before any delivery.
#![no_std]
#![expect(clippy::panic, reason = "that it traps is what it is for")]

use process_once_sdk::{Alert, Error, Outcome, String};

process_once_sdk::export!(process_once);

fn process_once(_: String, _: Alert) -> Result<Outcome, Error> {
    Ok(Outcome::Unknown)
}

/// What the component runs when it is instantiated.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
extern "C" fn _initialize() {
    panic!();
}
