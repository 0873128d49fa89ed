//! A database that fails where the plan says so, and into which another process writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use process_once::event::Alert;
use process_once::run::batch::{Bulk, NotApplied};
use process_once::store::{ErrorClass, Memory, Sqlite, SqliteBulk, StoreError};
use tests::stores::{LONG, Lab, MemoryLab, SqliteLab, deliver};

use crate::plan::{How, Trouble, When, event_id};
use crate::world::{Observed, World};

/// The message of an alert that another process stored.
pub(crate) const FOREIGN: &str = "stored by another process";

/// Data that batches can be applied to.
pub(crate) trait BulkLab: Lab + Clone {
    type Bulk: Bulk;

    fn bulk(&self) -> Self::Bulk;
}

impl BulkLab for Arc<MemoryLab> {
    type Bulk = Memory;

    fn bulk(&self) -> Memory {
        self.open(LONG)
    }
}

impl BulkLab for Arc<SqliteLab> {
    type Bulk = SqliteBulk;

    fn bulk(&self) -> SqliteBulk {
        let store: Sqlite = self.open(LONG);
        SqliteBulk::new(&store).unwrap()
    }
}

/// What is shared by the connections of one run.
pub(crate) struct Troubles<L> {
    pub(crate) lab: L,
    pub(crate) world: Arc<World>,
    pub(crate) plan: Vec<Trouble>,
    pub(crate) look_ups: AtomicUsize,
    pub(crate) applies: AtomicUsize,
    /// Whether a commit was made doubtful.
    pub(crate) doubted: AtomicBool,
}

impl<L: BulkLab> Troubles<L> {
    pub(crate) fn new(lab: &L, world: &Arc<World>, plan: &[Trouble]) -> Arc<Self> {
        Arc::new(Self {
            lab: lab.clone(),
            world: Arc::clone(world),
            plan: plan.to_vec(),
            look_ups: AtomicUsize::new(0),
            applies: AtomicUsize::new(0),
            doubted: AtomicBool::new(false),
        })
    }

    /// Lets another process write what it writes now.
    fn overtake(&self, now: When) {
        for trouble in &self.plan {
            if let Trouble::Overtaken(id, when) = trouble
                && *when == now
            {
                let alert = Alert::new(&event_id(*id), "another", FOREIGN);
                // Another batch may be on its way.
                let applied = deliver(&mut self.lab.open(LONG), &alert);
                assert!(applied.is_ok(), "another process: {applied:?}");
            }
        }
    }
}

/// A connection that fails as planned.
pub(crate) struct Shaky<L: BulkLab> {
    inner: L::Bulk,
    troubles: Arc<Troubles<L>>,
}

impl<L: BulkLab> Shaky<L> {
    pub(crate) fn new(troubles: &Arc<Troubles<L>>) -> Self {
        Self { inner: troubles.lab.bulk(), troubles: Arc::clone(troubles) }
    }
}

impl<L: BulkLab> Bulk for Shaky<L> {
    fn marked(&mut self, event_ids: &[&str]) -> Result<Vec<bool>, StoreError> {
        let troubles = &self.troubles;
        let nth = 1 + troubles.look_ups.fetch_add(1, Ordering::Relaxed);
        troubles.overtake(When::BeforeLookUp(nth));
        let marked = self.inner.marked(event_ids);
        troubles.overtake(When::AfterLookUp(nth));
        troubles.world.observe(Observed::Operation("a look-up"));
        if troubles.plan.contains(&Trouble::LookUp(nth)) {
            return Err(StoreError::new(ErrorClass::Io, "the look-up failed"));
        }
        marked
    }

    fn apply(&mut self, pairs: &[&Alert]) -> Result<(), NotApplied> {
        let mut ids: Vec<_> = pairs.iter().map(|pair| pair.source_event_id()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), pairs.len(), "an id was given twice");
        let troubles = &self.troubles;
        let nth = 1 + troubles.applies.fetch_add(1, Ordering::Relaxed);
        troubles.overtake(When::BeforeApply(nth));
        troubles.world.observe(Observed::Operation("a batch is to be applied"));
        let how = troubles.plan.iter().find_map(|trouble| match trouble {
            Trouble::Apply(which, how) if *which == nth => Some(*how),
            _ => None,
        });
        let error = |class| StoreError::new(class, "the batch failed");
        let applied = match how {
            None => self.inner.apply(pairs),
            Some(How::NotApplied) => Err(NotApplied::Failed(error(ErrorClass::Io))),
            Some(How::NotAppliedInDoubt) => {
                Err(NotApplied::InDoubt(error(ErrorClass::OutcomeUnknown)))
            }
            Some(How::AppliedInDoubt) => self
                .inner
                .apply(pairs)
                .and(Err(NotApplied::InDoubt(error(ErrorClass::OutcomeUnknown)))),
        };
        if matches!(applied, Err(NotApplied::InDoubt(_))) {
            troubles.doubted.store(true, Ordering::Relaxed);
        }
        troubles.overtake(When::AfterApply(nth));
        troubles.world.observe(Observed::Operation("a batch was applied, or not"));
        applied
    }
}
