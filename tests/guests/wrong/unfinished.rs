//! Breaks R1: it calls nothing and answers `unknown`.
//!
//! Expected:
//! - R1: unknown was returned, but begin was never called
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};

process_once_sdk::export!(process_once);

fn process_once(_: &str, _: &Alert) -> Result<Outcome, Error> {
    Ok(Outcome::Unknown)
}
