//! A batch: deliveries that have ended and whose commit is still to come.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Instant;

use hashbrown::HashTable;

use crate::event::Alert;
use crate::processor::Outcome;
use crate::source::Received;
use crate::trace::{Answer, Call, CallTrace};

/// What a delivery costs to keep, beside its texts: its place in the batch and in the index, each with
/// the room that growing leaves. In bytes.
const KEEPING: usize = size_of::<Done>() * 3 / 2 + 16;

/// What a recorded call costs to keep, beside its texts, in bytes.
const CALL: usize = 128;

/// Deliveries in the order in which they were made.
#[derive(Debug)]
pub(super) struct Batch {
    done: Vec<Done>,
    /// The deliveries that applied their event, by its id.
    applied: HashTable<u32>,
    bytes: usize,
    began: Option<Instant>,
}

/// A delivery that has ended well, as far as can be known before its commit.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) received: Received,
    pub(super) outcome: Outcome,
    /// What else of it can be seen; most deliveries have nothing.
    pub(super) visible: Option<Box<Visible>>,
}

/// What can be seen of a delivery beside its outcome.
#[derive(Debug)]
pub(super) struct Visible {
    /// The calls, where they are recorded.
    pub(super) trace: Option<CallTrace>,
    /// The lines that the guest wrote.
    pub(super) output: Vec<String>,
}

impl Visible {
    /// What there is to see, if anything.
    pub(super) fn new(trace: Option<CallTrace>, output: Vec<String>) -> Option<Box<Self>> {
        (trace.is_some() || !output.is_empty()).then(|| Box::new(Self { trace, output }))
    }

    fn bytes(&self) -> usize {
        let calls = self.trace.iter().flat_map(|trace| &trace.calls);
        let of_calls: usize = calls
            .map(|record| {
                let texts = match &record.call {
                    Call::TryMark(id) => id.len(),
                    Call::SaveAlert(alert) => alert.bytes(),
                    Call::Begin | Call::Commit | Call::Rollback => 0,
                };
                CALL + texts + if matches!(record.answer, Answer::Failed(_)) { CALL } else { 0 }
            })
            .sum();
        of_calls + self.output.iter().map(|line| size_of::<String>() + line.len()).sum::<usize>()
    }
}

impl Batch {
    /// A batch without deliveries, with room for as many as `like` has: those to come are alike.
    pub(super) fn new(like: usize) -> Self {
        let done = Vec::with_capacity(like);
        Self { done, applied: HashTable::with_capacity(like), bytes: 0, began: None }
    }

    pub(super) fn len(&self) -> usize {
        self.done.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// What the batch costs to keep, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// When its first delivery had ended.
    pub(super) fn began(&self) -> Option<Instant> {
        self.began
    }

    pub(super) fn done(&self) -> &[Done] {
        &self.done
    }

    /// The events of its deliveries.
    pub(super) fn into_events(batch: Arc<Self>) -> Vec<Received> {
        match Arc::try_unwrap(batch) {
            Ok(batch) => batch.done.into_iter().map(|done| done.received).collect(),
            Err(shared) => shared.done.iter().map(|done| done.received.clone()).collect(),
        }
    }

    /// The event of the first delivery.
    pub(super) fn first(&self) -> Option<&Received> {
        self.done.first().map(|done| &done.received)
    }

    /// The alerts of the pairs to store, in the order of delivery.
    pub(super) fn pairs(&self) -> Vec<&Alert> {
        let applied = self.done.iter().filter(|done| done.outcome == Outcome::Applied);
        applied.map(|done| done.received.event.alert()).collect()
    }

    /// Whether a delivery of the batch applied the event with this id, whose hash is `hash`.
    pub(super) fn has_applied(&self, hash: u64, event_id: &str) -> bool {
        self.applied.find(hash, |index| self.id(*index) == event_id).is_some()
    }

    /// Takes a delivery; `hash` is that of its event's id by `hasher`.
    pub(super) fn push(&mut self, done: Done, hash: u64, hasher: &RandomState) {
        self.began.get_or_insert_with(Instant::now);
        let visible = done.visible.as_ref().map_or(0, |visible| visible.bytes());
        self.bytes += KEEPING + done.received.event.alert().bytes() + visible;
        let applied = done.outcome == Outcome::Applied;
        self.done.push(done);
        if applied {
            // Batches have far fewer deliveries than that.
            let index = self.done.len() as u32 - 1;
            let Self { done, applied, .. } = self;
            let id = |index: &u32| done[*index as usize].received.event.id();
            applied.insert_unique(hash, index, |index| hasher.hash_one(id(index)));
        }
    }

    fn id(&self, index: u32) -> &str {
        self.done[index as usize].received.event.id()
    }
}
