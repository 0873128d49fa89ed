//! The thread that makes batches durable.

use std::io;
use std::sync::Arc;
use std::sync::mpsc as inbox;
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc;

use super::bulk::{Bulk, NotApplied};
use super::release::Release;
use super::staged::Batch;
use super::worker::Message;

/// The worker's side of the thread.
#[derive(Debug)]
pub(super) struct Writer {
    batches: inbox::SyncSender<Arc<Batch>>,
    thread: JoinHandle<()>,
}

/// Starts the thread. What becomes durable is released, and then the worker is told.
///
/// # Errors
/// The system gives no thread.
pub(super) fn spawn<D: Bulk>(
    mut database: D,
    releases: mpsc::Sender<Release>,
    worker: inbox::Sender<Message>,
) -> io::Result<Writer> {
    let (batches, queue) = inbox::sync_channel::<Arc<Batch>>(1);
    let thread = thread::Builder::new().name("writer".to_owned()).spawn(move || {
        let _lost = Lost(&worker);
        while let Ok(batch) = queue.recv() {
            let applied = apply(&mut database, &batch);
            if applied.is_ok() {
                // Before the worker is told: what it releases by itself comes later.
                let _ = releases.blocking_send(Release::Durable(batch));
            } else {
                drop(batch);
            }
            let _ = worker.send(Message::Applied(applied));
        }
    })?;
    Ok(Writer { batches, thread })
}

/// Tells the worker of a panic, so that it does not wait for ever.
struct Lost<'a>(&'a inbox::Sender<Message>);

impl Drop for Lost<'_> {
    fn drop(&mut self) {
        let _ = self.0.send(Message::WriterLost);
    }
}

fn apply(database: &mut impl Bulk, batch: &Batch) -> Result<(), NotApplied> {
    let pairs = batch.pairs();
    if pairs.is_empty() { Ok(()) } else { database.apply(&pairs) }
}

impl Writer {
    /// Hands a batch over; the answer comes as a message.
    pub(super) fn write(&self, batch: Arc<Batch>) {
        // A thread that is gone has said so in a message.
        let _ = self.batches.send(batch);
    }

    /// Ends the thread and waits until its connection is closed.
    pub(super) fn close(self) {
        drop(self.batches);
        // A panic there has been reported where it happened.
        let _ = self.thread.join();
    }
}
