//! Breaks R9: it calls `begin` for ever.
//!
//! Expected:
//! - R9: begin was called a second time
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(_: &str, _: &Alert) -> Result<Outcome, Error> {
    let _tx = store::begin()?;
    loop {
        // Each but the first is refused; the error is dropped.
        let _ = store::begin();
    }
}
