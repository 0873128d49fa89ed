//! Breaks R10: it cuts an id to 1,023 bytes, one less than the longest has.
//!
//! Expected:
//! - R10: try-mark was given an event id that differs from the event's id
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    apply(&event_id[..event_id.floor_char_boundary(1_023)], alert)
}
