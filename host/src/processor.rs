//! The processor: one guest, one store, one delivery after another.
//!
//! Invariants:
//! - An answer that the calls contradict is never believed.
//! - After a fault the instance is thrown away; the next event runs on a fresh one.
//! - When a delivery is over, its transaction is: what the guest left open is undone.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::contract::{RuleSet, Stored};
use crate::deadline::Deadline;
use crate::engine::{Guest, Limits, NotAGuest};
use crate::event::Event;
use crate::imports::{Backend, Cause, GuestFault, Left, log_output};
use crate::instance::{Answer, Called, Instance, Linked, Stillborn};
use crate::store::{Store, StoreError};
use crate::trace::{CallTrace, Ending};

/// A handler that said it handled the event: the only answers after which it may be acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// This delivery stored the marker and the alert.
    Applied,
    /// An earlier delivery had stored them; this one changed nothing.
    AlreadyApplied,
}

impl Outcome {
    /// The outcome's name in the interface.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::AlreadyApplied => "already-applied",
        }
    }
}

/// A delivery after which the event must not be acknowledged.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Why.
    pub reason: FailureReason,
    /// What is known of the marker and the alert.
    pub stored: Stored,
}

/// Why a delivery failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FailureReason {
    /// The guest returned this error of the store: the very value that the store gave.
    Store(StoreError),
    /// The guest answered `unknown`: it is not finished.
    Unfinished,
    /// The guest failed.
    Fault(GuestFault),
    /// The delivery never began: its series had ended before its turn.
    NeverBegan,
    /// The thread that runs the guest is gone, and with it the answer.
    Stopped,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            FailureReason::Store(error) => write!(f, "{error}"),
            FailureReason::Unfinished => {
                f.write_str("the guest answered unknown, as an unfinished one does")
            }
            FailureReason::Fault(fault) => write!(f, "{fault}"),
            FailureReason::NeverBegan => f.write_str("an earlier delivery had ended the series"),
            FailureReason::Stopped => f.write_str("the thread that runs the guest has ended"),
        }
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.reason {
            FailureReason::Store(error) => error.source(),
            FailureReason::Fault(fault) => fault.source(),
            FailureReason::Unfinished | FailureReason::NeverBegan | FailureReason::Stopped => None,
        }
    }
}

/// What came of one delivery.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The outcome, or why there is none.
    pub answer: Result<Outcome, Failure>,
    /// The calls, where [`Processor::record_calls`] asked for them.
    pub trace: Option<CallTrace>,
}

/// Runs a guest against a store, on the caller's thread.
pub struct Processor<S: Store>(Deliverer<S>);

impl<S: Store> fmt::Debug for Processor<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guest = self.0.linked.guest();
        f.debug_struct("Processor").field("guest", guest).finish_non_exhaustive()
    }
}

impl<S: Store> Processor<S> {
    /// A processor of `guest` on `store`. The guest starts with the first delivery.
    ///
    /// # Errors
    /// The component does not fit the interface; [`Engine::load`](crate::engine::Engine::load) has
    /// said so before.
    pub fn new(guest: Guest, store: S) -> Result<Self, NotAGuest> {
        Deliverer::new(guest, store).map(Self)
    }

    /// Says whether the calls of each delivery are recorded; they are not unless asked for.
    #[must_use]
    pub fn record_calls(mut self, record: bool) -> Self {
        self.0.record = record;
        self
    }

    /// Says how long an instance of the guest lives; it is kept unless asked otherwise.
    #[must_use]
    pub fn isolate(mut self, isolation: Isolation) -> Self {
        self.0.isolation = isolation;
        self
    }

    /// The limits that the guest runs within.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        self.0.limits()
    }

    /// A deadline for one delivery, by the engine's limits.
    #[must_use]
    pub fn deadline(&self) -> Deadline {
        self.0.deadline()
    }

    /// Delivers `event` to the guest.
    ///
    /// # Errors
    /// The event was not handled, or it is not known whether it was: it must not be acknowledged.
    pub fn process(&mut self, event: &Event) -> Result<Outcome, Failure> {
        let deadline = self.deadline();
        self.deliver(event, &deadline).answer
    }

    /// Delivers `event` to the guest within `deadline`, which starts now and may be cancelled from
    /// another thread.
    pub fn deliver(&mut self, event: &Event, deadline: &Deadline) -> Delivery {
        deadline.start();
        let Delivered { delivery, output } = self.0.deliver(event, Some(deadline));
        log_output(&output);
        delivery
    }
}

/// What came of one delivery, and what else of it could be seen.
pub(crate) struct Delivered {
    pub(crate) delivery: Delivery,
    /// The lines that the guest wrote, for the log.
    pub(crate) output: Vec<String>,
}

/// After how many deliveries an instance is retired: what a guest leaks little by little has an end.
const RETIRED_AFTER: u32 = 1_000_000;

/// How long an instance of the guest lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// It serves one event after another, until it fails, has served a million, or has grown to half of
    /// the memory that it may have.
    #[default]
    Kept,
    /// Every event has a fresh one. With [`Engine::pooled`](crate::engine::Engine::pooled) that costs
    /// less.
    Event,
}

