//! Breaks R10: it copies the message in pieces of 4 KiB, and loses a character that lies across two.
//!
//! Expected:
//! - R10: save-alert was given an alert that differs from the event's alert
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, String};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

// No text was long and wide at once, and it passed.
fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let pieces = alert.message.as_bytes().chunks(4 << 10);
    let message = pieces.map(|piece| String::from_utf8_lossy(piece).into_owned()).collect();
    apply(event_id, &Alert { message, ..alert.clone() })
}
