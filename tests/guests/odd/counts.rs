//! Right, and odd: it keeps counts from one delivery to the next, of events, answers and bytes; they
//! influence nothing.
#![no_std]

use core::sync::atomic::{AtomicUsize, Ordering};

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

static EVENTS: AtomicUsize = AtomicUsize::new(0);
static DUPLICATES: AtomicUsize = AtomicUsize::new(0);
static FAILURES: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    EVENTS.fetch_add(1, Ordering::Relaxed);
    let tx = store::begin().inspect_err(|_| {
        FAILURES.fetch_add(1, Ordering::Relaxed);
    })?;
    let undo = |error| {
        FAILURES.fetch_add(1, Ordering::Relaxed);
        tx.rollback();
        error
    };
    if !tx.try_mark(event_id).map_err(undo)? {
        DUPLICATES.fetch_add(1, Ordering::Relaxed);
        tx.rollback();
        return Ok(Outcome::AlreadyApplied);
    }
    tx.save_alert(alert).map_err(undo)?;
    tx.commit().map_err(undo)?;
    BYTES.fetch_add(alert.message.len(), Ordering::Relaxed);
    Ok(Outcome::Applied)
}
