//! A wrapper that records each call that reaches a store.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Store, StoreError, Tx};
use crate::contract::Violation;
use crate::deadline::Deadline;
use crate::event::Alert;
use crate::trace::{Answer, Call, CallRecord};

/// A store that records every call with its arguments and its answer, and changes nothing.
#[derive(Debug)]
pub struct Traced<S> {
    inner: S,
    log: CallLog,
}

impl<S: Store> Traced<S> {
    /// Records the calls that reach `inner`.
    #[must_use]
    pub fn new(inner: S) -> Self {
        Self { inner, log: CallLog::default() }
    }

    /// A handle to the records, valid for as long as it is kept.
    #[must_use]
    pub fn log(&self) -> CallLog {
        self.log.clone()
    }
}

/// The records of a [`Traced`] store. Clones share them.
///
/// Only calls stand here. A transaction that was dropped before its end leaves no record of its
/// own: its calls just stop, with neither a `commit` that was answered [`Answer::Done`] nor a
/// `rollback` after them. A call that panicked is not recorded.
#[derive(Clone, Debug, Default)]
pub struct CallLog(Arc<Mutex<Vec<CallRecord>>>);

impl CallLog {
    /// The calls since the last `take`, in order; the log is empty afterwards.
    #[must_use]
    pub fn take(&self) -> Vec<CallRecord> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, call: Call, answer: Answer) {
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        records.push(CallRecord { call, answer });
    }
}

impl<S: Store> Store for Traced<S> {
    type Tx = TracedTx<S::Tx>;

    fn begin(&mut self, deadline: &Deadline) -> Result<Self::Tx, StoreError> {
        let result = self.inner.begin(deadline);
        self.log.push(Call::Begin, done(&result));
        Ok(TracedTx { inner: result?, log: self.log.clone() })
    }

    fn refuse(&mut self, violation: &Violation) -> StoreError {
        self.inner.refuse(violation)
    }
}

/// A transaction of [`Traced`].
#[derive(Debug)]
pub struct TracedTx<T> {
    inner: T,
    log: CallLog,
}

impl<T: Tx> Tx for TracedTx<T> {
    fn try_mark(&mut self, event_id: &str) -> Result<bool, StoreError> {
        let result = self.inner.try_mark(event_id);
        let answer = match &result {
            Ok(new) => Answer::Marked(*new),
            Err(error) => Answer::Failed(error.clone()),
        };
        self.log.push(Call::TryMark(event_id.to_owned()), answer);
        result
    }

    fn save_alert(&mut self, alert: &Alert) -> Result<(), StoreError> {
        let result = self.inner.save_alert(alert);
        self.log.push(Call::SaveAlert(alert.clone()), done(&result));
        result
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let result = self.inner.commit();
        self.log.push(Call::Commit, done(&result));
        result
    }

    fn rollback(&mut self) {
        self.inner.rollback();
        self.log.push(Call::Rollback, Answer::Done);
    }
}

/// The answer of a call that gives nothing to record when it succeeds.
fn done<T>(result: &Result<T, StoreError>) -> Answer {
    match result {
        Ok(_) => Answer::Done,
        Err(error) => Answer::Failed(error.clone()),
    }
}