/// Makes deliveries to a guest, one after another, whatever stands behind its store interface.
pub(crate) struct Deliverer<B: Backend> {
    linked: Linked<B>,
    backend: Arc<Mutex<B>>,
    /// The instance kept from the last delivery; none at first and after a fault.
    instance: Option<Instance<B>>,
    /// How many deliveries it has served.
    served: u32,
    /// Whether the calls of each delivery are recorded.
    pub(crate) record: bool,
    pub(crate) isolation: Isolation,
}

impl<B: Backend> Deliverer<B> {
    /// As [`Processor::new`].
    pub(crate) fn new(guest: Guest, backend: B) -> Result<Self, NotAGuest> {
        let linked = Linked::new(guest).map_err(NotAGuest::OtherShape)?;
        let backend = Arc::new(Mutex::new(backend));
        let isolation = Isolation::default();
        Ok(Self { linked, backend, instance: None, served: 0, record: false, isolation })
    }

    /// What stands behind the guest's store interface.
    pub(crate) fn backend(&self) -> MutexGuard<'_, B> {
        // It stays usable whoever panicked while holding it.
        self.backend.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Throws the kept instance away: the next delivery is made to a fresh one.
    pub(crate) fn discard_instance(&mut self) {
        self.instance = None;
    }

    pub(crate) fn limits(&self) -> &Limits {
        self.linked.guest().engine.limits()
    }

    /// A deadline for one delivery, by the engine's limits.
    pub(crate) fn deadline(&self) -> Deadline {
        let limits = self.limits();
        Deadline::new(limits.delivery, limits.transaction)
    }

    /// As [`Processor::deliver`], with a deadline that has started, or none: then the epoch ends it,
    /// and the store does not learn of it. The guest's output is the caller's to show.
    pub(crate) fn deliver(&mut self, event: &Event, deadline: Option<&Deadline>) -> Delivered {
        let instance = match &mut self.instance {
            Some(kept) => kept,
            none => match Instance::start(&self.linked, &self.backend, deadline, RuleSet::all()) {
                Ok(fresh) => {
                    self.served = 0;
                    none.insert(fresh)
                }
                Err(Stillborn { fault, output }) => {
                    return Delivered { delivery: self.never_called(event, fault), output };
                }
            },
        };
        let mut called = instance.call(event, deadline, self.record);
        let output = std::mem::take(&mut called.left.output);
        let delivery = settle(event, called);
        self.served += 1;
        let fault = |failure: &Failure| matches!(failure.reason, FailureReason::Fault(_));
        let retired = self.isolation == Isolation::Event
            || self.served >= RETIRED_AFTER
            || instance.memory_bytes() > self.linked.guest().engine.limits().memory_bytes / 2
            || delivery.answer.as_ref().is_err_and(fault);
        if retired {
            self.instance = None;
        }
        Delivered { delivery, output }
    }

    /// The delivery of an event to a guest that failed in start-up.
    fn never_called(&self, event: &Event, fault: GuestFault) -> Delivery {
        let trace = self.record.then(|| CallTrace {
            event_id: event.id().to_owned(),
            calls: Vec::new(),
            ending: Ending::Fault(format!("in start-up, {fault}")),
        });
        let reason = FailureReason::Fault(fault);
        Delivery { answer: Err(Failure { reason, stored: Stored::No }), trace }
    }
}

/// Says what a delivery came to.
fn settle(event: &Event, called: Called) -> Delivery {
    let Called { returned, left } = called;
    let answer = judge(returned, &left).map_err(|reason| {
        let stored = left.model.stored();
        Failure { reason, stored }
    });
    let trace = left.calls.map(|calls| CallTrace {
        event_id: event.id().to_owned(),
        calls,
        ending: match &answer {
            Ok(outcome) => Ending::Outcome(outcome.name()),
            Err(Failure { reason: FailureReason::Store(error), .. }) => {
                Ending::Error(error.clone())
            }
            Err(Failure { reason: FailureReason::Unfinished, .. }) => Ending::Outcome("unknown"),
            Err(failure) => Ending::Fault(failure.to_string()),
        },
    });
    Delivery { answer, trace }
}

/// Decides what an answer is worth, now that the call has wholly ended.
///
/// A broken rule comes before what it led to: a guest that was refused may well trap over it.
fn judge(returned: Result<Answer, GuestFault>, left: &Left) -> Result<Outcome, FailureReason> {
    let broke = |violation| FailureReason::Fault(GuestFault::Contract(violation));
    if let Some(violation) = &left.violation {
        return Err(broke(violation.clone()));
    }
    let answer = returned.map_err(FailureReason::Fault)?;
    // An unfinished guest claims nothing, so it contradicts nothing; but it leaves nothing open.
    if !matches!(answer, Answer::Unknown) || left.model.has_open_transaction() {
        left.model.may_return(answer.returned()).map_err(broke)?;
    }
    left.model
        .may_hold(left.handles)
        .map_err(|violation| FailureReason::Fault(GuestFault::Handles(Cause::new(violation))))?;
    match answer {
        Answer::Applied => Ok(Outcome::Applied),
        Answer::AlreadyApplied => Ok(Outcome::AlreadyApplied),
        Answer::Error(handle) => Err(FailureReason::Store(handle.error)),
        Answer::Unknown => Err(FailureReason::Unfinished),
    }
}
