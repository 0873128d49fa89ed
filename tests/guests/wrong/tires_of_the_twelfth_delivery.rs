//! Breaks R11: at the twelfth delivery of an event it answers `unknown`, whatever came of it.
//!
//! Expected:
//! - R11: unknown was returned for an event that an earlier delivery had applied
#![no_std]

extern crate alloc;

use alloc::collections::BTreeMap;

use process_once_sdk::{Alert, Error, Outcome, String};
use wrong_guests::{Kept, apply};

process_once_sdk::export!(process_once);

static DELIVERIES: Kept<BTreeMap<String, u32>> = Kept::new(BTreeMap::new());

// No event came as often in the random walk, and it passed.
fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let outcome = apply(event_id, alert)?;
    let count = DELIVERIES.with(|deliveries| {
        let count = deliveries.entry(event_id.into()).or_default();
        *count += 1;
        *count
    });
    Ok(if count == 12 { Outcome::Unknown } else { outcome })
}
