//! Breaks R10: it marks the device in place of the event.
//!
//! Expected:
//! - R10: try-mark was given an event id that differs from the event's id
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(_: &str, alert: &Alert) -> Result<Outcome, Error> {
    apply(&alert.device_id, alert)
}
