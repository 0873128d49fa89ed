//! Right, and odd: it works in start-up, on a table for checksums that nobody asked for.
#![no_std]

use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering};

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

static TABLE: [AtomicU32; 256] = [const { AtomicU32::new(0) }; 256];

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    black_box(checksum(alert.message.as_bytes()));
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

/// CRC-32.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        let [low, ..] = sum.to_le_bytes();
        (sum >> 8) ^ TABLE[usize::from(low ^ byte)].load(Ordering::Relaxed)
    })
}

/// What the component runs when it is instantiated.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
extern "C" fn _initialize() {
    for (byte, entry) in (0..).zip(&TABLE) {
        let shift = |sum: u32, _| (sum >> 1) ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
        entry.store((0..8).fold(byte, shift), Ordering::Relaxed);
    }
}
