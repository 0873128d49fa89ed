//! Breaks R10: it names the device where the alert names none.
//!
//! Expected:
//! - R10: save-alert was given an alert that differs from the event's alert
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let mut other = alert.clone();
    if other.device_id.is_empty() {
        other.device_id.push_str("unknown");
    }
    apply(event_id, &other)
}
