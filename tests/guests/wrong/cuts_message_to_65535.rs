//! Breaks R10: it cuts a message to 65,535 bytes, one less than the longest has.
//!
//! Expected:
//! - R10: save-alert was given an alert that differs from the event's alert
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let mut other = alert.clone();
    other.message.truncate(alert.message.floor_char_boundary(65_535));
    apply(event_id, &other)
}
