//! The source: where events come from, at least once, and where they are acknowledged.

mod checkpoint;
pub mod jsonl;

use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;

use crate::event::Event;

/// Delivers events in order, each at least once, and remembers what was acknowledged.
///
/// The consumer calls [`next`](Source::next), handles the event, and then [`ack`](Source::ack),
/// never in another order. What was not acknowledged when the consumer ended comes again.
pub trait Source: Send {
    /// Why the source could not go on.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The next event, or `None` at the end of the stream.
    ///
    /// Dropping the future loses no event: the next call gives it.
    ///
    /// # Errors
    /// There is no next event, or it is not one; nothing behind it is delivered.
    fn next(&mut self) -> impl Future<Output = Result<Option<Received>, Self::Error>> + Send;

    /// The next events, as many as are at hand, at least one and at most `most`; none at the end of
    /// the stream.
    ///
    /// Dropping the future loses no event: the next call gives them.
    ///
    /// # Errors
    /// As for [`next`](Self::next).
    fn next_many(
        &mut self,
        most: NonZeroUsize,
    ) -> impl Future<Output = Result<Vec<Received>, Self::Error>> + Send {
        let _ = most;
        async { Ok(self.next().await?.into_iter().collect()) }
    }

    /// Acknowledges an event that was received, and with it all before it.
    ///
    /// The acknowledgement may become durable a little later; losing it in a crash causes a
    /// redelivery, never a skipped event.
    ///
    /// # Errors
    /// This acknowledgement, or an earlier one, could not be made durable.
    fn ack(&mut self, received: &Received) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Makes every acknowledgement so far durable; the consumer calls it once, before it ends.
    ///
    /// # Errors
    /// The newest acknowledgements could not be made durable: those events will come again.
    fn flush(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// An event as it came, with the place that acknowledges it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The event to handle.
    pub event: Event,
    /// Where it stands in the stream.
    pub offset: Offset,
}

/// A place in the stream: just behind one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// Bytes from the start of the stream to the end of the event's line, its line end included.
    pub byte: u64,
    /// The number of the event's line, from 1.
    pub line: u64,
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)
    }
}
