//! Breaks R10: it replaces the characters of the message that UTF-16 writes in two units.
//!
//! Expected:
//! - R10: save-alert was given an alert that differs from the event's alert
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let mut other = alert.clone();
    other.message = alert.message.replace(|character| character > '\u{ffff}', "\u{fffd}");
    apply(event_id, &other)
}
