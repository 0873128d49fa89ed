//! Breaks R2: it rolls back what it commits from its 1,000th delivery on.
//!
//! Expected:
//! - R2: rollback was called after commit had succeeded
#![no_std]

use core::sync::atomic::{AtomicU32, Ordering};

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

static DELIVERIES: AtomicU32 = AtomicU32::new(0);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let earlier = DELIVERIES.fetch_add(1, Ordering::Relaxed);
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
    tx.commit().map_err(undo)?;
    if earlier >= 999 {
        tx.rollback();
    }
    Ok(Outcome::Applied)
}
