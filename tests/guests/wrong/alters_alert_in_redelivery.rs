//! Breaks R10: it adds to the message of an event that it has seen before.
//!
//! Expected:
//! - R10: save-alert was given an alert that differs from the event's alert
#![no_std]

extern crate alloc;

use alloc::collections::BTreeSet;

use process_once_sdk::{Alert, Error, Outcome, String};
use wrong_guests::{Kept, apply};

process_once_sdk::export!(process_once);

static SEEN: Kept<BTreeSet<String>> = Kept::new(BTreeSet::new());

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let mut other = alert.clone();
    if !SEEN.with(|seen| seen.insert(event_id.into())) {
        other.message.push_str(" (again)");
    }
    apply(event_id, &other)
}
