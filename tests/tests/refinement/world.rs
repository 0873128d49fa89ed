//! What can be observed of a run, in order, and what a second connection reads at each moment.

use std::cell::Cell;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tests::stores::Stored;
use tracing_subscriber::fmt::MakeWriter;

/// Where a run is observed from.
pub(crate) struct World {
    stored: Box<dyn Fn() -> Stored + Send + Sync>,
    moments: Mutex<Vec<Moment>>,
}

/// What was observed, and what was stored just then.
#[derive(Debug)]
pub(crate) struct Moment {
    pub(crate) observed: Observed,
    pub(crate) stored: Stored,
}

/// What can be observed. Events are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Observed {
    /// A line that the guest wrote.
    Line(String),
    /// A delivery, as it is shown: its answer and its trace.
    Delivered { event: usize, failed: bool, answer: String, trace: String },
    /// An acknowledgement.
    Acknowledged(usize),
    /// Something at the database: nobody sees it, but somebody may look at the tables just then.
    Operation(&'static str),
    /// The end.
    Ended,
}

impl World {
    pub(crate) fn new(stored: impl Fn() -> Stored + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { stored: Box::new(stored), moments: Mutex::default() })
    }

    pub(crate) fn observe(&self, observed: Observed) {
        // Under the lock, so that the moments stand in the order in which the tables were read.
        let mut moments = lock(&self.moments);
        let stored = (self.stored)();
        moments.push(Moment { observed, stored });
    }

    pub(crate) fn take(&self) -> Vec<Moment> {
        std::mem::take(&mut lock(&self.moments))
    }
}

/// The world of the run under way: the log is one for the whole process.
static OBSERVED: Mutex<Option<Arc<World>>> = Mutex::new(None);

thread_local! {
    /// Whether this thread's part of the log is nobody's to see.
    static UNSEEN: Cell<bool> = const { Cell::new(false) };
}

/// Does something whose log is not a part of any world.
pub(crate) fn unseen<T>(work: impl FnOnce() -> T) -> T {
    UNSEEN.set(true);
    let done = work();
    UNSEEN.set(false);
    done
}

/// Lets the log be a part of this world. Runs are made one at a time.
pub(crate) fn log_to(world: &Arc<World>) {
    let log = tracing_subscriber::fmt()
        .without_time()
        .with_level(false)
        .with_target(false)
        .with_ansi(false)
        .with_writer(Log);
    // All but the first have no effect.
    let _ = log.try_init();
    *lock(&OBSERVED) = Some(Arc::clone(world));
}

/// Writes the log where it is observed, a line at a time.
struct Log;

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        Self
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let world = lock(&OBSERVED).clone();
        if let Some(world) = world.filter(|_| !UNSEEN.get()) {
            let line = String::from_utf8_lossy(bytes).trim().to_owned();
            world.observe(Observed::Line(line));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
