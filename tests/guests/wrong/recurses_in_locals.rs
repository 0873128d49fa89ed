//! Breaks R14: it recurses until its stack is used up, and takes none of its memory for that.
//!
//! Expected:
//! - R14: the guest used up its stack
#![no_std]

use core::hint::black_box;

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    black_box(recurse(event_id.len() as u64 + 1_000_000_000));
    apply(event_id, alert)
}

/// Holds nothing but numbers. What it does after the call prevents a loop from being made of it.
fn recurse(depth: u64) -> u64 {
    if depth == 0 { 1 } else { recurse(depth - 1).rotate_left(3) ^ depth }
}
