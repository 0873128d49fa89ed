//! Right, and odd: no call on the transaction stands in `process_once`; boxed steps make them.
#![no_std]

extern crate alloc;

use alloc::boxed::Box;

use process_once_sdk::{Alert, Error, Outcome, Tx, store};

process_once_sdk::export!(process_once);

/// One step of the transaction; tells whether there is more to do.
trait Step {
    fn take(&self, tx: &Tx, alert: &Alert) -> Result<bool, Error>;
}

struct Mark;
struct Save;
struct Commit;

impl Step for Mark {
    fn take(&self, tx: &Tx, alert: &Alert) -> Result<bool, Error> {
        tx.try_mark(&alert.source_event_id)
    }
}

impl Step for Save {
    fn take(&self, tx: &Tx, alert: &Alert) -> Result<bool, Error> {
        tx.save_alert(alert).map(|()| true)
    }
}

impl Step for Commit {
    fn take(&self, tx: &Tx, _: &Alert) -> Result<bool, Error> {
        tx.commit().map(|()| true)
    }
}

fn process_once(_: &str, alert: &Alert) -> Result<Outcome, Error> {
    let steps: [Box<dyn Step>; 3] = [Box::new(Mark), Box::new(Save), Box::new(Commit)];
    let tx = store::begin()?;
    for step in steps {
        match step.take(&tx, alert) {
            Ok(true) => {}
            stopped => {
                tx.rollback();
                return stopped.map(|_| Outcome::AlreadyApplied);
            }
        }
    }
    Ok(Outcome::Applied)
}
