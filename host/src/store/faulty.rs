//! A wrapper that fails on demand.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::stage::misuse;
use super::{Store, StoreError, Tx};
use crate::deadline::Deadline;
use crate::event::Alert;

/// A store that answers chosen calls with chosen errors, and passes all others on.
///
/// Which calls fail is said through its [`Faults`].
#[derive(Debug)]
pub struct Faulty<S> {
    inner: S,
    faults: Faults,
}

impl<S: Store> Faulty<S> {
    /// A store that behaves as `inner` until a fault is armed.
    #[must_use]
    pub fn new(inner: S) -> Self {
        Self { inner, faults: Faults::default() }
    }

    /// A handle that arms faults, also while the store is in use.
    #[must_use]
    pub fn faults(&self) -> Faults {
        self.faults.clone()
    }
}

/// Where and how a [`Faulty`] store fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// `begin` fails; there is no transaction.
    Begin,
    /// `try_mark` fails; nothing is staged.
    TryMark,
    /// `save_alert` fails; nothing is staged.
    SaveAlert,
    /// `commit` fails and nothing is stored.
    CommitNotApplied,
    /// `commit` is carried out and its reply is lost: an error is answered although the pair is
    /// stored. A commit that the store behind refuses gives the store's own error instead.
    CommitReplyLost,
}

/// The faults of a [`Faulty`] store. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Mutex<Vec<Armed>>>);

#[derive(Debug)]
struct Armed {
    fault: Fault,
    /// Calls of its kind until it strikes, that call included.
    calls_left: usize,
    error: StoreError,
    sticky: bool,
}

impl Faults {
    /// Lets the `nth` call of the fault's kind from now on, counted from 1, fail with `error`: the
    /// very value, which [`StoreError::is`] tells.
    ///
    /// As after any error, the transaction's later calls but `rollback` are answered with
    /// [`ErrorClass::Misuse`](super::ErrorClass::Misuse). Each armed fault counts on its own and
    /// strikes once; of two that are due at one call the one armed first strikes and the other is
    /// spent. An `nth` of zero counts as 1.
    pub fn arm(&self, fault: Fault, nth: usize, error: StoreError) {
        self.push(fault, nth, error, false);
    }

    /// As [`Faults::arm`]; every later call of that transaction but `rollback` fails with the same
    /// error.
    pub fn arm_sticky(&self, fault: Fault, nth: usize, error: StoreError) {
        self.push(fault, nth, error, true);
    }

    /// Takes back every fault that has not struck.
    pub fn disarm(&self) {
        self.armed().clear();
    }

    /// How many armed faults have not struck yet: a test that expects a fault sees here whether it
    /// was reached.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.armed().len()
    }

    fn push(&self, fault: Fault, nth: usize, error: StoreError, sticky: bool) {
        self.armed().push(Armed { fault, calls_left: nth.max(1), error, sticky });
    }

    /// Counts one call that each of `kinds` counts, and gives the fault that strikes it.
    fn strike(&self, kinds: &[Fault]) -> Option<Armed> {
        let mut armed = self.armed();
        for fault in armed.iter_mut().filter(|fault| kinds.contains(&fault.fault)) {
            fault.calls_left -= 1;
        }
        armed.extract_if(.., |fault| fault.calls_left == 0).collect::<Vec<_>>().into_iter().next()
    }

    fn armed(&self) -> MutexGuard<'_, Vec<Armed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Store> Store for Faulty<S> {
    type Tx = FaultyTx<S::Tx>;

    fn begin(&mut self, deadline: &Deadline) -> Result<Self::Tx, StoreError> {
        if let Some(struck) = self.faults.strike(&[Fault::Begin]) {
            return Err(struck.error);
        }
        let inner = self.inner.begin(deadline)?;
        Ok(FaultyTx { inner, faults: self.faults.clone(), struck: None })
    }
}

/// A transaction of [`Faulty`].
#[derive(Debug)]
pub struct FaultyTx<T> {
    inner: T,
    faults: Faults,
    /// The fault that this transaction has met, until it is rolled back.
    struck: Option<Armed>,
}

impl<T: Tx> FaultyTx<T> {
    /// Fails if an earlier fault spoils the transaction, or one strikes now.
    fn meet(&mut self, kinds: &[Fault]) -> Result<(), StoreError> {
        self.spoiled()?;
        self.struck = self.faults.strike(kinds);
        self.struck.as_ref().map_or(Ok(()), |struck| Err(struck.error.clone()))
    }

    /// A fault leaves the store behind in the dark, so what follows from it is answered here.
    fn spoiled(&self) -> Result<(), StoreError> {
        match &self.struck {
            Some(struck) if struck.sticky => Err(struck.error.clone()),
            Some(_) => Err(misuse("a call after one that failed")),
            None => Ok(()),
        }
    }
}

impl<T: Tx> Tx for FaultyTx<T> {
    fn try_mark(&mut self, event_id: &str) -> Result<bool, StoreError> {
        self.meet(&[Fault::TryMark])?;
        self.inner.try_mark(event_id)
    }

    fn save_alert(&mut self, alert: &Alert) -> Result<(), StoreError> {
        self.meet(&[Fault::SaveAlert])?;
        self.inner.save_alert(alert)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.spoiled()?;
        let struck = self.faults.strike(&[Fault::CommitNotApplied, Fault::CommitReplyLost]);
        if struck.as_ref().is_none_or(|struck| struck.fault == Fault::CommitReplyLost) {
            self.inner.commit()?;
        }
        self.struck = struck;
        self.struck.as_ref().map_or(Ok(()), |struck| Err(struck.error.clone()))
    }

    fn rollback(&mut self) {
        self.struck = None;
        self.inner.rollback();
    }
}
