//! Breaks R1: it undoes a new event and answers `already-applied` although `try-mark` said true.
//!
//! Expected:
//! - R1: rollback was called although nothing had failed
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, _: &Alert) -> Result<Outcome, Error> {
    let tx = store::begin()?;
    let undo = |error| {
        tx.rollback();
        error
    };
    tx.try_mark(event_id).map_err(undo)?;
    tx.rollback();
    Ok(Outcome::AlreadyApplied)
}
