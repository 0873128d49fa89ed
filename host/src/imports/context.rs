//! The state behind one guest instance: its handles, its limits, and the delivery under way.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wasmtime::component::{Resource, ResourceTable};

use super::store::{ErrorHandle, TxHandle};
use super::trap::HandleMisuse;
use super::wasi::Nothing;
use crate::contract::{ErrorId, Model, Violation};
use crate::deadline::Deadline;
use crate::engine::MemoryLimiter;
use crate::event::Event;
use crate::store::{ErrorClass, Store, StoreError, Tx};
use crate::trace::{Answer, Call, CallRecord};

/// How many handles a guest may hold at once; one that needs more floods the host.
const MAX_HANDLES: usize = 256;

/// Everything the host keeps for one instance of a guest.
pub(crate) struct Context<S: Store> {
    /// Shared with the next instance, should this one be thrown away.
    store: Arc<Mutex<S>>,
    /// The handles that the guest holds, as the host sees them.
    pub(super) handles: ResourceTable,
    /// What answers the guest's WASI imports.
    pub(super) nothing: Nothing,
    pub(crate) limiter: MemoryLimiter,
    /// Until when the instance may run.
    deadline: Option<Deadline>,
    /// The delivery under way; none during start-up.
    delivery: Option<Delivering<S::Tx>>,
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
    /// The first rule that was broken.
    violation: Option<Violation>,
    /// The calls so far, where someone wants to see them.
    calls: Option<Vec<CallRecord>>,
}

/// What a delivery leaves behind once the guest's call is over.
pub(crate) struct Left {
    pub(crate) model: Model,
    pub(crate) violation: Option<Violation>,
    /// The calls, where someone wanted to see them.
    pub(crate) calls: Option<Vec<CallRecord>>,
    /// How many handles the guest still held.
    pub(crate) leaked: usize,
}

impl<S: Store> Context<S> {
    pub(crate) fn new(store: Arc<Mutex<S>>, limiter: MemoryLimiter) -> Self {
        let mut handles = ResourceTable::new();
        handles.set_max_capacity(MAX_HANDLES);
        let nothing = Nothing::default();
        let (deadline, delivery) = (None, None);
        Self { store, handles, nothing, limiter, deadline, delivery, next_identity: 1 }
    }

    /// Says until when the guest may run from now on.
    pub(crate) fn watch(&mut self, deadline: Deadline) {
        self.deadline = Some(deadline);
    }

    /// Starts a delivery; the calls that follow belong to it.
    pub(crate) fn start(&mut self, event: Event, deadline: Deadline, record: bool) {
        self.watch(deadline.clone());
        self.delivery = Some(Delivering {
            event,
            deadline,
            model: Model::default(),
            tx: None,
            violation: None,
            calls: record.then(Vec::new),
        });
    }

