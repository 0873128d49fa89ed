//! Breaks R11: it answers `applied` to the first duplicate of an event that it has applied itself.
//!
//! Expected:
//! - R11: applied was returned for an event that an earlier delivery had applied
#![no_std]

extern crate alloc;

use alloc::collections::BTreeSet;

use process_once_sdk::{Alert, Error, Outcome, String};
use wrong_guests::{Kept, apply};

process_once_sdk::export!(process_once);

static APPLIED: Kept<BTreeSet<String>> = Kept::new(BTreeSet::new());

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let outcome = apply(event_id, alert)?;
    let own = APPLIED.with(|applied| match outcome {
        Outcome::Applied => applied.insert(event_id.into()),
        _ => applied.remove(event_id),
    });
    Ok(if own { Outcome::Applied } else { outcome })
}
