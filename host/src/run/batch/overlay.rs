//! Which events have a marker: staged here, or stored as the last look-up saw it.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::bulk::Bulk;
use super::staged::Batch;
use crate::store::StoreError;

/// How many ids are looked up at once.
const AT_ONCE: usize = 1_024;

/// After so many ids without a hit the look-ups are left out: the database tells at apply time.
const QUIET: u64 = 16_384;

/// What is known of markers that no look-up shows yet, and what the look-ups showed.
///
/// A repeated id is answered from the batches that are staged. A batch stays here until a look-up
/// whose snapshot is newer than its commit.
#[derive(Debug)]
pub(super) struct Overlay {
    hasher: RandomState,
    /// Batches that are on their way, or durable and not seen by a look-up yet; the oldest first.
    batches: VecDeque<Arc<Batch>>,
    /// How many of them are known to be durable.
    durable: usize,
    /// What the look-up said of the next events, in order.
    looked_up: VecDeque<bool>,
    /// How many ids were looked up since the last hit.
    quiet: u64,
    /// How many ids without a hit make look-ups not worth their cost.
    patience: u64,
}

impl Overlay {
    pub(super) fn new() -> Self {
        Self {
            hasher: RandomState::new(),
            batches: VecDeque::new(),
            durable: 0,
            looked_up: VecDeque::new(),
            quiet: 0,
            patience: QUIET,
        }
    }

    pub(super) fn hasher(&self) -> &RandomState {
        &self.hasher
    }

    /// Looks up the next events, unless it has been done.
    ///
    /// # Errors
    /// It is unknown which of them have a marker.
    pub(super) fn look_up<'a>(
        &mut self,
        reader: &mut impl Bulk,
        next: impl Iterator<Item = &'a str>,
    ) -> Result<(), StoreError> {
        if !self.looked_up.is_empty() {
            return Ok(());
        }
        let ids: Vec<&str> = next.take(AT_ONCE).collect();
        if self.quiet >= self.patience {
            self.looked_up.extend(ids.iter().map(|_| false));
            // The newest of them is kept: what comes again most often comes again soon.
            self.forget_durable(1);
            return Ok(());
        }
        let marked = reader.marked(&ids)?;
        self.forget_durable(0);
        let hits = marked.iter().any(|marked| *marked);
        self.quiet = if hits { 0 } else { self.quiet + ids.len() as u64 };
        self.looked_up.extend(marked);
        Ok(())
    }

    /// Whether the next event has a marker; `current` is the batch that is being built. Gives the
    /// hash of its id as well.
    pub(super) fn is_marked(&mut self, current: &Batch, event_id: &str) -> (bool, u64) {
        let hash = self.hasher.hash_one(event_id);
        let stored = self.looked_up.pop_front().unwrap_or(false);
        let marked = stored
            || current.has_applied(hash, event_id)
            || self.batches.iter().any(|batch| batch.has_applied(hash, event_id));
        (marked, hash)
    }

    /// A batch is on its way.
    pub(super) fn sent(&mut self, batch: Arc<Batch>) {
        self.batches.push_back(batch);
    }

    /// The oldest batch on its way is durable.
    pub(super) fn became_durable(&mut self) {
        self.durable += 1;
    }

    /// Forgets everything that is staged and everything that was looked up.
    pub(super) fn clear(&mut self) {
        self.batches.clear();
        self.durable = 0;
        self.look_again();
    }

    /// Forgets what was looked up: something was stored since.
    pub(super) fn look_again(&mut self) {
        self.looked_up.clear();
        self.quiet = 0;
    }

    /// A marker was met that no look-up had shown: looking up is worth its cost after all.
    pub(super) fn surprised(&mut self) {
        self.quiet = 0;
        self.patience = self.patience.saturating_mul(4);
    }

    /// Forgets the durable batches but for the newest `keep`.
    fn forget_durable(&mut self, keep: usize) {
        while self.durable > keep {
            self.batches.pop_front();
            self.durable -= 1;
        }
    }
}
