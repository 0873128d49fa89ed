//! Many deliveries, one durable commit, and nobody can tell: external synchrony.
//!
//! The guest reaches nothing but the store interface, so its `commit` may answer at once, as long as
//! everything that anyone outside could see of the delivery is withheld until the physical
//! transaction that holds its pair is durable (Nightingale and others, "Rethink the Sync", 2006).
//! If that transaction is known not to have happened, all that was withheld is thrown away, the
//! instance included, and the events run again from the first one that was not acknowledged, in the
//! plain way. A run that was thrown away has left no trace in the world: it never happened. So every
//! history that can be observed is one that the plain way could have produced.
//!
//! ```text
//! source ──▶ consumer ──events──▶ guest's thread: worker ──batch──▶ writer's thread ──▶ database
//!               ▲                  (overlay, look-ups)                      │
//!               └──────────────────────── release ◀────────────────────────┘
//! ```
//!
//! Invariants:
//! - No failure is ever reported from a speculative run. Where the guest errs, traps, runs out of
//!   time or answers `unknown`, the pairs before it are made durable and the event runs again alone,
//!   in the plain way, on a fresh instance: only that result counts.
//! - A commit in doubt counts as a crash: nothing of it is acknowledged, released or played again.
//! - A pair is staged only by a delivery whose guest committed and answered `applied`.
//! - What leaves the two threads leaves through a `Release`, in the order of delivery, and after
//!   the commit that it depends on has become durable.
//! - The stored pairs are always those of a prefix of the order of delivery that contains every
//!   acknowledged event.
//! - All queues are bounded: memory does not depend on the length of the stream.

mod bulk;
mod consumer;
mod overlay;
mod release;
mod speculation;
mod staged;
mod worker;
mod writer;

use std::io;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as inbox;
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, oneshot};

pub use bulk::{Bulk, NotApplied};
pub use consumer::consume_in_batches;

use self::release::Release;
use self::worker::{Message, Worker};
use crate::engine::{Guest, NotAGuest};
use crate::processor::{Deliverer, Isolation};
use crate::source::Received;
use crate::store::Store;

/// How many chunks of events may wait for the guest's thread.
const CHUNKS_AHEAD: usize = 2;

/// How many releases may wait for the consumer.
const RELEASES: usize = 2;

/// When a batch is closed, and how far ahead events are read. Larger batches share one durable
/// commit among more events; smaller ones cost less memory and less that is thrown away at a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most events of a batch; 65,536 by default. With 1 every event has a transaction of its own.
    pub events: usize,
    /// The most bytes of a batch: texts, traces, output, and what keeping them costs; 6 MiB by
    /// default. One event may exceed it by itself.
    pub bytes: usize,
    /// How long a batch may grow while the one before it is written; half a second by default. An
    /// idle source closes it at once.
    pub age: Duration,
    /// The most events that wait for the guest, read ahead; 4,096 by default.
    pub queue: usize,
}

impl Options {
    /// What [`Options::events`] may be.
    pub const EVENTS: RangeInclusive<usize> = 1..=1_000_000;
    /// What [`Options::bytes`] may be: up to 256 MiB.
    pub const BYTES: RangeInclusive<usize> = 1 << 10..=256 << 20;
    /// What [`Options::age`] may be, in milliseconds: up to a minute.
    pub const AGE_MILLIS: RangeInclusive<u64> = 1..=60_000;
    /// What [`Options::queue`] may be.
    pub const QUEUE: RangeInclusive<usize> = 1..=65_536;
}

impl Default for Options {
    fn default() -> Self {
        Self { events: 65_536, bytes: 6 << 20, age: Duration::from_millis(500), queue: 4_096 }
    }
}

/// Deliveries in batches, on a thread for the guest and one for the writer.
///
/// Dropping it ends both threads; what was not released by then is not acknowledged either.
#[derive(Debug)]
pub struct Batches {
    feed: Feed,
    releases: mpsc::Receiver<Release>,
    /// Resolves when both threads have ended, and with them their connections.
    ended: oneshot::Receiver<()>,
}

/// Where events go in. Dropping it ends the threads.
#[derive(Debug)]
struct Feed {
    messages: inbox::Sender<Message>,
    /// How many chunks may still be sent.
    room: Arc<Semaphore>,
    /// Set: no delivery begins any more.
    draining: Arc<AtomicBool>,
    /// The most events that are sent at once.
    most: NonZeroUsize,
}

/// The connections to one database that batches need.
#[derive(Debug)]
pub struct Connections<D, S> {
    /// For the look-ups.
    pub reader: D,
    /// For the batches.
    pub writer: D,
    /// For the plain way.
    pub store: S,
}

/// How the guest is run.
#[derive(Clone, Debug)]
pub struct Running {
    /// The guest.
    pub guest: Guest,
    /// Whether the calls of each delivery are recorded.
    pub record_calls: bool,
    /// How long an instance lives.
    pub isolation: Isolation,
}

impl Batches {
    /// Starts the threads.
    ///
    /// # Errors
    /// The component does not fit the interface, or the system gives no thread.
    pub fn spawn<D: Bulk, S: Store>(
        running: &Running,
        connections: Connections<D, S>,
        options: Options,
    ) -> Result<Self, SpawnError> {
        let Connections { reader, writer, store } = connections;
        let (messages, inbox) = inbox::channel();
        let (releases_out, releases) = mpsc::channel(RELEASES);
        let (ending, ended) = oneshot::channel();
        let room = Arc::new(Semaphore::new(CHUNKS_AHEAD));
        let draining = Arc::new(AtomicBool::new(false));
        let writer = writer::spawn(writer, releases_out.clone(), messages.clone())?;
        let mut speculative = Deliverer::new(running.guest.clone(), Default::default())?;
        speculative.record = running.record_calls;
        speculative.isolation = running.isolation;
        let mut plain = Deliverer::new(running.guest.clone(), store)?;
        plain.record = running.record_calls;
        plain.isolation = running.isolation;
        let worker = Worker::new(worker::Parts {
            inbox,
            room: Arc::clone(&room),
            draining: Arc::clone(&draining),
            releases: releases_out,
            writer,
            reader,
            speculative,
            plain,
            options,
        });
        std::thread::Builder::new().name("guest".to_owned()).spawn(move || {
            worker.run();
            // Whoever waited may have gone away.
            let _ = ending.send(());
        })?;
        let most = NonZeroUsize::new(options.queue).unwrap_or(NonZeroUsize::MIN);
        Ok(Self { feed: Feed { messages, room, draining, most }, releases, ended })
    }
}

impl Feed {
    /// Waits until events may be sent. Dropping the future loses nothing.
    async fn room(&self) {
        // The semaphore is never closed.
        let _ = self.room.acquire().await;
    }

    /// Sends events; there has to be [room](Self::room).
    fn send(&self, events: Vec<Received>) {
        if let Ok(permit) = self.room.try_acquire() {
            // The worker gives it back when it takes the events up.
            permit.forget();
        }
        // A thread that is gone has dropped its end of the releases, which is how its end shows.
        let _ = self.messages.send(Message::Events(events));
    }

    /// Says that nothing more is sent.
    fn end(&self) {
        let _ = self.messages.send(Message::End);
    }

    /// Lets the delivery under way end, and begins no other.
    fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.end();
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.drain();
    }
}

/// Why batches could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The component does not fit the interface.
    #[error(transparent)]
    NotAGuest(#[from] NotAGuest),
    /// The system gives no thread.
    #[error("the threads of the guest and of the writer cannot be started")]
    Thread(#[from] io::Error),
}
