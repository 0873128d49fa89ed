//! The consumer: fetch, process, acknowledge, and never another order.
//!
//! [`consume`] is the plain way, one transaction per event; [`consume_in_batches`] lets many share a
//! durable commit, and nobody can tell the difference but by the time it takes.
//!
//! Invariants:
//! - An event is acknowledged only after its handler answered `applied` or `already-applied`, and
//!   after all that the caller wants to see of it was handed over.
//! - After the first failure nothing more is processed or acknowledged. Events are fetched ahead, so
//!   that the guest does not wait for this side, but a delivery begins only when all before it
//!   succeeded.

pub mod batch;
mod watch;

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::time::Duration;

pub use self::batch::consume_in_batches;
pub use self::watch::{Seen, Watch};

use crate::handle::{Handle, Submitted};
use crate::processor::{Delivery, Failure, FailureReason, Outcome};
use crate::source::{Offset, Received, Source};
use crate::store::StoreError;

/// How many events are fetched ahead of the one that is acknowledged next.
const AHEAD: usize = 16;

/// How long an acknowledgement may wait for others to be made with it.
const NAP: Duration = Duration::from_millis(1);

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

    fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Applied => self.applied += 1,
            Outcome::AlreadyApplied => self.already_applied += 1,
        }
    }
}

/// Why a consumer stopped before the end of its stream.
#[derive(Debug, thiserror::Error)]
pub enum Stop<E> {
    /// A delivery failed; the event is not acknowledged and will come again.
    #[error("the event {event_id:?} at {offset} was not handled")]
    Delivery {
        /// The event's id.
        event_id: String,
        /// Where it stands.
        offset: Offset,
        /// Why it was not handled.
        source: Failure,
    },
    /// It is not known whether a commit happened; the events are not acknowledged and will come
    /// again, which settles it.
    #[error(
        "the commit of {events} events, from the event {event_id:?} at {offset} on, is in doubt"
    )]
    InDoubt {
        /// The id of the first of the events.
        event_id: String,
        /// Where it stands.
        offset: Offset,
        /// How many events would have been applied by the commit.
        events: u64,
        /// What the database says.
        source: StoreError,
    },
    /// The source could not go on.
    #[error(transparent)]
    Source(E),
    /// What was to be shown of a delivery could not be; the event is not acknowledged.
    #[error("the event {event_id:?} at {offset} was handled, but that could not be written down")]
    Watch {
        /// The event's id.
        event_id: String,
        /// Where it stands.
        offset: Offset,
        /// What the system says.
        source: io::Error,
    },
}

impl<E> Stop<E> {
    fn delivery(received: &Received, source: Failure) -> Self {
        let Received { event, offset } = received;
        Self::Delivery { event_id: event.id().to_owned(), offset: *offset, source }
    }

    fn watch(received: &Received, source: io::Error) -> Self {
        let Received { event, offset } = received;
        Self::Watch { event_id: event.id().to_owned(), offset: *offset, source }
    }
}

/// Consumes `source` until it ends, `drain` resolves, or something fails. `watch` sees every
/// delivery before it is acknowledged.
///
/// When `drain` resolves, no new delivery begins and the one under way comes to its end. What was
/// done is acknowledged durably in every case.
///
/// # Errors
/// Why it stopped early; the counts are right all the same. An acknowledgement that did not become
/// durable after a failed delivery does not hide that failure: it only means a redelivery.
pub async fn consume<S: Source>(
    source: &mut S,
    handle: &Handle,
    drain: impl Future<Output = ()>,
    watch: &mut impl Watch,
) -> (Counts, Result<(), Stop<S::Error>>) {
    let series = handle.series();
    let mut under_way = VecDeque::with_capacity(AHEAD);
    let mut counts = Counts::default();
    let mut drain = pin!(drain);
    let mut draining = false;
    // How fetching ended, once it has.
    let mut fetched = None;
    let ended = loop {
        let fetching = fetched.is_none() && !draining;
        if !fetching && under_way.is_empty() {
            break fetched.unwrap_or(Ok(()));
        }
        tokio::select! {
            biased;
            () = &mut drain, if !draining => {
                series.end();
                draining = true;
            }
            next = source.next(), if fetching && under_way.len() < AHEAD => match next {
                Ok(Some(received)) => {
                    let submitted = series.submit(received.event.clone()).await;
                    under_way.push_back((received, submitted));
                }
                Ok(None) => fetched = Some(Ok(())),
                Err(error) => fetched = Some(Err(Stop::Source(error))),
            },
            Some((received, delivery)) = oldest(&mut under_way), if !under_way.is_empty() => {
                if draining && never_began(&delivery) {
                    break Ok(());
                }
                let settled = settle(source, &received, delivery, watch, &mut counts).await;
                if let Err(stop) = settled {
                    break Err(stop);
                }
            }
        }
    };
    let flushed = source.flush().await.map_err(Stop::Source);
    (counts, ended.and(flushed))
}

/// The oldest delivery under way, once it is over. Dropping the future loses nothing.
///
/// While many are under way it sleeps until half of them are over, or for [`NAP`]: being woken for
/// each would cost the guest's thread several microseconds a delivery.
async fn oldest(under_way: &mut VecDeque<(Received, Submitted)>) -> Option<(Received, Delivery)> {
    let delivery = loop {
        if let Some(delivery) = under_way.front_mut()?.1.take() {
            break delivery;
        }
        let half = under_way.len() / 2;
        let awaited = under_way.get_mut(half)?.1.over();
        if half == 0 {
            awaited.await;
        } else {
            let _ = tokio::time::timeout(NAP, awaited).await;
        }
    };
    let (received, _) = under_way.pop_front()?;
    Some((received, delivery))
}

/// Whether a delivery was dropped from the queue since the series had ended.
fn never_began(delivery: &Delivery) -> bool {
    matches!(&delivery.answer, Err(Failure { reason: FailureReason::NeverBegan, .. }))
}

/// Shows a delivery and acknowledges its event.
async fn settle<S: Source>(
    source: &mut S,
    received: &Received,
    delivery: Delivery,
    watch: &mut impl Watch,
    counts: &mut Counts,
) -> Result<(), Stop<S::Error>> {
    let answer = delivery.answer.as_ref().copied();
    let seen = Seen { received, answer, trace: delivery.trace.as_ref() };
    let watched = watch.delivered(seen).and_then(|()| watch.flush());
    let outcome = delivery.answer.map_err(|failure| Stop::delivery(received, failure))?;
    watched.map_err(|source| Stop::watch(received, source))?;
    source.ack(received).await.map_err(Stop::Source)?;
    counts.count(outcome);
    Ok(())
}
