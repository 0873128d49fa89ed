//! The guest's thread: speculates, stages, and falls back to the plain way.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as inbox;

use tokio::sync::{Semaphore, mpsc};

use super::Options;
use super::bulk::{Bulk, NotApplied};
use super::overlay::Overlay;
use super::release::Release;
use super::speculation::Speculation;
use super::staged::{Batch, Done, Visible};
use super::writer::Writer;
use crate::processor::{Delivered, Deliverer, Delivery};
use crate::source::Received;
use crate::store::{ErrorClass, Store, StoreError};

/// How many deliveries pass between two looks at a batch's age.
const BETWEEN_LOOKS: usize = 64;

/// Which part of a batch's bytes is worth a commit although more events are ready: a commit and the
/// waking of two threads then cost less than a tenth of the rest.
const WORTHWHILE: usize = 8;

/// What the worker is told.
#[derive(Debug)]
pub(super) enum Message {
    /// More events.
    Events(Vec<Received>),
    /// No more events come.
    End,
    /// What became of the batch that the writer had.
    Applied(Result<(), NotApplied>),
    /// The writer's thread panicked.
    WriterLost,
}

/// What a worker is made of.
pub(super) struct Parts<D: Bulk, S: Store> {
    pub(super) inbox: inbox::Receiver<Message>,
    pub(super) room: Arc<Semaphore>,
    pub(super) draining: Arc<AtomicBool>,
    pub(super) releases: mpsc::Sender<Release>,
    pub(super) writer: Writer,
    pub(super) reader: D,
    pub(super) speculative: Deliverer<Speculation>,
    pub(super) plain: Deliverer<S>,
    pub(super) options: Options,
}

/// One delivery after another.
pub(super) struct Worker<D: Bulk, S: Store> {
    parts: Parts<D, S>,
    /// Chunks that have come, and for which no room has been made again.
    arrived: VecDeque<Vec<Received>>,
    /// The events to run next.
    todo: VecDeque<Received>,
    /// No more events come.
    ended: bool,
    /// The batch that is being built.
    current: Batch,
    /// The batch that the writer has.
    in_flight: Option<Arc<Batch>>,
    overlay: Overlay,
    /// The most events of a batch now. After a failed batch it is 1, which is the plain way, and
    /// doubles with each success: whatever it is that fails is met alone after a few small batches.
    limit: usize,
    /// The next event runs in the plain way: its speculative run came to no good end.
    alone: bool,
}

/// Everything has ended, and the consumer has been told.
struct Over;

impl<D: Bulk, S: Store> Worker<D, S> {
    pub(super) fn new(parts: Parts<D, S>) -> Self {
        let limit = parts.options.events;
        Self {
            parts,
            arrived: VecDeque::new(),
            todo: VecDeque::new(),
            ended: false,
            current: Batch::new(0),
            in_flight: None,
            overlay: Overlay::new(),
            limit,
            alone: false,
        }
    }

    /// Works until the end of the events, or until something fails.
    pub(super) fn run(mut self) {
        while let Ok(()) = self.step() {}
        self.parts.writer.close();
    }

    /// Makes the one step that is due: a delivery, a batch handed over, or waiting for a message.
    fn step(&mut self) -> Result<(), Over> {
        while let Ok(message) = self.parts.inbox.try_recv() {
            self.take(message)?;
        }
        if self.parts.draining.load(Ordering::Relaxed) {
            self.todo.clear();
            self.arrived.clear();
            self.ended = true;
        }
        if self.todo.is_empty()
            && let Some(events) = self.arrived.pop_front()
        {
            self.parts.room.add_permits(1);
            self.todo.extend(events);
        }
        let free = self.in_flight.is_none();
        if free && self.is_due() {
            self.hand_over();
        } else if !self.todo.is_empty() && !self.plain_is_next() && !self.is_full() {
            self.speculate();
        } else if !self.todo.is_empty() && self.plain_is_next() && free && self.current.is_empty() {
            self.plain()?;
        } else if free && self.ended && self.todo.is_empty() && self.current.is_empty() {
            return Err(Over);
        } else {
            let message = self.parts.inbox.recv().map_err(|_| Over)?;
            self.take(message)?;
        }
        Ok(())
    }

    fn take(&mut self, message: Message) -> Result<(), Over> {
        match message {
            Message::Events(events) => self.arrived.push_back(events),
            Message::End => self.ended = true,
            Message::WriterLost => {
                let panicked = "the thread that writes the batches has panicked";
                let error = StoreError::new(ErrorClass::OutcomeUnknown, panicked);
                return self.applied(Err(NotApplied::InDoubt(error)));
            }
            Message::Applied(applied) => return self.applied(applied),
        }
        Ok(())
    }

    /// Whether the batch is to be handed over to a writer that is free.
    fn is_due(&self) -> bool {
        let idle = self.todo.is_empty() && self.arrived.is_empty();
        let worthwhile = self.current.bytes() >= self.parts.options.bytes / WORTHWHILE;
        !self.current.is_empty() && (idle || worthwhile || self.plain_is_next() || self.is_full())
    }

