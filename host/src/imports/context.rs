//! The state behind one guest instance: its handles, its limits, and the delivery under way.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wasmtime::component::Resource;

use super::backend::{Backend, BackendTx};
use super::handles::{HandleError, Handles, Held};
use super::store::{ErrorHandle, TxHandle};
use super::trap::TooManyCalls;
use super::wasi::Nothing;
use crate::contract::{ErrorId, Model, RuleSet, Violation};
use crate::deadline::{Deadline, Expired};
use crate::engine::{Clock, Engine, MemoryLimiter};
use crate::event::{Alert, Event, MAX_MESSAGE_BYTES};
use crate::store::{ErrorClass, StoreError};
use crate::trace::{Answer, Call, CallRecord, Method};

/// How much is kept of a text that a guest altered, in bytes: more than any event has.
const KEPT_BYTES: usize = 2 * MAX_MESSAGE_BYTES;

/// Everything the host keeps for one instance of a guest.
pub(crate) struct Context<B: Backend> {
    /// Shared with the next instance, should this one be thrown away.
    store: Arc<Mutex<B>>,
    handles: Handles,
    /// What answers the guest's WASI imports.
    pub(super) nothing: Nothing,
    pub(crate) limiter: MemoryLimiter,
    /// Until when the instance may run; without one the epoch's own deadline ends it.
    deadline: Option<Deadline>,
    clock: Clock,
    /// The epoch in which the deadline was looked at last.
    looked_at: u64,
    /// The delivery under way; none during start-up.
    delivery: Option<Delivering<B::Tx>>,
    /// The first rule that was broken, in this delivery or in start-up.
    violation: Option<Violation>,
    /// The rules that the model asks for.
    rules: RuleSet,
    /// How many calls of the store interface the guest may still make.
    calls_left: u32,
    /// The next identity for an error or a transaction: never used twice in the instance's life,
    /// and no handle outlives the instance.
    next_identity: u64,
}

/// A delivery under way.
struct Delivering<T> {
    event: Event,
    model: Model,
    /// The transaction that `begin` opened, with its identity; dropped at its end.
    tx: Option<(u64, T)>,
    /// The calls so far, where someone wants to see them.
    calls: Option<Vec<CallRecord>>,
}

/// What a delivery leaves behind once the guest's call is over.
pub(crate) struct Left {
    pub(crate) model: Model,
    pub(crate) violation: Option<Violation>,
    /// The calls, where someone wanted to see them.
    pub(crate) calls: Option<Vec<CallRecord>>,
    /// How many handles the guest still holds.
    pub(crate) handles: usize,
    /// The lines that the guest wrote.
    pub(crate) output: Vec<String>,
}

impl<B: Backend> Context<B> {
    pub(crate) fn new(store: Arc<Mutex<B>>, engine: &Engine, rules: RuleSet) -> Self {
        let limiter = MemoryLimiter::new(engine.limits().clone());
        Self {
            store,
            handles: Handles::new(limiter.handles()),
            nothing: Nothing::default(),
            calls_left: limiter.calls(),
            limiter,
            deadline: None,
            clock: engine.clock.clone(),
            looked_at: 0,
            delivery: None,
            violation: None,
            rules,
            next_identity: 1,
        }
    }

    /// Says until when the guest may run from now on.
    pub(crate) fn watch(&mut self, deadline: Option<&Deadline>) {
        self.deadline = deadline.cloned();
        self.looked_at = self.clock.epoch();
    }

    /// Starts a delivery; the calls that follow belong to it.
    pub(crate) fn start(&mut self, event: &Event, deadline: Option<&Deadline>, record: bool) {
        self.watch(deadline);
        self.violation = None;
        self.calls_left = self.limiter.calls();
        self.delivery = Some(Delivering {
            event: event.clone(),
            model: Model::asking(self.rules),
            tx: None,
            calls: record.then(Vec::new),
        });
    }

    /// Ends the delivery, or start-up: a transaction that the guest left open is undone.
    pub(crate) fn finish(&mut self) -> Left {
        let output = self.nothing.end_of_delivery();
        let (model, calls) = match self.delivery.take() {
            Some(Delivering { model, calls, .. }) => (model, calls),
            None => (Model::asking(self.rules), None),
        };
        let violation = self.violation.take();
        Left { model, violation, calls, handles: self.handles.held(), output }
    }

    /// How long ago the guest should have returned, if it should have; asked at an epoch's deadline.
    pub(crate) fn overdue(&self) -> Option<Duration> {
        self.deadline.as_ref().map_or(Some(Duration::MAX), Deadline::overdue)
    }

    /// Takes back an error that the guest returned.
    ///
    /// # Errors
    /// The handle is not one of ours.
    pub(crate) fn take_error(&mut self, error: u32) -> wasmtime::Result<ErrorHandle> {
        match self.handles.take(error)? {
            Held::Error(error) => Ok(error),
            Held::Tx(_) => Err(HandleError::Unknown.into()),
        }
    }
}

/// An answer for the guest: a value, or a handle to an error; outside of both, a trap.
pub(super) type Answered<T> = wasmtime::Result<Result<T, Resource<ErrorHandle>>>;

