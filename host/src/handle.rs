//! A processor on a thread of its own, for callers that await.

use std::io;

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
            while let Some(Job { event, deadline, reply }) = queue.blocking_recv() {
                let delivery = processor.deliver(&event, &deadline);
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
        let cancel = CancelOnDrop(Deadline::new(self.limits.delivery, self.limits.transaction));
        let (reply, answer) = oneshot::channel();
        let job = Job { event, deadline: cancel.0.clone(), reply };
        if self.jobs.send(job).await.is_err() {
            return stopped();
        }
        answer.await.unwrap_or_else(|_| stopped())
    }

    /// Lets the deliveries under way end, and waits until the thread and its store are closed.
    pub async fn close(self) {
        drop(self.jobs);
        // An error means that the thread is gone, which is what is waited for.
        let _ = self.ended.await;
    }
}

/// Cancels a delivery whose caller goes away; after the answer it does nothing.
struct CancelOnDrop(Deadline);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The answer of a thread that is gone: it may have gone in the middle of a commit.
fn stopped() -> Delivery {
    let failure = Failure { reason: FailureReason::Stopped, stored: Stored::Unknown };
    Delivery { answer: Err(failure), trace: None }
}
