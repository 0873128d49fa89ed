//! Right, and odd: it takes 8 MiB for a large message, and gives it back before it returns.
#![no_std]

extern crate alloc;

use alloc::vec::Vec;
use core::hint::black_box;

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    let size = if alert.message.len() > 4 << 10 { 8 << 20 } else { 0 };
    let mut scratch = Vec::<u8>::with_capacity(size);
    for byte in scratch.spare_capacity_mut().iter_mut().step_by(4 << 10) {
        byte.write(1);
    }
    black_box(&scratch);

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
