//! Breaks R1: it returns with its transaction neither committed nor rolled back.
//!
//! Expected:
//! - R1: unknown was returned, but try-mark said true and save-alert was never called
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, _: &Alert) -> Result<Outcome, Error> {
    let tx = store::begin()?;
    let undo = |error| {
        tx.rollback();
        error
    };
    if !tx.try_mark(event_id).map_err(undo)? {
        tx.rollback();
        return Ok(Outcome::AlreadyApplied);
    }
    Ok(Outcome::Unknown)
}
