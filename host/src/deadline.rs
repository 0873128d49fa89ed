//! How long a delivery may take, and whether its caller still wants it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::store::{ErrorClass, StoreError};

/// The deadline of one delivery, shared by all who wait on its behalf.
///
/// It covers the guest's time from the start of the delivery and, separately, the physical
/// transaction from its BEGIN. Once either has passed, or the caller has cancelled, every call of
/// the store but `rollback` is answered with an error, so that the guest takes its ordinary error
/// path. Clones share one state.
#[derive(Clone, Debug)]
pub struct Deadline(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Wakes a [`Deadline::wait`] when the caller cancels.
    cancelled: Condvar,
    /// How long the transaction may last from its BEGIN.
    transaction: Duration,
}

#[derive(Debug)]
struct State {
    /// When the guest's time is over.
    delivery_ends: Instant,
    /// When the transaction's time is over; set by its BEGIN.
    transaction_ends: Option<Instant>,
    cancelled: bool,
}

impl Deadline {
    /// A deadline that starts now: `delivery` for the whole delivery, `transaction` for the
    /// physical transaction from its BEGIN.
    #[must_use]
    pub fn starting_now(delivery: Duration, transaction: Duration) -> Self {
        let state = State {
            delivery_ends: Instant::now() + delivery,
            transaction_ends: None,
            cancelled: false,
        };
        Self(Arc::new(Shared { state: Mutex::new(state), cancelled: Condvar::new(), transaction }))
    }

    /// Says that the caller no longer wants the delivery. May be called from any thread, at any time.
    pub fn cancel(&self) {
        self.state().cancelled = true;
        self.0.cancelled.notify_all();
    }

    /// Starts the transaction's clock: the store calls it once its physical BEGIN has succeeded.
    pub fn transaction_began(&self) {
        let ends = Instant::now() + self.0.transaction;
        self.state().transaction_ends = Some(ends);
    }

    /// Whether the delivery may go on.
    ///
    /// # Errors
    /// What ended it: the caller, or a limit that has passed.
    pub fn check(&self) -> Result<(), Expired> {
        self.state().check()
    }

    /// What is left of the time: the smaller rest of the two limits, zero once expired or cancelled.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        let state = self.state();
        if state.cancelled {
            return Duration::ZERO;
        }
        state.ends().saturating_duration_since(Instant::now())
    }

    /// How long ago the delivery expired or, where it has not, `None`. A cancelled delivery counts
    /// as expired from the moment a limit would have passed or, if earlier, is given as zero.
    #[must_use]
    pub fn overdue(&self) -> Option<Duration> {
        let state = self.state();
        let late = Instant::now().checked_duration_since(state.ends());
        late.or(state.cancelled.then_some(Duration::ZERO))
    }

    /// Waits for `at_most`, or until the delivery expires or is cancelled if that is sooner.
    ///
    /// # Errors
    /// What ended the delivery meanwhile.
    pub fn wait(&self, at_most: Duration) -> Result<(), Expired> {
        let until = Instant::now() + at_most;
        let mut state = self.state();
        loop {
            state.check()?;
            let now = Instant::now();
            if now >= until {
                return Ok(());
            }
            let rest = until.min(state.ends()).saturating_duration_since(now);
            let woken = self.0.cancelled.wait_timeout(state, rest);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The state stays whole whoever panics while holding it: each change is one assignment.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn ends(&self) -> Instant {
        self.transaction_ends.map_or(self.delivery_ends, |end| end.min(self.delivery_ends))
    }

    fn check(&self) -> Result<(), Expired> {
        let now = Instant::now();
        if self.cancelled {
            Err(Expired::Cancelled)
        } else if self.transaction_ends.is_some_and(|end| now >= end) {
            Err(Expired::Transaction)
        } else if now >= self.delivery_ends {
            Err(Expired::Delivery)
        } else {
            Ok(())
        }
    }
}

/// What ended a delivery before its guest did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Expired {
    /// The time for the whole delivery is over.
    #[error("the delivery's deadline has passed")]
    Delivery,
    /// The time for the physical transaction is over.
    #[error("the transaction's deadline has passed")]
    Transaction,
    /// The caller no longer wants the delivery.
    #[error("the caller cancelled the delivery")]
    Cancelled,
}

impl From<Expired> for StoreError {
    fn from(expired: Expired) -> Self {
        let class = match expired {
            Expired::Delivery | Expired::Transaction => ErrorClass::Deadline,
            Expired::Cancelled => ErrorClass::Cancelled,
        };
        Self::new(class, expired.to_string())
    }
}
