//! The thread that makes acknowledgements durable, so that acknowledging is cheap.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::source::Received;

/// The shortest time between two writes.
const MIN_PAUSE: Duration = Duration::from_millis(50);

/// The pause after a write is this many times what the write took, so that writing takes less
/// than 5 % of the time however slow the disk is.
const PAUSE_FACTOR: u32 = 20;

/// Why an acknowledgement did not become durable.
#[derive(Clone, Debug)]
pub(in crate::source) enum NotWritten {
    /// Writing failed; the same for all later acknowledgements.
    Failed(Arc<io::Error>),
    /// The thread ended without a word.
    ThreadLost,
}

/// Makes the newest acknowledgement durable, from a thread of its own.
///
/// Dropping it waits for a write that is under way and gives up what is newer.
#[derive(Debug)]
pub(in crate::source) struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Never locked while something is written, so no caller waits for the disk.
    state: Mutex<State>,
    /// Wakes the thread.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The newest acknowledged event that has not been taken for writing.
    newest: Option<Received>,
    /// The byte behind the newest acknowledged event ever, which never goes back.
    acknowledged: u64,
    /// Those who wait until everything acknowledged is durable.
    flushes: Vec<oneshot::Sender<Result<(), NotWritten>>>,
    /// What went wrong, from then on.
    failed: Option<NotWritten>,
    /// The writer is being dropped.
    stop: bool,
}

impl Writer {
    /// Starts a thread that writes with `save`, which makes an acknowledgement durable or fails.
    ///
    /// # Errors
    /// The system gave no thread.
    pub(in crate::source) fn start(
        save: impl FnMut(&Received) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let guard = Ended(Arc::clone(&shared));
        let thread = thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || write(&guard.0, save))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Notes that everything up to `received` is acknowledged; it becomes durable soon.
    ///
    /// # Errors
    /// An earlier acknowledgement did not become durable, and this one will not either.
    pub(in crate::source) fn ack(&self, received: &Received) -> Result<(), NotWritten> {
        let mut state = self.shared.lock();
        if let Some(failed) = &state.failed {
            return Err(failed.clone());
        }
        let byte = received.offset.byte;
        if byte > state.acknowledged {
            state.acknowledged = byte;
            // A thread that knows of one already needs no call for each.
            if state.newest.replace(received.clone()).is_none() {
                self.shared.changed.notify_one();
            }
        }
        Ok(())
    }

    /// Makes everything acknowledged so far durable, now.
    ///
    /// # Errors
    /// Something acknowledged did not become durable.
    pub(in crate::source) async fn flush(&self) -> Result<(), NotWritten> {
        let (done, answer) = oneshot::channel();
        {
            let mut state = self.shared.lock();
            if let Some(failed) = &state.failed {
                return Err(failed.clone());
            }
            state.flushes.push(done);
            self.shared.changed.notify_one();
        }
        answer.await.unwrap_or(Err(NotWritten::ThreadLost))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.changed.notify_one();
        // Once this returns nothing is written any more, and `save` and what it holds are gone.
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported where it happened.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that may panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something is to be written, which is not before `not_before` unless someone
    /// waits for it. `None`: the writer is being dropped.
    fn work(&self, not_before: Instant) -> Option<MutexGuard<'_, State>> {
        let mut state = self.lock();
        loop {
            if state.stop {
                return None;
            }
            if !state.flushes.is_empty() {
                return Some(state);
            }
            state = if state.newest.is_none() {
                self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                let pause = not_before.saturating_duration_since(Instant::now());
                if pause.is_zero() {
                    return Some(state);
                }
                let waited = self.changed.wait_timeout(state, pause);
                waited.unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }
}

/// Tells the callers when the thread has ended, be it by a panic: nobody waits for ever.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.failed.get_or_insert(NotWritten::ThreadLost);
        state.flushes.clear();
    }
}

fn write(shared: &Shared, mut save: impl FnMut(&Received) -> io::Result<()>) {
    let mut not_before = Instant::now();
    while let Some(mut state) = shared.work(not_before) {
        let newest = state.newest.take();
        let flushes = std::mem::take(&mut state.flushes);
        drop(state);
        if let Some(newest) = newest {
            let began = Instant::now();
            let saved = save(&newest);
            not_before = Instant::now() + pause(began.elapsed());
            if let Err(error) = saved {
                shared.lock().failed = Some(NotWritten::Failed(Arc::new(error)));
            }
        }
        let failed = shared.lock().failed.clone();
        for flush in flushes {
            // Whoever no longer waits need not know.
            let _ = flush.send(failed.clone().map_or(Ok(()), Err));
        }
    }
}

