//! Right, and odd: it keeps a count that influences nothing, reads each error's message before it returns
//! the error, and writes to stderr.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

/// How many alerts each device has raised.
static DEVICES: LazyLock<Mutex<HashMap<String, u64>>> = LazyLock::new(Mutex::default);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let answer = apply(event_id, alert);
    match &answer {
        Ok(Outcome::Applied) => {
            let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
            let count = devices.entry(alert.device_id.clone()).or_default();
            *count += 1;
            eprintln!("{event_id}: alert {count} of its device");
        }
        Ok(outcome) => eprintln!("{event_id}: {outcome:?}"),
        Err(error) => eprintln!("{event_id}: {}", error.message()),
    }
    answer
}

fn apply(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let tx = store::begin()?;
    let answer = match tx.try_mark(event_id) {
        Ok(true) => match tx.save_alert(alert).and_then(|()| tx.commit()) {
            Ok(()) => return Ok(Outcome::Applied),
            Err(error) => Err(error),
        },
        Ok(false) => Ok(Outcome::AlreadyApplied),
        Err(error) => Err(error),
    };
    tx.rollback();
    answer
}
