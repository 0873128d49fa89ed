//! Breaks R14: it takes memory until there is no more, and then traps.
//!
//! Expected:
//! - R14: the guest ran out of memory: wasm trap: wasm `unreachable` instruction executed
#![no_std]

extern crate alloc;

use alloc::vec::Vec;
use core::hint::black_box;

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(_: &str, _: &Alert) -> Result<Outcome, Error> {
    let _tx = store::begin()?;
    let mut eaten = Vec::new();
    loop {
        eaten.push(black_box(Vec::<u8>::with_capacity(1 << 20)));
    }
}
