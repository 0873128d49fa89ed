//! Who sees deliveries before they are acknowledged.

use std::io;

use crate::processor::{Failure, Outcome};
use crate::source::Received;
use crate::trace::CallTrace;

/// A delivery as it may be seen: what came of it is final.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The event, and where it stands.
    pub received: &'a Received,
    /// The outcome, or why there is none.
    pub answer: Result<Outcome, &'a Failure>,
    /// The calls, where they are recorded.
    pub trace: Option<&'a CallTrace>,
}

/// Sees every delivery before its event is acknowledged, in the order of delivery.
pub trait Watch {
    /// Sees a delivery.
    ///
    /// # Errors
    /// What was to be shown could not be: the event is not acknowledged.
    fn delivered(&mut self, seen: Seen<'_>) -> io::Result<()>;

    /// Makes sure that what was seen so far is where others can see it. Called before an
    /// acknowledgement.
    ///
    /// # Errors
    /// As for [`delivered`](Self::delivered), for any delivery since the last call.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<F: FnMut(Seen<'_>) -> io::Result<()>> Watch for F {
    fn delivered(&mut self, seen: Seen<'_>) -> io::Result<()> {
        self(seen)
    }
}
