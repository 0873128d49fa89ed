//! Breaks R14: it reads the message of an error a hundred times before it returns the error.
//!
//! Expected:
//! - R14: the guest made more than 64 calls of the store interface
#![no_std]

use core::hint::black_box;

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    apply(event_id, alert).inspect_err(|error| {
        for _ in 0..100 {
            black_box(error.message());
        }
    })
}
