//! Breaks R10: it adds to the id of a device that has exactly 255 bytes.
//!
//! Expected:
//! - R10: save-alert was given an alert that differs from the event's alert
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let mut other = alert.clone();
    if other.device_id.len() == 255 {
        other.device_id.push('.');
    }
    apply(event_id, &other)
}