    /// Ends the delivery: a transaction that the guest left open is undone.
    pub(crate) fn finish(&mut self) -> Left {
        self.nothing.end_of_delivery();
        let leaked = self.handles.iter_mut().count();
        match self.delivery.take() {
            Some(Delivering { model, violation, calls, .. }) => {
                Left { model, violation, calls, leaked }
            }
            None => Left { model: Model::default(), violation: None, calls: None, leaked },
        }
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
impl<S: Store> Context<S> {
    /// `begin`: a handle to the transaction, or to the error.
    pub(super) fn begin(&mut self) -> Answered<Resource<TxHandle>> {
        let admission = self.admit(&Call::Begin)?;
        let opened = match &admission {
            Admission::Admitted(deadline) => self.lock_store().begin(deadline),
            Admission::Expired(error) | Admission::Refused(error) => Err(error.clone()),
        };
        let answer = opened.as_ref().map(|_| None).map_err(Clone::clone);
        if let Err(error) = self.settle(Call::Begin, &admission, answer)? {
            return Ok(Err(error));
        }
        let id = self.identity();
        self.delivering()?.tx = opened.ok().map(|tx| (id, tx));
        Ok(Ok(self.handles.push(TxHandle { id })?))
    }

    /// A call on a transaction; `Some` is the answer of `try-mark`.
    pub(super) fn on_tx(&mut self, tx: &Resource<TxHandle>, call: Call) -> Answered<Option<bool>> {
        let TxHandle { id } = *self.handles.get(tx)?;
        let admission = self.admit(&call)?;
        let tx = match &mut self.delivering()?.tx {
            Some((open, tx)) if *open == id => tx,
            // A transaction's handle is worth nothing in another delivery.
            _ => return Err(HandleMisuse::ForeignTransaction.into()),
        };
        let answer = match &admission {
            Admission::Admitted(deadline) => outlived(deadline, &call, carry_out(tx, &call)),
            Admission::Expired(error) | Admission::Refused(error) => Err(error.clone()),
        };
        self.settle(call, &admission, answer)
    }

    /// `rollback`: carried out wherever there is something to undo, allowed or not, in time or not.
    pub(super) fn roll_back(&mut self, tx: &Resource<TxHandle>) -> wasmtime::Result<()> {
        let TxHandle { id } = *self.handles.get(tx)?;
        let delivery = self.delivering()?;
        if let Err(violation) = delivery.model.may_call(&Call::Rollback, &delivery.event) {
            delivery.violation.get_or_insert(violation);
        }
        match &mut delivery.tx {
            Some((open, tx)) if *open == id => tx.rollback(),
            _ => return Err(HandleMisuse::ForeignTransaction.into()),
        }
        delivery.model.answered(&Call::Rollback, Ok(None), false);
        delivery.record(Call::Rollback, || Answer::Done);
        Ok(())
    }

    /// The guest let go of a transaction's handle: what has not ended is undone.
    pub(super) fn drop_tx(&mut self, tx: Resource<TxHandle>) -> wasmtime::Result<()> {
        let dropped = self.handles.delete(tx)?;
        if let Some(delivery) = &mut self.delivery {
            delivery.tx.take_if(|(id, _)| *id == dropped.id);
        }
        Ok(())
    }

    fn admit(&mut self, call: &Call) -> wasmtime::Result<Admission> {
        let delivery = self.delivering()?;
        if let Err(violation) = delivery.model.may_call(call, &delivery.event) {
            let refused = StoreError::new(ErrorClass::Misuse, format!("refused, {violation}"));
            delivery.violation.get_or_insert(violation);
            return Ok(Admission::Refused(refused));
        }
        Ok(match delivery.deadline.check() {
            Ok(()) => Admission::Admitted(delivery.deadline.clone()),
            Err(expired) => Admission::Expired(expired.into()),
        })
    }

    /// Tells the model, records the call, and makes a handle of the error.
    fn settle(
        &mut self,
        call: Call,
        admission: &Admission,
        answer: Result<Option<bool>, StoreError>,
    ) -> Answered<Option<bool>> {
        let id = ErrorId(self.identity());
        let delivery = self.delivering()?;
        if !matches!(admission, Admission::Refused(_)) {
            let unknown = |error: &StoreError| error.class() == ErrorClass::OutcomeUnknown;
            let in_doubt = answer.as_ref().is_err_and(unknown);
            let told = answer.as_ref().map(|new| *new).map_err(|_| id);
            delivery.model.answered(&call, told, in_doubt);
        }
        delivery.record(call, || match &answer {
            Ok(Some(new)) => Answer::Marked(*new),
            Ok(None) => Answer::Done,
            Err(error) => Answer::Failed(error.clone()),
        });
        Ok(match answer {
            Ok(new) => Ok(new),
            Err(error) => Err(self.handles.push(ErrorHandle { id, error })?),
        })
    }

    /// The delivery under way; a guest that calls the store in start-up has none.
    fn delivering(&mut self) -> wasmtime::Result<&mut Delivering<S::Tx>> {
        Ok(self.delivery.as_mut().ok_or(HandleMisuse::NoDelivery)?)
    }

    fn identity(&mut self) -> u64 {
        let id = self.next_identity;
        self.next_identity += 1;
        id
    }

    /// A store stays usable whoever panicked while holding it: its transactions undo themselves.
    fn lock_store(&self) -> MutexGuard<'_, S> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Delivering<T> {
    fn record(&mut self, call: Call, answer: impl FnOnce() -> Answer) {
        if let Some(calls) = &mut self.calls {
            calls.push(CallRecord { call, answer: answer() });
        }
    }
}

/// Makes a call on the store's transaction.
fn carry_out(tx: &mut impl Tx, call: &Call) -> Result<Option<bool>, StoreError> {
    match call {
        Call::Begin => {
            Err(StoreError::new(ErrorClass::Misuse, "begin is no call on a transaction"))
        }
        Call::TryMark(event_id) => tx.try_mark(event_id).map(Some),
        Call::SaveAlert(alert) => tx.save_alert(alert).map(|()| None),
        Call::Commit => tx.commit().map(|()| None),
        Call::Rollback => {
            tx.rollback();
            Ok(None)
        }
    }
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