/// A call as the guest made it.
pub(super) enum Asked {
    /// With the event's own texts, or with none.
    Own(Method),
    /// With other texts.
    Altered(Call),
}

impl From<Method> for Asked {
    fn from(method: Method) -> Self {
        Self::Own(method)
    }
}

impl Asked {
    fn method(&self) -> Method {
        match self {
            Self::Own(method) => *method,
            Self::Altered(call) => call.method(),
        }
    }
}

/// Whether a call may reach the store.
enum Admission {
    /// It may.
    Admitted,
    /// The delivery is over; the guest learns it as an error of the store.
    Expired(StoreError),
    /// The contract forbids it; neither the store nor the model sees it.
    Refused(StoreError),
}

/// The calls of the store interface, in plain types. Each asks the model, then the deadline, then
/// the store; whatever the answer, it is recorded and the model is told.
impl<B: Backend> Context<B> {
    /// `try-mark` with this id, as a call.
    pub(super) fn asked_to_mark(&self, event_id: &str) -> Asked {
        match &self.delivery {
            Some(delivery) if delivery.event.id() == event_id => Asked::Own(Method::TryMark),
            _ => Asked::Altered(Call::TryMark(kept(event_id).into_owned())),
        }
    }

    /// `save-alert` with these texts, as a call.
    pub(super) fn asked_to_save(&self, texts: [&str; 3]) -> Asked {
        match &self.delivery {
            Some(delivery) if delivery.event.alert().texts() == texts => {
                Asked::Own(Method::SaveAlert)
            }
            _ => {
                let [id, device, message] = texts.map(kept);
                Asked::Altered(Call::SaveAlert(Alert::new(&id, &device, &message)))
            }
        }
    }

    /// `begin`: a handle to the transaction, or to the error.
    pub(super) fn begin(&mut self) -> Answered<Resource<TxHandle>> {
        self.count_call()?;
        let asked = Asked::Own(Method::Begin);
        let admission = self.admit(&asked, None);
        let opened = match &admission {
            Admission::Admitted => self.lock_store().begin(self.deadline.as_ref()),
            Admission::Expired(error) | Admission::Refused(error) => Err(error.clone()),
        };
        let answer = opened.as_ref().map(|_| None).map_err(Clone::clone);
        if let Err(error) = self.settle(asked, &admission, answer)? {
            return Ok(Err(error));
        }
        let id = self.identity();
        if let (Some(delivery), Ok(tx)) = (&mut self.delivery, opened) {
            delivery.tx = Some((id, tx));
        }
        Ok(Ok(Resource::new_own(self.handles.give(Held::Tx(id))?)))
    }

    /// A call on a transaction; `Some` is the answer of `try-mark`.
    pub(super) fn on_tx(&mut self, tx: u32, asked: Asked) -> Answered<Option<bool>> {
        self.count_call()?;
        let id = self.handles.tx(tx)?;
        let admission = self.admit(&asked, Some(id));
        let answer = match &admission {
            Admission::Admitted => self.carry_out(id, &asked),
            Admission::Expired(error) | Admission::Refused(error) => Err(error.clone()),
        };
        self.settle(asked, &admission, answer)
    }

    /// `rollback`: carried out wherever there is something to undo, allowed or not, in time or not.
    pub(super) fn roll_back(&mut self, tx: u32) -> wasmtime::Result<()> {
        self.count_call()?;
        let id = self.handles.tx(tx)?;
        let asked = Asked::Own(Method::Rollback);
        if let Err(violation) = self.ask(&asked, Some(id)) {
            self.violation.get_or_insert(violation);
        }
        if let Some(Delivering { model, tx: Some((open, tx)), .. }) = &mut self.delivery
            && *open == id
        {
            tx.rollback();
            model.answered(Method::Rollback, Ok(None), false);
        }
        self.record(asked, || Answer::Done);
        Ok(())
    }

    /// `message`: what the store said, in words.
    pub(super) fn message(&mut self, error: u32) -> wasmtime::Result<String> {
        self.count_call()?;
        Ok(self.handles.error(error)?.error.to_string())
    }

    /// The guest let go of an error's handle.
    pub(super) fn drop_error(&mut self, error: u32) -> wasmtime::Result<()> {
        self.handles.take(error)?;
        Ok(())
    }

    /// The guest let go of a transaction's handle: what has not ended is undone.
    pub(super) fn drop_tx(&mut self, tx: u32) -> wasmtime::Result<()> {
        if let (Held::Tx(dropped), Some(delivery)) = (self.handles.take(tx)?, &mut self.delivery) {
            delivery.tx.take_if(|(id, _)| *id == dropped);
        }
        Ok(())
    }

    /// Whether the model lets a call through, on the transaction with this identity.
    fn ask(&self, asked: &Asked, tx: Option<u64>) -> Result<(), Violation> {
        let Some(delivery) = &self.delivery else {
            return Model::asking(self.rules).may_call_outside(asked.method());
        };
        match tx {
            Some(id) if delivery.tx.as_ref().is_none_or(|(open, _)| *open != id) => {
                delivery.model.may_call_elsewhere(asked.method())
            }
            _ => delivery.model.may_call(asked.method(), matches!(asked, Asked::Own(_))),
        }
    }

