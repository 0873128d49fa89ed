//! Breaks R14: it computes for ever in start-up.
//!
//! Expected:
//! - R14: in start-up, the guest used up its 1,000,000,000 units of fuel
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
    loop {
        core::hint::spin_loop();
    }
}
