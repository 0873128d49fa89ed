//! Plays a plan, and keeps what was observed.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use process_once::engine::Guest;
use process_once::handle::Handle;
use process_once::processor::{Failure, Isolation, Outcome, Processor};
use process_once::run::batch::{Batches, Connections, Options, Running};
use process_once::run::{Counts, Seen, Stop, consume, consume_in_batches};
use process_once::source::{Received, Source};
use process_once::store::{ErrorClass, Fault, Faulty, StoreError};
use tests::stores::{LONG, Lab, Stored, deliver};
use tokio::sync::Notify;

use crate::plan::{Plan, Trouble, Way, event_id};
use crate::shaky::{BulkLab, Shaky, Troubles};
use crate::world::{Moment, Observed, World, lock, log_to};

/// What was observed of a run.
#[derive(Debug)]
pub(crate) struct History {
    /// What was stored before.
    pub(crate) before: Stored,
    pub(crate) moments: Vec<Moment>,
    pub(crate) counts: Counts,
    pub(crate) ended: Ended,
    /// Whether a batch's commit was made doubtful.
    pub(crate) doubted: bool,
    /// Whether a fault of the plain way struck.
    pub(crate) struck: bool,
}

/// How a run ended; events are counted from 0.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    Failed { event: usize },
    InDoubt { event: usize, events: u64 },
    Source(String),
    Watch { event: usize },
}

/// One run at a time: the log is one for the whole process.
static TURN: Mutex<()> = Mutex::new(());

/// Plays `plan` on what `lab` holds; what the plan says was stored long ago has to be there.
pub(crate) fn play<L: BulkLab>(lab: &L, guest: &Guest, plan: &Plan) -> History {
    let _turn = lock(&TURN);
    let before = lab.stored();
    let read = lab.clone();
    let world = World::new(move || read.stored());
    log_to(&world);
    let troubles = Troubles::new(lab, &world, &plan.trouble);
    let store = Faulty::new(lab.open(LONG));
    let faults = store.faults();
    for trouble in &plan.trouble {
        if let Trouble::Store(fault, nth) = trouble {
            faults.arm(*fault, *nth, store_error(*fault));
        }
    }
    let armed = faults.pending();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (counts, ended) = runtime.block_on(consume_all(guest, plan, &troubles, store));
    world.observe(Observed::Ended);
    History {
        before,
        moments: world.take(),
        counts,
        ended: ended.map_or_else(of_stop, |()| Ended::Well),
        doubted: troubles.doubted.load(Ordering::Relaxed),
        struck: faults.pending() < armed,
    }
}

/// Stores what a plan says was stored long ago.
pub(crate) fn prepare<L: Lab>(lab: &L, plan: &Plan) {
    let mut store = lab.open(LONG);
    for id in &plan.stored {
        let alert = process_once::event::Alert::new(&event_id(*id), "device", "stored long ago");
        deliver(&mut store, &alert).unwrap();
    }
}

/// The error that a fault of the plain way is answered with.
pub(crate) fn store_error(fault: Fault) -> StoreError {
    let class = match fault {
        Fault::CommitReplyLost => ErrorClass::OutcomeUnknown,
        _ => ErrorClass::Io,
    };
    StoreError::new(class, format!("the store failed: {fault:?}"))
}

async fn consume_all<L: BulkLab>(
    guest: &Guest,
    plan: &Plan,
    troubles: &Arc<Troubles<L>>,
    store: Faulty<L::Store>,
) -> (Counts, Result<(), Stop<StreamError>>) {
    let world = &troubles.world;
    let mut source = Stream::new(plan, world);
    let drain = Notify::new();
    let drains = |delivered| plan.trouble.contains(&Trouble::Drain(delivered));
    if drains(0) {
        drain.notify_one();
    }
    let mut delivered = 0;
    let mut watch = |seen: Seen<'_>| {
        delivered += 1;
        if plan.trouble.contains(&Trouble::Watch(delivered)) {
            return Err(io::Error::other("it cannot be written down"));
        }
        world.observe(shown(&seen));
        if drains(delivered) {
            drain.notify_one();
        }
        Ok(())
    };
    match plan.way {
        Way::Plain => {
            let processor = Processor::new(guest.clone(), store).unwrap().record_calls(true);
            let handle = Handle::spawn(processor).unwrap();
            let consumed = consume(&mut source, &handle, drain.notified(), &mut watch).await;
            handle.close().await;
            consumed
        }
        Way::Batches { events, queue, .. } => {
            let (reader, writer) = (Shaky::new(troubles), Shaky::new(troubles));
            let options = Options { events, queue, age: LONG, ..Options::default() };
            let running =
                Running { guest: guest.clone(), record_calls: true, isolation: Isolation::Kept };
            let connections = Connections { reader, writer, store };
            let batches = Batches::spawn(&running, connections, options).unwrap();
            consume_in_batches(&mut source, batches, drain.notified(), &mut watch).await
        }
    }
}

