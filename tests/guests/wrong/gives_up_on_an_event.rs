//! Breaks R3: it answers `already-applied` without asking once two deliveries of the event have failed to begin.
//!
//! Expected:
//! - R3: already-applied was returned, but begin was never called
#![no_std]

extern crate alloc;

use alloc::collections::BTreeMap;

use process_once_sdk::{Alert, Error, Outcome, String, store};
use wrong_guests::Kept;

process_once_sdk::export!(process_once);

/// How often each event failed to begin.
static FAILURES: Kept<BTreeMap<String, u32>> = Kept::new(BTreeMap::new());

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    if FAILURES.with(|failures| failures.get(event_id) == Some(&2)) {
        return Ok(Outcome::AlreadyApplied);
    }
    let tx = store::begin().inspect_err(|_| {
        FAILURES.with(|failures| *failures.entry(event_id.into()).or_default() += 1);
    })?;
    // An event that has begun once is not given up any more.
    FAILURES.with(|failures| failures.insert(event_id.into(), 3));
    let undo = |error| {
        tx.rollback();
        error
    };
    if !tx.try_mark(event_id).map_err(undo)? {
        tx.rollback();
        return Ok(Outcome::AlreadyApplied);
    }
    tx.save_alert(alert).map_err(undo)?;
    tx.commit().map_err(undo)?;
    Ok(Outcome::Applied)
}
