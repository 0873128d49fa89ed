//! A store in memory: for trying a guest out, and for tests.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::patience::wait_for_lock;
use super::stage::{Stage, still_open};
use super::{ErrorClass, Store, StoreError, Tx};
use crate::deadline::Deadline;
use crate::event::Alert;
use crate::run::batch::{Bulk, NotApplied};

/// How long a `begin` waits for another handle's transaction unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(5);

/// A store whose markers and alerts live in memory.
///
/// A clone is another handle on the same data, as a second connection is to a database: one handle
/// writes at a time, another's `begin` waits for it, and each sees what the other committed.
#[derive(Debug)]
pub struct Memory {
    data: Arc<Mutex<Data>>,
    /// Whether a transaction of this very handle is open.
    in_transaction: Arc<AtomicBool>,
    patience: Duration,
}

#[derive(Debug, Default)]
struct Data {
    /// Each marker with its place in the order of storing.
    markers: HashMap<String, usize>,
    alerts: Vec<Alert>,
    /// Whether a transaction of any handle is open.
    has_writer: bool,
}

impl Memory {
    /// An empty store; a `begin` waits up to five seconds for another handle's transaction.
    #[must_use]
    pub fn new() -> Self {
        Self { data: Arc::default(), in_transaction: Arc::default(), patience: PATIENCE }
    }

    /// The same handle, whose `begin` waits up to `patience` for another handle's transaction.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The ids of the committed markers, in order of storing.
    #[must_use]
    pub fn markers(&self) -> Vec<String> {
        let data = lock(&self.data);
        let mut markers: Vec<_> = data.markers.iter().collect();
        markers.sort_unstable_by_key(|(_, place)| **place);
        markers.into_iter().map(|(id, _)| id.clone()).collect()
    }

    /// The committed alerts, in order of storing.
    #[must_use]
    pub fn alerts(&self) -> Vec<Alert> {
        lock(&self.data).alerts.clone()
    }
}

/// What a judge of guests asks and does beside the contract.
impl Memory {
    /// Whether an event has a committed marker.
    pub(crate) fn is_marked(&self, event_id: &str) -> bool {
        lock(&self.data).markers.contains_key(event_id)
    }

    /// How many committed alerts an event has.
    pub(crate) fn count_alerts(&self, event_id: &str) -> usize {
        let data = lock(&self.data);
        data.alerts.iter().filter(|alert| alert.source_event_id() == event_id).count()
    }

    /// Stores a pair, as a commit does.
    pub(crate) fn store(&self, alert: Alert) {
        lock(&self.data).store(alert);
    }
}

impl Data {
    fn store(&mut self, alert: Alert) {
        let place = self.markers.len();
        self.markers.insert(alert.source_event_id().to_owned(), place);
        self.alerts.push(alert);
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Memory {
    fn clone(&self) -> Self {
        let data = Arc::clone(&self.data);
        Self { data, in_transaction: Arc::default(), patience: self.patience }
    }
}

impl Store for Memory {
    type Tx = MemoryTx;

    fn begin(&mut self, deadline: &Deadline) -> Result<MemoryTx, StoreError> {
        deadline.check()?;
        if self.in_transaction.load(Ordering::Relaxed) {
            return Err(still_open());
        }
        wait_for_lock(self.patience, deadline, || {
            let mut data = lock(&self.data);
            if mem::replace(&mut data.has_writer, true) {
                return Err(busy());
            }
            Ok(())
        })?;
        deadline.transaction_began();
        self.in_transaction.store(true, Ordering::Relaxed);
        Ok(MemoryTx {
            data: Arc::clone(&self.data),
            in_transaction: Arc::clone(&self.in_transaction),
            deadline: deadline.clone(),
            stage: Stage::Begun,
            staged: None,
        })
    }
}

/// A transaction of [`Memory`].
#[derive(Debug)]
pub struct MemoryTx {
    data: Arc<Mutex<Data>>,
    in_transaction: Arc<AtomicBool>,
    deadline: Deadline,
    stage: Stage,
    /// The pair to be committed: its marker is the alert's source.
    staged: Option<Alert>,
}

impl MemoryTx {
    fn end(&mut self) {
        self.stage = Stage::Ended;
        // The handle first: whoever sees the store free may begin on this handle as well.
        self.in_transaction.store(false, Ordering::Relaxed);
        lock(&self.data).has_writer = false;
    }
}

impl Tx for MemoryTx {
    fn try_mark(&mut self, event_id: &str) -> Result<bool, StoreError> {
        self.stage.may_mark()?;
        self.stage = Stage::Failed;
        self.deadline.check()?;
        let new = !lock(&self.data).markers.contains_key(event_id);
        self.stage = if new { Stage::Marked(event_id.to_owned()) } else { Stage::AlreadyCommitted };
        Ok(new)
    }

    fn save_alert(&mut self, alert: &Alert) -> Result<(), StoreError> {
        self.stage.may_save(alert)?;
        self.stage = Stage::Failed;
        self.deadline.check()?;
        self.staged = Some(alert.clone());
        self.stage = Stage::Saved;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.stage.may_commit()?;
        self.stage = Stage::Failed;
        self.deadline.check()?;
        if let Some(alert) = self.staged.take() {
            lock(&self.data).store(alert);
        }
        self.end();
        Ok(())
    }

    fn rollback(&mut self) {
        if !matches!(self.stage, Stage::Ended) {
            self.end();
        }
    }
}

impl Drop for MemoryTx {
    fn drop(&mut self) {
        self.rollback();
    }
}

impl Bulk for Memory {
    fn marked(&mut self, event_ids: &[&str]) -> Result<Vec<bool>, StoreError> {
        let data = lock(&self.data);
        Ok(event_ids.iter().map(|id| data.markers.contains_key(*id)).collect())
    }

    fn apply(&mut self, pairs: &[&Alert]) -> Result<(), NotApplied> {
        let applied = wait_for_lock(self.patience, &Deadline::endless(), || {
            let mut data = lock(&self.data);
            if data.has_writer {
                return Err(busy());
            }
            let new = pairs.iter().all(|pair| !data.markers.contains_key(pair.source_event_id()));
            if new {
                pairs.iter().for_each(|pair| data.store((*pair).clone()));
            }
            Ok(new)
        });
        match applied {
            Ok(true) => Ok(()),
            Ok(false) => Err(NotApplied::Conflict),
            Err(error) => Err(NotApplied::Failed(error)),
        }
    }
}

fn busy() -> StoreError {
    StoreError::new(ErrorClass::Busy, "begin: another handle is writing")
}

/// No call panics while it holds the lock with the pair half stored.
fn lock(data: &Mutex<Data>) -> MutexGuard<'_, Data> {
    data.lock().unwrap_or_else(PoisonError::into_inner)
}