fn shown(seen: &Seen<'_>) -> Observed {
    Observed::Delivered {
        event: index(seen.received.offset.line),
        failed: seen.answer.is_err(),
        answer: text(seen.answer),
        trace: seen.trace.unwrap().to_string(),
    }
}

/// An answer as it is compared.
pub(crate) fn text(answer: Result<Outcome, &Failure>) -> String {
    match answer {
        Ok(outcome) => outcome.name().to_owned(),
        Err(failure) => format!("{failure} ({:?})", failure.stored),
    }
}

fn index(line: u64) -> usize {
    usize::try_from(line).unwrap() - 1
}

fn of_stop(stop: Stop<StreamError>) -> Ended {
    match stop {
        Stop::Delivery { offset, .. } => Ended::Failed { event: index(offset.line) },
        Stop::InDoubt { offset, events, .. } => {
            Ended::InDoubt { event: index(offset.line), events }
        }
        Stop::Source(error) => Ended::Source(error.0.to_owned()),
        Stop::Watch { offset, .. } => Ended::Watch { event: index(offset.line) },
    }
}

/// A source that gives the plan's events.
struct Stream {
    events: VecDeque<Received>,
    given: usize,
    chunk: usize,
    trouble: Vec<Trouble>,
    acknowledgements: usize,
    world: Arc<World>,
}

impl Stream {
    fn new(plan: &Plan, world: &Arc<World>) -> Self {
        let chunk = match plan.way {
            Way::Plain => 1,
            Way::Batches { chunk, .. } => chunk,
        };
        Self {
            events: plan.received().into(),
            given: 0,
            chunk,
            trouble: plan.trouble.clone(),
            acknowledgements: 0,
            world: Arc::clone(world),
        }
    }

    /// The next event, which may be the one that cannot be read.
    fn take(&mut self) -> Result<Option<Received>, StreamError> {
        if self.trouble.contains(&Trouble::Source(self.given + 1)) {
            return Err(StreamError("the source failed"));
        }
        let next = self.events.pop_front();
        self.given += usize::from(next.is_some());
        Ok(next)
    }
}

/// What a source says that goes wrong.
#[derive(Debug)]
pub(crate) struct StreamError(&'static str);

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for StreamError {}

impl Source for Stream {
    type Error = StreamError;

    async fn next(&mut self) -> Result<Option<Received>, StreamError> {
        self.take()
    }

    fn next_many(
        &mut self,
        most: NonZeroUsize,
    ) -> impl Future<Output = Result<Vec<Received>, StreamError>> + Send {
        let mut events = Vec::new();
        while events.len() < most.get().min(self.chunk) {
            match self.take() {
                Ok(Some(event)) => events.push(event),
                Err(error) if events.is_empty() => return std::future::ready(Err(error)),
                Ok(None) | Err(_) => break,
            }
        }
        std::future::ready(Ok(events))
    }

    async fn ack(&mut self, received: &Received) -> Result<(), StreamError> {
        self.acknowledgements += 1;
        if self.trouble.contains(&Trouble::Acknowledgement(self.acknowledgements)) {
            return Err(StreamError("the acknowledgement failed"));
        }
        self.world.observe(Observed::Acknowledged(index(received.offset.line)));
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), StreamError> {
        Ok(())
    }
}
