//! Breaks R8 and R13: it keeps each error for the next delivery that fails, and returns the one from before.
#![no_std]

use core::cell::RefCell;

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

static KEPT: Kept = Kept(RefCell::new(None));

struct Kept(RefCell<Option<Error>>);

// SAFETY: a guest has one thread.
unsafe impl Sync for Kept {}

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    apply(event_id, alert)
        .or_else(|error| KEPT.0.replace(Some(error)).map_or(Ok(Outcome::Unknown), Err))
}

fn apply(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
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
    Ok(Outcome::Applied)
}
