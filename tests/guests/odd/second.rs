//! Right, and odd: no path calls `rollback`; a guard does when it is dropped, unless the commit succeeded.
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, Tx, store};

process_once_sdk::export!(process_once);

/// A transaction that is undone unless its commit succeeded.
struct Transaction {
    tx: Tx,
    committed: bool,
}

impl Transaction {
    fn begin() -> Result<Self, Error> {
        Ok(Self { tx: store::begin()?, committed: false })
    }

    fn commit(mut self) -> Result<(), Error> {
        self.tx.commit()?;
        self.committed = true;
        Ok(())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.committed {
            self.tx.rollback();
        }
    }
}

fn process_once(_: &str, alert: &Alert) -> Result<Outcome, Error> {
    Ok(if apply(alert)? { Outcome::Applied } else { Outcome::AlreadyApplied })
}

/// Tells whether the alert was new.
fn apply(alert: &Alert) -> Result<bool, Error> {
    let transaction = Transaction::begin()?;
    // The event's id and the alert's are the same text in every delivery.
    let new = transaction.tx.try_mark(&alert.source_event_id)?;
    if new {
        transaction.tx.save_alert(alert)?;
        transaction.commit()?;
    }
    Ok(new)
}
