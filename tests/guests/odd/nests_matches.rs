//! Right, and odd: a pyramid of matches with a rollback at each of its edges.
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    match store::begin() {
        Ok(tx) => match tx.try_mark(event_id) {
            Ok(true) => match tx.save_alert(alert) {
                Ok(()) => match tx.commit() {
                    Ok(()) => Ok(Outcome::Applied),
                    Err(error) => {
                        tx.rollback();
                        Err(error)
                    }
                },
                Err(error) => {
                    tx.rollback();
                    Err(error)
                }
            },
            Ok(false) => {
                tx.rollback();
                Ok(Outcome::AlreadyApplied)
            }
            Err(error) => {
                tx.rollback();
                Err(error)
            }
        },
        Err(error) => Err(error),
    }
}
