//! Right, and odd: it remembers how each event ended the last time, and asks the store all the same.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

/// The last answer to each event; none for an error.
static ANSWERS: Mutex<BTreeMap<String, Option<Outcome>>> = Mutex::new(BTreeMap::new());

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let answer = apply(event_id, alert);
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    let before = answers.insert(event_id.to_owned(), answer.as_ref().ok().copied());
    if before == Some(None) && matches!(answer, Ok(Outcome::AlreadyApplied)) {
        eprintln!("{event_id}: the commit had happened, or somebody else's had");
    }
    answer
}

fn apply(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
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
    Ok(Outcome::Applied)
}
