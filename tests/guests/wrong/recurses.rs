//! Breaks R14: it recurses until its stack is used up, the part of it that lies in its memory.
//!
//! Expected:
//! - R14: the guest trapped: wasm trap: out of bounds memory access
#![no_std]

use core::hint::black_box;

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(_: &str, _: &Alert) -> Result<Outcome, Error> {
    let _tx = store::begin()?;
    black_box(recurse(0));
    Ok(Outcome::Unknown)
}

/// Never returns. What it keeps for after the call prevents a loop from being made of it.
#[expect(unconditional_recursion, reason = "that it recurses is what it is for")]
fn recurse(depth: u64) -> u64 {
    let kept = black_box([depth; 8]);
    recurse(depth + 1) + kept.iter().sum::<u64>()
}
