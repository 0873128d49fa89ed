//! Breaks R3 and R12: it takes a commit that failed for one that had happened, and does not ask in the redelivery.
//!
//! Expected:
//! - R3: already-applied was returned, but begin was never called
//! - R12: already-applied was returned, but the commit in doubt had not happened
#![no_std]

extern crate alloc;

use alloc::collections::BTreeSet;

use process_once_sdk::{Alert, Error, Outcome, String, store};
use wrong_guests::Kept;

process_once_sdk::export!(process_once);

static IN_DOUBT: Kept<BTreeSet<String>> = Kept::new(BTreeSet::new());

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    if IN_DOUBT.with(|in_doubt| in_doubt.contains(event_id)) {
        return Ok(Outcome::AlreadyApplied);
    }
    let tx = store::begin()?;
    let undo = |error| {
        tx.rollback();
        error
    };
    if !tx.try_mark(event_id).map_err(undo)? {
        tx.rollback();
        return Ok(Outcome::AlreadyApplied);
    }
    tx.save_alert(alert).map_err(undo)?;
    tx.commit().map_err(|error| {
        IN_DOUBT.with(|in_doubt| in_doubt.insert(event_id.into()));
        undo(error)
    })?;
    Ok(Outcome::Applied)
}
