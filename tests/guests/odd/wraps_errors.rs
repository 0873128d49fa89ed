//! Right, and odd: each error travels in a type of the guest's own, and is taken out of it at the end.
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, Tx, store};

process_once_sdk::export!(process_once);

/// Why the event was not applied.
enum Stopped {
    Known,
    NotBegun(Error),
    Failed { call: &'static str, error: Error },
}

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    match begin(event_id, alert) {
        Ok(()) => Ok(Outcome::Applied),
        Err(Stopped::Known) => Ok(Outcome::AlreadyApplied),
        Err(Stopped::NotBegun(error)) => Err(error),
        Err(Stopped::Failed { call, error }) => {
            // For a log that nobody keeps.
            core::hint::black_box(call);
            Err(error)
        }
    }
}

fn begin(event_id: &str, alert: &Alert) -> Result<(), Stopped> {
    let tx = store::begin().map_err(Stopped::NotBegun)?;
    apply(&tx, event_id, alert).inspect_err(|_| tx.rollback())
}

fn apply(tx: &Tx, event_id: &str, alert: &Alert) -> Result<(), Stopped> {
    let failed = |call| move |error| Stopped::Failed { call, error };
    if !tx.try_mark(event_id).map_err(failed("try-mark"))? {
        return Err(Stopped::Known);
    }
    tx.save_alert(alert).map_err(failed("save-alert"))?;
    tx.commit().map_err(failed("commit"))
}
