//! Right, and odd: the calls are closures that are made before anything is known, and a fold runs them.
#![no_std]

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let tx = store::begin()?;
    let steps: [&dyn Fn() -> Result<bool, Error>; 3] =
        [&|| tx.try_mark(event_id), &|| tx.save_alert(alert).map(|()| true), &|| {
            tx.commit().map(|()| true)
        }];
    match steps.iter().try_fold(true, |new, step| if new { step() } else { Ok(false) }) {
        Ok(true) => Ok(Outcome::Applied),
        undone => {
            tx.rollback();
            undone.map(|_| Outcome::AlreadyApplied)
        }
    }
}
