//! Right, and odd: it reads the message of an error ten times before it rolls back, and keeps the text.

use std::sync::{Mutex, PoisonError};

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

/// What the last error said.
static LAST: Mutex<String> = Mutex::new(String::new());

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let tx = store::begin().inspect_err(read)?;
    let undo = |error| {
        read(&error);
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

fn read(error: &Error) {
    for _ in 0..10 {
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = error.message();
    }
}
