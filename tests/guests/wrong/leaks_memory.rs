//! Breaks R14: it keeps 40 KiB of each delivery for ever.
//!
//! Expected:
//! - R14: the guest ran out of memory: wasm trap: wasm `unreachable` instruction executed
#![no_std]

extern crate alloc;

use alloc::vec::Vec;
use core::hint::black_box;
use core::mem::forget;

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    forget(black_box(Vec::<u8>::with_capacity(40 << 10)));
    apply(event_id, alert)
}
