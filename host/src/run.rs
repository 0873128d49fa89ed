//! The consumer: fetch, process, acknowledge, and never another order.
//!
//! Invariants:
//! - An event is acknowledged only after its handler answered `applied` or `already-applied`, and
//!   after all that the caller wants to see of it was handed over.
//! - After the first failure nothing more is fetched, processed or acknowledged.

use std::future::Future;
use std::io;
use std::pin::pin;

use crate::handle::Handle;
use crate::processor::{Delivery, Failure, Outcome};
use crate::source::{Offset, Received, Source};

/// How many events came to which end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events that were applied.
    pub applied: u64,
    /// Events that had been applied before.
    pub already_applied: u64,
}

impl Counts {
    /// All events that were handled and acknowledged.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.applied + self.already_applied
    }
}

/// Why a consumer stopped before the end of its stream.
#[derive(Debug, thiserror::Error)]
pub enum Stop<E> {
    /// A delivery failed; the event is not acknowledged and will come again.
    #[error("the event {:?} at {offset} was not handled", offset.event_id)]
    Delivery {
        /// Where the event stands.
        offset: Offset,
        /// Why it was not handled.
        source: Failure,
    },
    /// The source could not go on.
    #[error(transparent)]
    Source(E),
    /// What was to be shown of a delivery could not be; the event is not acknowledged.
    #[error("the event {:?} at {offset} was handled, but that could not be written down", offset.event_id)]
    Watch {
        /// Where the event stands.
        offset: Offset,
        /// What the system says.
        source: io::Error,
    },
}

/// Consumes `source` until it ends, `drain` resolves, or something fails. `watch` sees every
/// delivery before it is acknowledged.
///
/// When `drain` resolves, no new event is taken and the one under way comes to its end. What was
/// done is acknowledged durably in every case.
///
/// # Errors
/// Why it stopped early; the counts are right all the same. An acknowledgement that did not become
/// durable after a failed delivery does not hide that failure: it only means a redelivery.
pub async fn consume<S: Source>(
    source: &mut S,
    handle: &Handle,
    drain: impl Future<Output = ()>,
    mut watch: impl FnMut(&Received, &Delivery) -> io::Result<()>,
) -> (Counts, Result<(), Stop<S::Error>>) {
    let mut counts = Counts::default();
    let mut drain = pin!(drain);
    let ended = loop {
        let next = tokio::select! {
            biased;
            () = &mut drain => break Ok(()),
            next = source.next() => next,
        };
        let received = match next {
            Ok(Some(received)) => received,
            Ok(None) => break Ok(()),
            Err(error) => break Err(Stop::Source(error)),
        };
        if let Err(stop) = handle_one(source, handle, &received, &mut watch, &mut counts).await {
            break Err(stop);
        }
    };
    let flushed = source.flush().await.map_err(Stop::Source);
    (counts, ended.and(flushed))
}

/// Processes one event and acknowledges it.
async fn handle_one<S: Source>(
    source: &mut S,
    handle: &Handle,
    received: &Received,
    watch: &mut impl FnMut(&Received, &Delivery) -> io::Result<()>,
    counts: &mut Counts,
) -> Result<(), Stop<S::Error>> {
    let offset = || received.offset.clone();
    let delivery = handle.deliver(received.event.clone()).await;
    let watched = watch(received, &delivery);
    let outcome = delivery.answer.map_err(|source| Stop::Delivery { offset: offset(), source })?;
    watched.map_err(|source| Stop::Watch { offset: offset(), source })?;
    source.ack(&received.offset).await.map_err(Stop::Source)?;
    match outcome {
        Outcome::Applied => counts.applied += 1,
        Outcome::AlreadyApplied => counts.already_applied += 1,
    }
    Ok(())
}
