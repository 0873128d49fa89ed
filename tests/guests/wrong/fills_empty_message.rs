//! Breaks R10: it puts words where the message is empty.
//!
//! Expected:
//! - R10: save-alert was given an alert that differs from the event's alert
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let mut other = alert.clone();
    if other.message.is_empty() {
        other.message.push_str("(no message)");
    }
    apply(event_id, &other)
}