    fn admit(&mut self, asked: &Asked, tx: Option<u64>) -> Admission {
        if let Err(violation) = self.ask(asked, tx) {
            let refused = self.lock_store().refuse(&violation);
            self.violation.get_or_insert(violation);
            return Admission::Refused(refused);
        }
        if self.delivery.is_none() {
            return Admission::Refused(refusal("nothing is being delivered"));
        }
        match self.look_at_deadline() {
            Ok(()) => Admission::Admitted,
            Err(expired) => Admission::Expired(expired.into()),
        }
    }

    /// Makes a call on the transaction with this identity.
    fn carry_out(&mut self, id: u64, asked: &Asked) -> Result<Option<bool>, StoreError> {
        let Some(Delivering { event, tx: Some((open, tx)), .. }) = &mut self.delivery else {
            return Err(refusal("no transaction is open"));
        };
        if *open != id {
            return Err(refusal("the transaction is another delivery's"));
        }
        match asked {
            Asked::Own(Method::TryMark) => tx.try_mark(event.id()).map(Some),
            Asked::Altered(Call::TryMark(id)) => tx.try_mark(id).map(Some),
            Asked::Own(Method::SaveAlert) => tx.save_alert(event.alert()).map(|()| None),
            Asked::Altered(Call::SaveAlert(alert)) => tx.save_alert(alert).map(|()| None),
            Asked::Own(Method::Commit) => {
                let committed = tx.commit();
                let in_time = self.look_at_deadline();
                committed.and_then(|()| in_time.map_err(outlived)).map(|()| None)
            }
            _ => Err(refusal("it is no call on a transaction, or has no answer")),
        }
    }

    /// Tells the model, records the call, and makes a handle of the error.
    fn settle(
        &mut self,
        asked: Asked,
        admission: &Admission,
        answer: Result<Option<bool>, StoreError>,
    ) -> Answered<Option<bool>> {
        let id = ErrorId(self.identity());
        if let (Some(delivery), false) =
            (&mut self.delivery, matches!(admission, Admission::Refused(_)))
        {
            let unknown = |error: &StoreError| error.class() == ErrorClass::OutcomeUnknown;
            let in_doubt = answer.as_ref().is_err_and(unknown);
            let told = answer.as_ref().map(|new| *new).map_err(|_| id);
            delivery.model.answered(asked.method(), told, in_doubt);
        }
        self.record(asked, || match &answer {
            Ok(Some(new)) => Answer::Marked(*new),
            Ok(None) => Answer::Done,
            Err(error) => Answer::Failed(error.clone()),
        });
        Ok(match answer {
            Ok(new) => Ok(new),
            Err(error) => {
                let held = Held::Error(ErrorHandle { id, error });
                Err(Resource::new_own(self.handles.give(held)?))
            }
        })
    }

    fn record(&mut self, asked: Asked, answer: impl FnOnce() -> Answer) {
        if let Some(Delivering { calls: Some(calls), event, .. }) = &mut self.delivery {
            let call = match asked {
                Asked::Own(method) => Call::of(method, event),
                Asked::Altered(call) => call,
            };
            calls.push(CallRecord { call, answer: answer() });
        }
    }

    /// Whether the delivery may go on, as of this epoch; cancelled or not, as of now.
    fn look_at_deadline(&mut self) -> Result<(), Expired> {
        let Some(deadline) = &self.deadline else { return Ok(()) };
        let epoch = self.clock.epoch();
        if self.looked_at == epoch {
            return deadline.check_cancelled();
        }
        self.looked_at = epoch;
        deadline.check()
    }

    /// Counts a call of the store interface against the budget.
    fn count_call(&mut self) -> wasmtime::Result<()> {
        match self.calls_left.checked_sub(1) {
            Some(left) => self.calls_left = left,
            None => return Err(TooManyCalls { allowed: self.limiter.calls() }.into()),
        }
        Ok(())
    }

    fn identity(&mut self) -> u64 {
        let id = self.next_identity;
        self.next_identity += 1;
        id
    }

    /// A store stays usable whoever panicked while holding it: its transactions undo themselves.
    fn lock_store(&self) -> MutexGuard<'_, B> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As much of an altered text as is worth keeping.
fn kept(text: &str) -> Cow<'_, str> {
    if text.len() <= KEPT_BYTES {
        return Cow::Borrowed(text);
    }
    let start = &text[..text.floor_char_boundary(KEPT_BYTES)];
    Cow::Owned(format!("{start}… ({} bytes)", text.len()))
}

/// What answers a call that cannot be made where it was made.
fn refusal(why: &str) -> StoreError {
    StoreError::new(ErrorClass::Misuse, why)
}

/// A commit that was under way when its delivery ended is not believed, whatever it says: its
/// caller has stopped listening, so its outcome is unknown.
fn outlived(expired: Expired) -> StoreError {
    let what = format!("{expired} while the commit was under way");
    let cause = StoreError::from(expired);
    StoreError::from_driver(ErrorClass::OutcomeUnknown, None, what, cause)
}
