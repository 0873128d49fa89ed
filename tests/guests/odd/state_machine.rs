//! Right, and odd: a loop over a state, which owns the transaction and hands it on.
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, Tx, store};

process_once_sdk::export!(process_once);

enum State {
    Started,
    Begun(Tx),
    Marked(Tx),
    Saved(Tx),
    Undoing(Tx, Result<Outcome, Error>),
    Ended(Result<Outcome, Error>),
}
use State::{Begun, Ended, Marked, Saved, Started, Undoing};

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let mut state = Started;
    loop {
        state = match state {
            Started => store::begin().map_or_else(|error| Ended(Err(error)), Begun),
            Begun(tx) => match tx.try_mark(event_id) {
                Ok(true) => Marked(tx),
                Ok(false) => Undoing(tx, Ok(Outcome::AlreadyApplied)),
                Err(error) => Undoing(tx, Err(error)),
            },
            Marked(tx) => match tx.save_alert(alert) {
                Ok(()) => Saved(tx),
                Err(error) => Undoing(tx, Err(error)),
            },
            Saved(tx) => match tx.commit() {
                Ok(()) => Ended(Ok(Outcome::Applied)),
                Err(error) => Undoing(tx, Err(error)),
            },
            Undoing(tx, answer) => {
                tx.rollback();
                Ended(answer)
            }
            Ended(answer) => return answer,
        };
    }
}
