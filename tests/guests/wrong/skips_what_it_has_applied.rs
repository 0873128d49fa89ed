//! Breaks R3: it remembers what it has applied, and answers without asking the store.
//!
//! Expected:
//! - R3: already-applied was returned, but begin was never called
#![no_std]

extern crate alloc;

use alloc::collections::BTreeSet;

use process_once_sdk::{Alert, Error, Outcome, String};
use wrong_guests::{Kept, apply};

process_once_sdk::export!(process_once);

static APPLIED: Kept<BTreeSet<String>> = Kept::new(BTreeSet::new());

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    if APPLIED.with(|applied| applied.contains(event_id)) {
        return Ok(Outcome::AlreadyApplied);
    }
    let outcome = apply(event_id, alert)?;
    APPLIED.with(|applied| applied.insert(event_id.into()));
    Ok(outcome)
}
