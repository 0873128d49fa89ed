//! A guest of process-once: handles an event that may come again, logically once.
//!
//! `wit/README.md` has the rules, R1 to R14, that it must keep.

wit_bindgen::generate!({ path: "wit", world: "guest" });

use exports::process_once::alerts::processor::Guest;
use process_once::alerts::store;
use process_once::alerts::types::{Alert, Outcome};

struct Component;

export!(Component);

impl Guest for Component {
    /// Applies the event, unless it has been applied before.
    fn process_once(event_id: String, alert: Alert) -> Result<Outcome, store::Error> {
        // To be written: ask the store whether the event is new; if it is, store its marker and its
        // alert in one transaction. The README.md of this project goes there step by step.
        let _ = (event_id, alert);
        Ok(Outcome::Unknown)
    }
}
