//! Breaks R4, R5, R6, R7, R8 and R13: it keeps each error for the next delivery that fails, and returns the one from before.
//!
//! Expected:
//! - R4: unknown was returned after begin failed
//! - R5: unknown was returned after try-mark failed
//! - R6: unknown was returned after save-alert failed
//! - R7: unknown was returned after commit failed
//! - R8: the error returned is not the one of begin
//! - R13: 1 handle was still held when the call returned
#![no_std]

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::{Kept, apply};

process_once_sdk::export!(process_once);

static KEPT: Kept<Option<Error>> = Kept::new(None);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    apply(event_id, alert)
        .or_else(|error| KEPT.with(|kept| kept.replace(error)).map_or(Ok(Outcome::Unknown), Err))
}
