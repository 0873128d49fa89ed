//! Breaks R14: it computes for ever in its transaction.
//!
//! Expected:
//! - R14: the guest used up its 1,000,000,000 units of fuel
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(_: &str, _: &Alert) -> Result<Outcome, Error> {
    let _tx = store::begin()?;
    loop {
        core::hint::spin_loop();
    }
}
