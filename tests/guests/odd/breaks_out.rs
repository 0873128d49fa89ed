//! Right, and odd: the one rollback stands at the end, and every path but the applied one breaks out to it.
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let tx = store::begin()?;
    let undone = 'undo: {
        match tx.try_mark(event_id) {
            Ok(true) => {}
            Ok(false) => break 'undo Ok(Outcome::AlreadyApplied),
            Err(error) => break 'undo Err(error),
        }
        if let Err(error) = tx.save_alert(alert) {
            break 'undo Err(error);
        }
        if let Err(error) = tx.commit() {
            break 'undo Err(error);
        }
        return Ok(Outcome::Applied);
    };
    tx.rollback();
    undone
}
