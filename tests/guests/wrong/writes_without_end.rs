//! Breaks R14: it writes to stderr for ever.
//!
//! Expected:
//! - R14: the guest used up its 1,000,000,000 units of fuel

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, _: &Alert) -> Result<Outcome, Error> {
    let _tx = store::begin()?;
    loop {
        eprintln!("{event_id} has come");
    }
}
