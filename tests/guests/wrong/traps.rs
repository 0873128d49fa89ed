//! Breaks R14: it traps in its transaction.
//!
//! Expected:
//! - R14: the guest trapped: wasm trap: wasm `unreachable` instruction executed
#![no_std]
#![expect(clippy::panic, reason = "that it traps is what it is for")]

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(_: &str, _: &Alert) -> Result<Outcome, Error> {
    let _tx = store::begin()?;
    panic!();
}
