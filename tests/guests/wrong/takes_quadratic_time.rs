//! Breaks R14: its time grows with the square of the message, and the longest takes too much.
//!
//! Expected:
//! - R14: the guest used up its 1,000,000,000 units of fuel
#![no_std]

use core::hint::black_box;

use process_once_sdk::{Alert, Error, Outcome};
use wrong_guests::apply;

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    // How many pairs of bytes are equal, which nobody asked for.
    let bytes = alert.message.as_bytes();
    let equal_to_earlier = |(n, byte)| bytes[..n].iter().filter(|earlier| *earlier == byte).count();
    black_box(bytes.iter().enumerate().map(equal_to_earlier).sum::<usize>());
    apply(event_id, alert)
}
