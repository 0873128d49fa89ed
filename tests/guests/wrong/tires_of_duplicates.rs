//! Breaks R11: it answers `unknown` to the second duplicate of an event that it has applied itself.
//!
//! Expected:
//! - R11: unknown was returned for an event that an earlier delivery had applied
#![no_std]

extern crate alloc;

use alloc::collections::BTreeMap;

use process_once_sdk::{Alert, Error, Outcome, String};
use wrong_guests::{Kept, apply};

process_once_sdk::export!(process_once);

/// How often each event that was applied here came again.
static DUPLICATES: Kept<BTreeMap<String, u32>> = Kept::new(BTreeMap::new());

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let outcome = apply(event_id, alert)?;
    DUPLICATES.with(|duplicates| match (outcome, duplicates.get_mut(event_id)) {
        (Outcome::AlreadyApplied, Some(count)) => {
            *count += 1;
            Ok(if *count == 2 { Outcome::Unknown } else { outcome })
        }
        (Outcome::Applied, _) => {
            duplicates.insert(event_id.into(), 0);
            Ok(outcome)
        }
        _ => Ok(outcome),
    })
}
