//! Right, and odd: it drops the transaction before it looks at what came of it, and reads the error then.
#![no_std]

use core::hint::black_box;

use process_once_sdk::{Alert, Error, Outcome, Tx, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let tx = store::begin()?;
    let applied = apply(&tx, event_id, alert);
    if !matches!(applied, Ok(true)) {
        tx.rollback();
    }
    drop(tx);
    match applied {
        Ok(true) => Ok(Outcome::Applied),
        Ok(false) => Ok(Outcome::AlreadyApplied),
        Err(error) => {
            black_box(error.message());
            Err(error)
        }
    }
}

/// Tells whether the event was new.
fn apply(tx: &Tx, event_id: &str, alert: &Alert) -> Result<bool, Error> {
    let new = tx.try_mark(event_id)?;
    if new {
        tx.save_alert(alert)?;
        tx.commit()?;
    }
    Ok(new)
}
