//! Breaks R14: it makes up an error where `begin` failed.
//!
//! Expected:
//! - R14: the guest broke the rules of handles: unknown handle index 1000
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let tx = store::begin().map_err(|_| forged())?;
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

fn forged() -> Error {
    // SAFETY: the handle is nobody's, and the host traps when it is returned. It is dropped by nobody.
    unsafe { Error::from_handle(1_000) }
}