/// How long to wait after a write that took `took`.
fn pause(took: Duration) -> Duration {
    MIN_PAUSE.max(took.saturating_mul(PAUSE_FACTOR))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use std::sync::mpsc;

    use super::*;
    use crate::event::{Alert, Event};
    use crate::source::Offset;

    fn received(byte: u64) -> Received {
        let event = Event::new(Alert::new(&format!("event-{byte}"), "", "")).unwrap();
        Received { event, offset: Offset { byte, line: byte } }
    }

    /// Waits for what is bound to come; only a failure takes a minute.
    fn run<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let guarded = async { tokio::time::timeout(Duration::from_secs(60), future).await };
        runtime.block_on(guarded).unwrap()
    }

    /// A writer, and what it has written.
    fn recording() -> (Writer, mpsc::Receiver<u64>) {
        let (written, writes) = mpsc::channel();
        let writer =
            Writer::start(move |last| written.send(last.offset.byte).map_err(io::Error::other));
        (writer.unwrap(), writes)
    }

    #[test]
    fn the_newest_acknowledgement_is_written_without_being_asked_for() {
        let (writer, writes) = recording();
        for byte in 1..=1_000 {
            writer.ack(&received(byte)).unwrap();
        }
        let mut last = 0;
        while last < 1_000 {
            let next = writes.recv().unwrap();
            assert!(next > last, "{next} after {last}");
            last = next;
        }
    }

    #[test]
    fn a_flush_returns_when_the_newest_acknowledgement_is_written() {
        let (writer, writes) = recording();
        for byte in 1..=20 {
            writer.ack(&received(byte)).unwrap();
            run(writer.flush()).unwrap();
            assert_eq!(writes.try_iter().last(), Some(byte));
        }
        run(writer.flush()).unwrap();
        assert_eq!(writes.try_iter().last(), None, "nothing new is nothing to write");
    }

    #[test]
    fn an_older_acknowledgement_moves_nothing_back() {
        let (writer, writes) = recording();
        for byte in [5, 3, 5] {
            writer.ack(&received(byte)).unwrap();
            run(writer.flush()).unwrap();
        }
        drop(writer);
        assert_eq!(writes.iter().collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn after_a_failed_write_every_answer_is_that_error() {
        let mut tries = 0;
        let writer = Writer::start(move |_| {
            tries += 1;
            Err(io::Error::other(format!("try {tries}")))
        });
        let writer = writer.unwrap();
        run(writer.flush()).unwrap();
        writer.ack(&received(1)).unwrap();
        for _ in 0..2 {
            for answer in [run(writer.flush()), writer.ack(&received(2))] {
                let Err(NotWritten::Failed(error)) = answer else { panic!("{answer:?}") };
                assert_eq!(error.to_string(), "try 1");
            }
        }
    }

    #[test]
    fn a_writer_that_panicked_leaves_nobody_waiting() {
        let (begun, begins) = mpsc::channel();
        let (go, gone) = mpsc::channel::<()>();
        let writer = Writer::start(move |_| {
            begun.send(()).unwrap();
            let _ = gone.recv();
            panic!("as a test of a panic")
        });
        let writer = writer.unwrap();
        writer.ack(&received(1)).unwrap();
        begins.recv().unwrap();
        let waiting = run(async {
            let mut flush = std::pin::pin!(writer.flush());
            // Polled once, so that it waits while the write goes on.
            tokio::select! {
                biased;
                answer = &mut flush => panic!("{answer:?}"),
                () = std::future::ready(()) => {}
            }
            drop(go);
            flush.await
        });
        for answer in [waiting, run(writer.flush()), writer.ack(&received(2))] {
            assert!(matches!(answer, Err(NotWritten::ThreadLost)), "{answer:?}");
        }
    }

    #[test]
    fn dropping_ends_the_thread_and_frees_what_it_holds() {
        let held = Arc::new(());
        let freed = Arc::downgrade(&held);
        let writer = Writer::start(move |_| {
            let _ = &held;
            Ok(())
        });
        let writer = writer.unwrap();
        writer.ack(&received(1)).unwrap();
        drop(writer);
        assert!(freed.upgrade().is_none());
    }

    #[test]
    fn writing_takes_less_than_five_percent_of_the_time() {
        for (took, expected) in [(0, 50), (1, 50), (2, 50), (3, 60), (100, 2_000)] {
            let expected = Duration::from_millis(expected);
            assert_eq!(pause(Duration::from_millis(took)), expected, "{took} ms");
        }
    }
}
