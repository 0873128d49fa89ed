//! The state behind one guest instance: its handles, its limits, and the delivery under way.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wasmtime::component::{Resource, ResourceTable};

use super::backend::{Backend, BackendTx};
use super::store::{ErrorHandle, TxHandle};
use super::trap::TooManyCalls;
use super::wasi::Nothing;
use crate::contract::{ErrorId, Model, RuleSet, Violation};
use crate::deadline::Deadline;
use crate::engine::MemoryLimiter;
use crate::event::Event;
use crate::store::{ErrorClass, StoreError};
use crate::trace::{Answer, Call, CallRecord, Method};

/// Everything the host keeps for one instance of a guest.
pub(crate) struct Context<B: Backend> {
    /// Shared with the next instance, should this one be thrown away.
    store: Arc<Mutex<B>>,
    /// The handles that the guest holds, as the host sees them.
    pub(super) handles: ResourceTable,
    /// What answers the guest's WASI imports.
    pub(super) nothing: Nothing,
    pub(crate) limiter: MemoryLimiter,
    /// Until when the instance may run.
    deadline: Option<Deadline>,
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
    deadline: Deadline,
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
    pub(crate) fn new(store: Arc<Mutex<B>>, limiter: MemoryLimiter, rules: RuleSet) -> Self {
        let mut handles = ResourceTable::new();
        handles.set_max_capacity(limiter.handles());
        Self {
            store,
            handles,
            nothing: Nothing::default(),
            calls_left: limiter.calls(),
            limiter,
            deadline: None,
            delivery: None,
            violation: None,
            rules,
            next_identity: 1,
        }
    }

    /// Says until when the guest may run from now on.
    pub(crate) fn watch(&mut self, deadline: Deadline) {
        self.deadline = Some(deadline);
    }

