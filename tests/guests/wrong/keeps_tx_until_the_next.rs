//! Breaks R13: it keeps a transaction that it has committed until it commits the next.
//!
//! Expected:
//! - R13: 1 handle was still held when the call returned
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, Tx, store};
use wrong_guests::Kept;

process_once_sdk::export!(process_once);

static LAST: Kept<Option<Tx>> = Kept::new(None);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
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
    LAST.with(|last| *last = Some(tx));
    Ok(Outcome::Applied)
}
