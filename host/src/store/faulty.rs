//! A wrapper that fails on demand.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::stage::misuse;
use super::{Store, StoreError, Tx};
use crate::contract::Violation;
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

    /// The store behind.
    pub fn inner_mut(&mut self) -> &mut S {
        &mut self.inner
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

impl Fault {
    /// Every fault, in the order of the calls.
    pub const ALL: [Self; 5] = [
        Self::Begin,
        Self::TryMark,
        Self::SaveAlert,
        Self::CommitNotApplied,
        Self::CommitReplyLost,
    ];
}

/// The faults of a [`Faulty`] store. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    armed: Vec<Armed>,
    /// The error of a sticky fault that struck: what every later call is answered with, in kind.
    stuck: Option<StoreError>,
}

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

    /// As [`Faults::arm`]; every later call until the next `begin` fails as well, but for `rollback`,
    /// each with a new error that is like this one. So does a call that the contract forbids.
    pub fn arm_sticky(&self, fault: Fault, nth: usize, error: StoreError) {
        self.push(fault, nth, error, true);
    }

    /// Takes back every fault: those that have not struck, and one that sticks.
    pub fn disarm(&self) {
        *self.state() = State::default();
    }

    /// How many armed faults have not struck yet: a test that expects a fault sees here whether it
    /// was reached.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.state().armed.len()
    }

    fn push(&self, fault: Fault, nth: usize, error: StoreError, sticky: bool) {
        self.state().armed.push(Armed { fault, calls_left: nth.max(1), error, sticky });
    }

    /// Counts one call that each of `kinds` counts, and gives the fault that strikes it.
    fn strike(&self, kinds: &[Fault]) -> Option<Armed> {
        let mut state = self.state();
        for fault in state.armed.iter_mut().filter(|fault| kinds.contains(&fault.fault)) {
            fault.calls_left -= 1;
        }
        let due: Vec<_> = state.armed.extract_if(.., |fault| fault.calls_left == 0).collect();
        let struck = due.into_iter().next();
        state.stuck = struck.as_ref().filter(|fault| fault.sticky).map(|fault| fault.error.clone());
        struck
    }

    /// A new error like the one of the fault that sticks, if one does.
    fn again(&self) -> Option<StoreError> {
        self.state().stuck.as_ref().map(|error| StoreError::new(error.class(), error.to_string()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
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
        Ok(FaultyTx { inner, faults: self.faults.clone(), spoiled: false })
    }

    fn refuse(&mut self, violation: &Violation) -> StoreError {
        self.faults.again().unwrap_or_else(|| self.inner.refuse(violation))
    }
}

/// A transaction of [`Faulty`].
#[derive(Debug)]
pub struct FaultyTx<T> {
    inner: T,
    faults: Faults,
    /// Whether a fault has struck: the store behind is in the dark, so what follows is answered here.
    spoiled: bool,
}

impl<T: Tx> FaultyTx<T> {
    /// Fails if an earlier fault spoils the transaction.
    fn usable(&self) -> Result<(), StoreError> {
        if !self.spoiled {
            return Ok(());
        }
        Err(self.faults.again().unwrap_or_else(|| misuse("a call after one that failed")))
    }

    /// Fails if a fault of these kinds strikes now; `carry_out` is what a lost reply is preceded by.
    fn meet(
        &mut self,
        kinds: &[Fault],
        carry_out: impl FnOnce(&mut T, Option<Fault>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.usable()?;
        let struck = self.faults.strike(kinds);
        carry_out(&mut self.inner, struck.as_ref().map(|struck| struck.fault))?;
        self.spoiled = struck.is_some();
        struck.map_or(Ok(()), |struck| Err(struck.error))
    }
}

impl<T: Tx> Tx for FaultyTx<T> {
    fn try_mark(&mut self, event_id: &str) -> Result<bool, StoreError> {
        self.meet(&[Fault::TryMark], |_, _| Ok(()))?;
        self.inner.try_mark(event_id)
    }

    fn save_alert(&mut self, alert: &Alert) -> Result<(), StoreError> {
        self.meet(&[Fault::SaveAlert], |_, _| Ok(()))?;
        self.inner.save_alert(alert)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let kinds = [Fault::CommitNotApplied, Fault::CommitReplyLost];
        self.meet(&kinds, |inner, struck| match struck {
            None | Some(Fault::CommitReplyLost) => inner.commit(),
            Some(_) => Ok(()),
        })
    }

    fn rollback(&mut self) {
        self.spoiled = false;
        self.inner.rollback();
    }
}