    /// Starts a delivery; the calls that follow belong to it.
    pub(crate) fn start(&mut self, event: Event, deadline: Deadline, record: bool) {
        self.watch(deadline.clone());
        self.violation = None;
        self.calls_left = self.limiter.calls();
        self.delivery = Some(Delivering {
            event,
            deadline,
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
        Left { model, violation, calls, handles: self.handles.iter_mut().count(), output }
    }

    /// How long ago the guest should have returned, if it should have.
    pub(crate) fn overdue(&self) -> Option<Duration> {
        self.deadline.as_ref()?.overdue()
    }

    /// Takes back an error that the guest returned.
    ///
    /// # Errors
    /// The handle is not one of ours.
    pub(crate) fn take_error(
        &mut self,
        error: Resource<ErrorHandle>,
    ) -> wasmtime::Result<ErrorHandle> {
        Ok(self.handles.delete(error)?)
    }
}

/// An answer for the guest: a value, or a handle to an error; outside of both, a trap.
pub(super) type Answered<T> = wasmtime::Result<Result<T, Resource<ErrorHandle>>>;

/// Whether a call may reach the store.
enum Admission {
    /// It may, within this deadline.
    Admitted(Deadline),
    /// The delivery is over; the guest learns it as an error of the store.
    Expired(StoreError),
    /// The contract forbids it; neither the store nor the model sees it.
    Refused(StoreError),
}

/// The calls of the store interface, in plain types. Each asks the model, then the deadline, then
/// the store; whatever the answer, it is recorded and the model is told.
impl<B: Backend> Context<B> {
    /// `begin`: a handle to the transaction, or to the error.
    pub(super) fn begin(&mut self) -> Answered<Resource<TxHandle>> {
        self.count_call()?;
        let admission = self.admit(&Call::Begin, None);
        let opened = match &admission {
            Admission::Admitted(deadline) => self.lock_store().begin(deadline),
            Admission::Expired(error) | Admission::Refused(error) => Err(error.clone()),
        };
        let answer = opened.as_ref().map(|_| None).map_err(Clone::clone);
        if let Err(error) = self.settle(Call::Begin, &admission, answer)? {
            return Ok(Err(error));
        }
        let id = self.identity();
        if let (Some(delivery), Ok(tx)) = (&mut self.delivery, opened) {
            delivery.tx = Some((id, tx));
        }
        Ok(Ok(self.handles.push(TxHandle { id })?))
    }

    /// A call on a transaction; `Some` is the answer of `try-mark`.
    pub(super) fn on_tx(&mut self, tx: &Resource<TxHandle>, call: Call) -> Answered<Option<bool>> {
        self.count_call()?;
        let id = self.handles.get(tx)?.id;
        let admission = self.admit(&call, Some(id));
        let answer = match (&admission, self.open_tx(id)) {
            (Admission::Admitted(deadline), Some(tx)) => {
                outlived(deadline, &call, carry_out(tx, &call))
            }
            (Admission::Admitted(_), None) => Err(refusal("the transaction is another delivery's")),
            (Admission::Expired(error) | Admission::Refused(error), _) => Err(error.clone()),
        };
        self.settle(call, &admission, answer)
    }

    /// `rollback`: carried out wherever there is something to undo, allowed or not, in time or not.
    pub(super) fn roll_back(&mut self, tx: &Resource<TxHandle>) -> wasmtime::Result<()> {
        self.count_call()?;
        let id = self.handles.get(tx)?.id;
        if let Err(violation) = self.ask(&Call::Rollback, Some(id)) {
            self.violation.get_or_insert(violation);
        }
        if let Some(tx) = self.open_tx(id) {
            tx.rollback();
            if let Some(delivery) = &mut self.delivery {
                delivery.model.answered(Method::Rollback, Ok(None), false);
            }
        }
        self.record(Call::Rollback, || Answer::Done);
        Ok(())
    }

    /// `message`: what the store said, in words.
    pub(super) fn message(&mut self, error: &Resource<ErrorHandle>) -> wasmtime::Result<String> {
        self.count_call()?;
        Ok(self.handles.get(error)?.error.to_string())
    }

    /// The guest let go of a transaction's handle: what has not ended is undone.
    pub(super) fn drop_tx(&mut self, tx: Resource<TxHandle>) -> wasmtime::Result<()> {
        let dropped = self.handles.delete(tx)?;
        if let Some(delivery) = &mut self.delivery {
            delivery.tx.take_if(|(id, _)| *id == dropped.id);
        }
        Ok(())
    }

    /// Whether the model lets a call through, on the transaction with this identity.
    fn ask(&self, call: &Call, tx: Option<u64>) -> Result<(), Violation> {
        let Some(delivery) = &self.delivery else {
            return Model::asking(self.rules).may_call_outside(call.method());
        };
        match tx {
            Some(id) if delivery.tx.as_ref().is_none_or(|(open, _)| *open != id) => {
                delivery.model.may_call_elsewhere(call.method())
            }
            _ => delivery.model.may_call(call, &delivery.event),
        }
    }

    fn admit(&mut self, call: &Call, tx: Option<u64>) -> Admission {
        if let Err(violation) = self.ask(call, tx) {
            let refused = self.lock_store().refuse(&violation);
            self.violation.get_or_insert(violation);
            return Admission::Refused(refused);
        }
        match &self.delivery {
            Some(Delivering { deadline, .. }) => match deadline.check() {
                Ok(()) => Admission::Admitted(deadline.clone()),
                Err(expired) => Admission::Expired(expired.into()),
            },
            None => Admission::Refused(refusal("nothing is being delivered")),
        }
    }

    /// Tells the model, records the call, and makes a handle of the error.
    fn settle(
        &mut self,
        call: Call,
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
            delivery.model.answered(call.method(), told, in_doubt);
        }
        self.record(call, || match &answer {
            Ok(Some(new)) => Answer::Marked(*new),
            Ok(None) => Answer::Done,
            Err(error) => Answer::Failed(error.clone()),
        });
        Ok(match answer {
            Ok(new) => Ok(new),
            Err(error) => Err(self.handles.push(ErrorHandle { id, error })?),
        })
    }

    /// The transaction with this identity, if this delivery opened it.
    fn open_tx(&mut self, id: u64) -> Option<&mut B::Tx> {
        let (open, tx) = self.delivery.as_mut()?.tx.as_mut()?;
        (*open == id).then_some(tx)
    }

    fn record(&mut self, call: Call, answer: impl FnOnce() -> Answer) {
        if let Some(Delivering { calls: Some(calls), .. }) = &mut self.delivery {
            calls.push(CallRecord { call, answer: answer() });
        }
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

/// Makes a call on the store's transaction.
fn carry_out(tx: &mut impl BackendTx, call: &Call) -> Result<Option<bool>, StoreError> {
    match call {
        Call::Begin => Err(refusal("begin is no call on a transaction")),
        Call::TryMark(event_id) => tx.try_mark(event_id).map(Some),
        Call::SaveAlert(alert) => tx.save_alert(alert).map(|()| None),
        Call::Commit => tx.commit().map(|()| None),
        Call::Rollback => {
            tx.rollback();
            Ok(None)
        }
    }
}

/// What answers a call that cannot be made where it was made.
fn refusal(why: &str) -> StoreError {
    StoreError::new(ErrorClass::Misuse, why)
}

/// A commit that was under way when its delivery ended is not believed, whatever it says: its
/// caller has stopped listening, so its outcome is unknown.
fn outlived(
    deadline: &Deadline,
    call: &Call,
    answer: Result<Option<bool>, StoreError>,
) -> Result<Option<bool>, StoreError> {
    if !matches!((call, &answer), (Call::Commit, Ok(_))) {
        return answer;
    }
    let Err(expired) = deadline.check() else { return answer };
    let what = format!("{expired} while the commit was under way");
    let cause = StoreError::from(expired);
    Err(StoreError::from_driver(ErrorClass::OutcomeUnknown, None, what, cause))
}
