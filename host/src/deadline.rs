//! How long a delivery may take, and whether its caller still wants it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::store::{ErrorClass, StoreError};

/// Where the count of nanoseconds starts.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

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
    /// When the delivery ends by the state, in nanoseconds since [`START`]; 0 once it was cancelled.
    /// Where it lies ahead there is no need for the state.
    ends: AtomicU64,
    /// Wakes a [`Deadline::wait`] when the caller cancels.
    cancelled: Condvar,
    /// How long the delivery may last from its start.
    delivery: Duration,
    /// How long the transaction may last from its BEGIN.
    transaction: Duration,
}

#[derive(Debug, Default)]
struct State {
    /// When the guest's time is over; set when the delivery starts.
    delivery_ends: Option<Instant>,
    /// When the transaction's time is over; set by its BEGIN.
    transaction_ends: Option<Instant>,
    /// When the caller cancelled.
    cancelled: Option<Instant>,
}

impl Deadline {
    /// A deadline whose clock is not running yet: `delivery` is the time for the whole delivery from
    /// [`Deadline::start`], `transaction` the time for the physical transaction from its BEGIN.
    #[must_use]
    pub fn new(delivery: Duration, transaction: Duration) -> Self {
        let (state, ends) = (Mutex::default(), AtomicU64::new(u64::MAX));
        Self(Arc::new(Shared { state, ends, cancelled: Condvar::new(), delivery, transaction }))
    }

    /// The deadline of what belongs to no delivery: it never passes.
    pub(crate) fn endless() -> Self {
        Self::new(Duration::MAX, Duration::MAX)
    }

    /// Starts the delivery's clock: what was spent waiting for a turn does not count.
    pub fn start(&self) {
        let now = Instant::now();
        self.change(|state| state.delivery_ends = now.checked_add(self.0.delivery));
    }

    /// Starts the transaction's clock: the store calls it once its physical BEGIN has succeeded.
    pub fn transaction_began(&self) {
        let now = Instant::now();
        self.change(|state| state.transaction_ends = now.checked_add(self.0.transaction));
    }

    /// Says that the caller no longer wants the delivery. May be called from any thread, at any time.
    pub fn cancel(&self) {
        self.change(|state| {
            state.cancelled.get_or_insert_with(Instant::now);
        });
        self.0.cancelled.notify_all();
    }

    /// Whether the delivery may go on.
    ///
    /// # Errors
    /// What ended it: the caller, or a limit that has passed.
    pub fn check(&self) -> Result<(), Expired> {
        let ends = self.0.ends.load(Ordering::Acquire);
        if ends == u64::MAX || nanos(Instant::now()) < ends {
            return Ok(());
        }
        self.state().check(Instant::now())
    }

    /// The same where the time has been looked at a short while ago: only a cancelled delivery is told.
    pub(crate) fn check_cancelled(&self) -> Result<(), Expired> {
        if self.0.ends.load(Ordering::Acquire) == 0 { self.check() } else { Ok(()) }
    }

    /// What is left of the time: the smaller rest of the two limits, zero once expired or cancelled.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        let now = Instant::now();
        self.state().ends().map_or(Duration::MAX, |end| end.saturating_duration_since(now))
    }

    /// How long ago the delivery expired or was cancelled; `None` while it may go on.
    #[must_use]
    pub fn overdue(&self) -> Option<Duration> {
        Instant::now().checked_duration_since(self.state().ends()?)
    }

    /// Waits for `at_most`, or until the delivery expires or is cancelled if that is sooner.
    ///
    /// # Errors
    /// What ended the delivery meanwhile.
    pub fn wait(&self, at_most: Duration) -> Result<(), Expired> {
        let until = Instant::now() + at_most;
        let mut state = self.state();
        loop {
            let now = Instant::now();
            state.check(now)?;
            if now >= until {
                return Ok(());
            }
            let end = state.ends().map_or(until, |end| end.min(until));
            let woken = self.0.cancelled.wait_timeout(state, end.saturating_duration_since(now));
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        let ends = match state.cancelled {
            Some(_) => 0,
            None => state.ends().map_or(u64::MAX, nanos),
        };
        self.0.ends.store(ends, Ordering::Release);
    }

    /// The state stays whole whoever panics while holding it: each change is one assignment.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nanoseconds since [`START`]; 584 years are enough for any.
fn nanos(at: Instant) -> u64 {
    u64::try_from(at.saturating_duration_since(*START).as_nanos()).unwrap_or(u64::MAX)
}

impl State {
    /// The earliest of what ends the delivery.
    fn ends(&self) -> Option<Instant> {
        [self.delivery_ends, self.transaction_ends, self.cancelled].into_iter().flatten().min()
    }

    fn check(&self, now: Instant) -> Result<(), Expired> {
        let passed = |end: Option<Instant>| end.is_some_and(|end| now >= end);
        if self.cancelled.is_some() {
            Err(Expired::Cancelled)
        } else if passed(self.transaction_ends) {
            Err(Expired::Transaction)
        } else if passed(self.delivery_ends) {
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

impl From<Expired> for ErrorClass {
    fn from(expired: Expired) -> Self {
        match expired {
            Expired::Delivery | Expired::Transaction => Self::Deadline,
            Expired::Cancelled => Self::Cancelled,
        }
    }
}

impl From<Expired> for StoreError {
    fn from(expired: Expired) -> Self {
        Self::new(expired.into(), expired.to_string())
    }
}
