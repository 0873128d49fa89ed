//! Breaks R9 and R13: it keeps its first transaction, and uses it in every later delivery.
//!
//! Expected:
//! - R9: try-mark was called on a transaction of another delivery
//! - R13: 1 handle was still held when the call returned
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, Tx, store};
use wrong_guests::Kept;

process_once_sdk::export!(process_once);

static TX: Kept<Option<Tx>> = Kept::new(None);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    TX.with(|kept| {
        let tx = match kept {
            Some(tx) => tx,
            None => kept.insert(store::begin()?),
        };
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
    })
}
