//! Breaks R10: it makes each CRLF of the message an LF.
//!
//! Expected:
//! - R10: save-alert was given an alert that differs from the event's alert
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let mut other = alert.clone();
    other.message = alert.message.replace("\r\n", "\n");
    apply(event_id, &other)
}
