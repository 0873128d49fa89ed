//! Breaks R7, R8 and R13: it keeps the error of a failed commit, and returns it in place of the next `applied`.
//!
//! Expected:
//! - R7: unknown was returned after commit failed
//! - R8: the error returned was not handed out in this delivery
//! - R13: 1 handle was still held when the call returned
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, store};
use wrong_guests::Kept;

process_once_sdk::export!(process_once);

static OLD: Kept<Option<Error>> = Kept::new(None);

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
    if let Err(error) = tx.commit() {
        tx.rollback();
        OLD.with(|old| *old = Some(error));
        return Ok(Outcome::Unknown);
    }
    OLD.with(Option::take).map_or(Ok(Outcome::Applied), Err)
}
