//! Breaks R10: it composes an `e` and an accent in the id.
//!
//! Expected:
//! - R10: try-mark was given an event id that differs from the event's id
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    apply(&event_id.replace("e\u{301}", "\u{e9}"), alert)
}