    /// Whether the batch may not grow any more.
    fn is_full(&self) -> bool {
        let Options { bytes, age, .. } = self.parts.options;
        let length = self.current.len();
        let looks = length.is_multiple_of(BETWEEN_LOOKS);
        length >= self.limit
            || self.current.bytes() >= bytes
            || (looks && self.current.began().is_some_and(|began| began.elapsed() >= age))
    }

    fn plain_is_next(&self) -> bool {
        self.alone || self.limit == 1
    }

    fn hand_over(&mut self) {
        let next = Batch::new(self.current.len());
        let batch = Arc::new(std::mem::replace(&mut self.current, next));
        self.overlay.sent(Arc::clone(&batch));
        self.in_flight = Some(Arc::clone(&batch));
        self.parts.writer.write(batch);
    }

    /// Delivers the next event as if its commit succeeded.
    fn speculate(&mut self) {
        let ids = self.todo.iter().map(|received| received.event.id());
        if self.overlay.look_up(&mut self.parts.reader, ids).is_err() {
            // The plain way asks the database itself, and tells what it says. It has an instance of its
            // own: no guest may see that there were two at a time.
            self.parts.speculative.discard_instance();
            self.alone = true;
            return;
        }
        let Some(received) = self.todo.pop_front() else { return };
        let (marked, hash) = self.overlay.is_marked(&self.current, received.event.id());
        let speculative = &mut self.parts.speculative;
        speculative.backend().marked = marked;
        let Delivered { delivery, output } = speculative.deliver(&received.event, None);
        match delivery.answer {
            Ok(outcome) => {
                let visible = Visible::new(delivery.trace, output);
                let done = Done { received, outcome, visible };
                self.current.push(done, hash, self.overlay.hasher());
            }
            Err(_) => {
                // Its `true` may have rested on a look-up that another process has overtaken.
                speculative.discard_instance();
                self.todo.push_front(received);
                self.overlay.look_again();
                self.alone = true;
            }
        }
    }

    /// Delivers the next event in a transaction of its own. All before it is durable.
    fn plain(&mut self) -> Result<(), Over> {
        let Some(received) = self.todo.pop_front() else { return Ok(()) };
        let deadline = self.parts.plain.deadline();
        deadline.start();
        let Delivered { delivery, output } =
            self.parts.plain.deliver(&received.event, Some(&deadline));
        let Delivery { answer, trace } = delivery;
        let visible = Visible::new(trace, output);
        let release = match answer {
            Ok(outcome) => {
                let mut batch = Batch::new(1);
                let hasher = self.overlay.hasher();
                batch.push(Done { received, outcome, visible }, 0, hasher);
                Release::Durable(Arc::new(batch))
            }
            Err(failure) => Release::Failed { received: Box::new(received), failure, visible },
        };
        let failed = matches!(release, Release::Failed { .. });
        self.parts.releases.blocking_send(release).map_err(|_| Over)?;
        if failed {
            return Err(Over);
        }
        self.alone = false;
        self.succeeded();
        self.overlay.look_again();
        if self.limit > 1 {
            // The next failure is met on a fresh one again.
            self.parts.plain.discard_instance();
        }
        Ok(())
    }

    /// Takes in what became of the batch that the writer had.
    fn applied(&mut self, applied: Result<(), NotApplied>) -> Result<(), Over> {
        let batch = self.in_flight.take();
        match (applied, batch) {
            (Ok(()), _) => {
                self.overlay.became_durable();
                self.succeeded();
                Ok(())
            }
            (Err(NotApplied::InDoubt(error)), batch) => {
                let first = batch.as_ref().and_then(|batch| batch.first().cloned());
                let first = first.map(Box::new);
                let pairs = batch.map_or(0, |batch| batch.pairs().len() as u64);
                if let Some(first) = first {
                    let release = Release::InDoubt { first, pairs, error };
                    // Whoever no longer listens acknowledges nothing either.
                    let _ = self.parts.releases.blocking_send(release);
                }
                Err(Over)
            }
            (Err(NotApplied::Conflict), batch) => {
                self.overlay.surprised();
                self.discard(batch);
                Ok(())
            }
            (Err(NotApplied::Failed(_)), batch) => {
                self.discard(batch);
                Ok(())
            }
        }
    }

    /// A batch failed, and what came after it rests on it: all of it never happened.
    fn discard(&mut self, failed: Option<Arc<Batch>>) {
        self.parts.speculative.discard_instance();
        self.overlay.clear();
        let current = Arc::new(std::mem::replace(&mut self.current, Batch::new(0)));
        for batch in [Some(current), failed].into_iter().flatten() {
            for received in Batch::into_events(batch).into_iter().rev() {
                self.todo.push_front(received);
            }
        }
        self.limit = 1;
        self.alone = false;
    }

    fn succeeded(&mut self) {
        self.limit = self.limit.saturating_mul(2).min(self.parts.options.events);
    }
}
