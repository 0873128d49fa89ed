//! A processor on a thread of its own, for callers that await.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

use crate::contract::Stored;
use crate::deadline::Deadline;
use crate::engine::Limits;
use crate::event::Event;
use crate::processor::{Delivery, Failure, FailureReason, Outcome, Processor};
use crate::store::Store;

/// How many deliveries may wait for their turn before `process` waits as well.
const QUEUE: usize = 16;

/// The asynchronous side of a [`Processor`].
///
/// The processor runs on a thread of its own, where it may block; deliveries run one after another,
/// in the order in which they were asked for. Dropping an awaited [`process`](Handle::process)
/// cancels that delivery: it is undone, unless its commit was already under way (then its outcome
/// is unknown, and a redelivery tells), and the next delivery is not disturbed.
#[derive(Debug)]
pub struct Handle {
    jobs: mpsc::Sender<Job>,
    /// Resolves when the thread has ended, and with it the store's connection.
    ended: oneshot::Receiver<()>,
    limits: Limits,
}

/// A delivery that waits for its turn.
#[derive(Debug)]
struct Job {
    event: Event,
    deadline: Deadline,
    /// Whether the series that it belongs to has ended.
    ended: Arc<AtomicBool>,
    reply: oneshot::Sender<Delivery>,
}

impl Handle {
    /// Moves the processor to a thread of its own.
    ///
    /// # Errors
    /// The system does not give a thread.
    pub fn spawn<S: Store>(mut processor: Processor<S>) -> io::Result<Self> {
        let limits = processor.limits().clone();
        let (jobs, mut queue) = mpsc::channel::<Job>(QUEUE);
        let (ending, ended) = oneshot::channel();
        std::thread::Builder::new().name("guest".to_owned()).spawn(move || {
            while let Some(Job { event, deadline, ended, reply }) = queue.blocking_recv() {
                let delivery = if ended.load(Ordering::Relaxed) {
                    unanswered(FailureReason::NeverBegan, Stored::No)
                } else {
                    processor.deliver(&event, &deadline)
                };
                if delivery.answer.is_err() {
                    ended.store(true, Ordering::Relaxed);
                }
                // Whoever asked may have stopped listening; the delivery is over all the same.
                let _ = reply.send(delivery);
            }
            drop(processor);
            let _ = ending.send(());
        })?;
        Ok(Self { jobs, ended, limits })
    }

    /// Delivers `event` to the guest.
    ///
    /// # Errors
    /// The event was not handled, or it is not known whether it was: it must not be acknowledged.
    pub async fn process(&self, event: Event) -> Result<Outcome, Failure> {
        self.deliver(event).await.answer
    }

    /// Delivers `event` to the guest, and gives the recorded calls as well.
    pub async fn deliver(&self, event: Event) -> Delivery {
        self.series().submit(event).await.delivered().await
    }

    /// A series of deliveries that ends with its first failure.
    #[must_use]
    pub fn series(&self) -> Series<'_> {
        Series { handle: self, ended: Arc::default() }
    }

    /// Lets the deliveries under way end, and waits until the thread and its store are closed.
    pub async fn close(self) {
        drop(self.jobs);
        // An error means that the thread is gone, which is what is waited for.
        let _ = self.ended.await;
    }
}

/// Deliveries that are asked for ahead, so that the guest never waits for its caller, and of which
/// none begins once one before it has failed: what is stored is always that of a prefix.
#[derive(Debug)]
pub struct Series<'a> {
    handle: &'a Handle,
    /// Set by the first failure, or by the caller: nothing of the series begins any more.
    ended: Arc<AtomicBool>,
}

impl Series<'_> {
    /// Asks for the next delivery; waits while too many are waiting for their turn.
    pub async fn submit(&self, event: Event) -> Submitted {
        let limits = &self.handle.limits;
        let deadline = Deadline::new(limits.delivery, limits.transaction);
        let cancel = CancelOnDrop(Some(deadline.clone()));
        let (reply, answer) = oneshot::channel();
        let job = Job { event, deadline, ended: Arc::clone(&self.ended), reply };
        // A thread that is gone drops the reply with the job, which is how the answer says so.
        let _ = self.handle.jobs.send(job).await;
        Submitted { answer, cancel, delivery: None }
    }

    /// Ends the series: the delivery under way comes to its end, none begins after it.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// A delivery that was asked for. Dropping it before it is over cancels it.
#[derive(Debug)]
pub struct Submitted {
    answer: oneshot::Receiver<Delivery>,
    cancel: CancelOnDrop,
    /// What came of it, from when it is known until it is taken.
    delivery: Option<Delivery>,
}

impl Submitted {
    /// What came of it. Dropping the future loses nothing.
    pub async fn delivered(mut self) -> Delivery {
        self.over().await;
        self.take().unwrap_or_else(gone)
    }

    /// Waits until the delivery is over. Dropping the future loses nothing.
    pub async fn over(&mut self) {
        if self.delivery.is_none() {
            let delivery = (&mut self.answer).await;
            self.settle(delivery.unwrap_or_else(|_| gone()));
        }
    }

    /// What came of it, if it is over and nobody has taken it before.
    pub fn take(&mut self) -> Option<Delivery> {
        if self.delivery.is_none() {
            match self.answer.try_recv() {
                Ok(delivery) => self.settle(delivery),
                Err(TryRecvError::Closed) => self.settle(gone()),
                Err(TryRecvError::Empty) => {}
            }
        }
        self.delivery.take()
    }

    fn settle(&mut self, delivery: Delivery) {
        self.cancel.0 = None;
        self.delivery = Some(delivery);
    }
}

/// The answer of a thread that is gone: it may have gone in the middle of a commit.
fn gone() -> Delivery {
    unanswered(FailureReason::Stopped, Stored::Unknown)
}

/// Cancels a delivery whose caller goes away before it has its answer.
#[derive(Debug)]
struct CancelOnDrop(Option<Deadline>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(deadline) = &self.0 {
            deadline.cancel();
        }
    }
}

fn unanswered(reason: FailureReason, stored: Stored) -> Delivery {
    Delivery { answer: Err(Failure { reason, stored }), trace: None }
}
