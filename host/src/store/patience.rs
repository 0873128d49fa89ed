//! Waiting for another writer: try again, with pauses, until patience or the deadline ends.

use std::time::{Duration, Instant};

use super::{ErrorClass, StoreError};
use crate::deadline::{Deadline, Expired};

/// The first pause. Each is twice as long as the one before, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_micros(250);

/// An attempt costs microseconds, while a busy consumer lets go of the lock only for an instant
/// between two of its transactions: with long pauses its neighbour would hardly ever find it free.
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// Why [`patiently`] stopped without success.
pub(super) enum Stopped<E> {
    /// The attempt failed: not for want of the lock, or for want of it when patience had ended.
    Failed(E),
    /// The delivery ended while the lock was still held elsewhere; with the last attempt's error.
    Expired(Expired, E),
}

/// Repeats `attempt` for as long as it fails because the store `is_busy`.
///
/// It is tried at least once, and once more when `patience` has just ended.
pub(super) fn patiently<T, E>(
    patience: Duration,
    deadline: &Deadline,
    is_busy: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, Stopped<E>> {
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let error = match attempt() {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let left = patience.saturating_sub(started.elapsed());
        if !is_busy(&error) || left.is_zero() {
            return Err(Stopped::Failed(error));
        }
        if let Err(expired) = deadline.wait(pause.min(left)) {
            return Err(Stopped::Expired(expired, error));
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// [`patiently`], for the error type of the stores.
pub(super) fn wait_for_lock<T>(
    patience: Duration,
    deadline: &Deadline,
    attempt: impl FnMut() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let is_busy = |error: &StoreError| error.class() == ErrorClass::Busy;
    patiently(patience, deadline, is_busy, attempt).map_err(|stopped| match stopped {
        Stopped::Failed(error) => error,
        Stopped::Expired(expired, busy) => {
            let message = format!("{expired} while waiting for another writer");
            StoreError::from_driver(expired.into(), busy.code(), message, busy)
        }
    })
}
