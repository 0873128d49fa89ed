//! Right, and odd: each step is taken by a call within the last one, and it recurses deeply beside that, in
//! its stack and in the part of it that lies in memory.
#![no_std]

use core::hint::black_box;

use process_once_sdk::{Alert, Error, Outcome, Tx, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    black_box((mix(2_000), add(100)));
    let tx = store::begin()?;
    let answer = step(&tx, event_id, alert, 0);
    if !matches!(answer, Ok(Outcome::Applied)) {
        tx.rollback();
    }
    answer
}

/// Takes a step and those after it.
fn step(tx: &Tx, event_id: &str, alert: &Alert, number: u32) -> Result<Outcome, Error> {
    match number {
        0 if !tx.try_mark(event_id)? => return Ok(Outcome::AlreadyApplied),
        0 => {}
        1 => tx.save_alert(alert)?,
        2 => tx.commit()?,
        _ => return Ok(Outcome::Applied),
    }
    step(tx, event_id, alert, number + 1)
}

/// Recurses in the stack: what it does after the call prevents a loop from being made of it.
fn mix(depth: u64) -> u64 {
    if depth == 0 { 1 } else { mix(depth - 1).rotate_left(3) ^ depth }
}

/// Recurses in memory: some 10 KiB of the 16 KiB that a guest has.
fn add(depth: u64) -> u64 {
    let kept = black_box([depth; 8]);
    if depth == 0 { 0 } else { add(depth - 1) + kept.iter().sum::<u64>() }
}
