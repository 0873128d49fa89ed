//! Breaks R2: a guard rolls its transaction back whenever it is dropped, committed or not.
//!
//! Expected:
//! - R2: rollback was called after commit had succeeded
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, Tx, store};

process_once_sdk::export!(process_once);

struct Transaction(Tx);

impl Drop for Transaction {
    fn drop(&mut self) {
        self.0.rollback();
    }
}

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let Transaction(tx) = &Transaction(store::begin()?);
    if !tx.try_mark(event_id)? {
        return Ok(Outcome::AlreadyApplied);
    }
    tx.save_alert(alert)?;
    tx.commit()?;
    Ok(Outcome::Applied)
}
