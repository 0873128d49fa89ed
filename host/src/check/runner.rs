//! Plays many schedules, on every core, and leaves out what would only exhaust more budgets.
//!
//! What is played and what is said of it do not depend on which thread was faster: threads meet after
//! each stretch of schedules, and only then is it decided what to leave out.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use sha2::{Digest, Sha256};

use super::ground::Ground;
use super::schedule::{Life, Planned, Schedule};
use super::session::Bench;
use super::tally::Tally;
use super::walk::Walk;
use super::{Check, CheckError};
use crate::instance::Linked;
use crate::store::{Fault, Faulty};

/// How many exhausted budgets of a family of schedules are enough to leave the rest of it out.
const EXHAUSTED_IN_FAMILY: usize = 2;
/// How many exhausted budgets in all are enough to leave everything else out.
const EXHAUSTED: usize = 8;
/// The most schedules between two meetings of the threads.
const STRETCH: usize = 2_048;

/// A guest on as many benches as there are cores, and what was seen so far.
pub(crate) struct Runner<'c, G: Ground> {
    benches: Vec<Bench<G>>,
    /// Is told how much more was done.
    progress: &'c (dyn Fn(usize) + 'c),
    /// When the clock ends the check.
    ends: Instant,
    pub(crate) tally: Tally,
    /// The digests of the schedules, in order.
    fingerprints: Sha256,
    /// The families in which budgets were exhausted: the fault that befell the delivery.
    exhausted: Vec<Option<Fault>>,
    /// How many schedules were handed in so far.
    order: usize,
    pub(crate) out_of_time: bool,
}

/// How much of what was handed in was played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// Schedules that were played.
    pub played: usize,
    /// Schedules in all.
    pub all: usize,
}

/// What one thread brings back from a stretch.
#[derive(Default)]
struct Seen {
    tally: Tally,
    fingerprints: Vec<(usize, [u8; 32])>,
    exhausted: Vec<(usize, Option<Fault>)>,
}

impl<'c, G: Ground> Runner<'c, G> {
    /// # Errors
    /// A store cannot be opened.
    pub(crate) fn new(
        check: &Check,
        linked: Linked<Faulty<G>>,
        progress: &'c (dyn Fn(usize) + 'c),
    ) -> Result<Self, CheckError> {
        let linked = Arc::new(linked);
        let bench = |_| Bench::new(Arc::clone(&linked), check.rules);
        Ok(Self {
            benches: (0..cores()).map(bench).collect::<Result<_, _>>()?,
            progress,
            ends: Instant::now() + check.time,
            tally: Tally::default(),
            fingerprints: Sha256::new(),
            exhausted: Vec::new(),
            order: 0,
            out_of_time: false,
        })
    }

    /// Plays these schedules, in order as far as anybody can tell.
    pub(crate) fn play_all(&mut self, schedules: &[Schedule]) -> Result<Covered, CheckError> {
        let mut covered = Covered { played: 0, all: schedules.len() };
        let (mut rest, mut stretch) = (schedules, 1);
        while !rest.is_empty() && !self.is_over() {
            let (now, later) = rest.split_at(stretch.min(rest.len()));
            let first = self.order + schedules.len() - rest.len();
            let chosen: Vec<(usize, &Schedule)> =
                (first..).zip(now).filter(|(_, schedule)| !self.is_left_out(schedule)).collect();
            covered.played += chosen.len();
            let exhausted = self.exhausted.len();
            self.play_stretch(&chosen)?;
            rest = later;
            (self.progress)(now.len());
            // Short at first, since a guest that exhausts its budget does so early, and short as long
            // as it goes on doing so.
            let goes_well = self.exhausted.len() == exhausted;
            stretch = if goes_well { (stretch * 2).min(STRETCH) } else { 2 };
        }
        self.order += schedules.len();
        Ok(covered)
    }

    fn play_stretch(&mut self, chosen: &[(usize, &Schedule)]) -> Result<(), CheckError> {
        let next = AtomicUsize::new(0);
        let (next, ends) = (&next, self.ends);
        let seen: Vec<Result<Seen, CheckError>> = std::thread::scope(|scope| {
            let work = |bench| scope.spawn(move || play_some(bench, chosen, next, ends));
            let threads: Vec<_> = self.benches.iter_mut().map(work).collect();
            let panicked = |_| Err(CheckError::Panicked);
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
        });
        let (mut fingerprints, mut exhausted) = (Vec::new(), Vec::new());
        for seen in seen {
            let seen = seen?;
            self.tally.merge(seen.tally);
            fingerprints.extend(seen.fingerprints);
            exhausted.extend(seen.exhausted);
        }
        self.out_of_time |= fingerprints.len() < chosen.len();
        fingerprints.sort_unstable();
        fingerprints.iter().for_each(|(_, fingerprint)| self.fingerprints.update(fingerprint));
        exhausted.sort_unstable_by_key(|(order, _)| *order);
        self.exhausted.extend(exhausted.into_iter().map(|(_, family)| family));
        Ok(())
    }

    /// One long life of an instance: delivers what the walk gives, `deliveries` times.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn walk(&mut self, seed: u64, deliveries: usize) -> Result<Walked, CheckError> {
        let mut walked = Walked::default();
        let order = self.order;
        self.order += 1;
        let exhausted = self.exhausted.clone();
        let Some(bench) = self.benches.first_mut() else { return Ok(walked) };
        let mut session = bench.begin(Life::Kept, &[])?;
        let mut past: Vec<Planned> = Vec::new();
        let planned = Walk::new(seed).take(deliveries);
        for planned in planned.filter(|planned| !is_exhausted(&exhausted, planned)) {
            if walked.exhausted || Instant::now() >= self.ends {
                break;
            }
            past.push(planned);
            let index = past.len() - 1;
            let judged = session.deliver(&past[index])?;
            self.tally.add(&judged, order, index, || Schedule {
                life: Life::Kept,
                stored: Vec::new(),
                deliveries: past.clone(),
            });
            walked.exhausted = judged.exhausted;
            walked.deliveries += 1;
            if index == 0 {
                walked.memory_at_first = session.memory_bytes;
            }
            (self.progress)(1);
        }
        walked.memory_at_last = session.memory_bytes;
        self.tally.memory_bytes = self.tally.memory_bytes.max(session.memory_bytes);
        self.fingerprints.update(session.fingerprint.finish());
        self.out_of_time |= walked.deliveries < deliveries && Instant::now() >= self.ends;
        Ok(walked)
    }

    /// A bench to look closer on.
    pub(crate) fn bench(&mut self) -> Option<&mut Bench<G>> {
        self.benches.first_mut()
    }

    /// The digest of every trace, in the order of the schedules.
    pub(crate) fn fingerprint(&self) -> String {
        self.fingerprints.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether so many budgets were exhausted that the rest is left out.
    pub(crate) fn gave_up(&self) -> bool {
        self.exhausted.len() >= EXHAUSTED
    }

    fn is_over(&self) -> bool {
        self.out_of_time || self.gave_up()
    }

    fn is_left_out(&self, schedule: &Schedule) -> bool {
        schedule.deliveries.iter().any(|planned| is_exhausted(&self.exhausted, planned))
    }
}

/// What a walk came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// How many deliveries were made.
    pub deliveries: usize,
    /// The memory of the instance after its first delivery, in bytes.
    pub memory_at_first: usize,
    /// The most memory of an instance by the end, in bytes.
    pub memory_at_last: usize,
    /// Whether it ended early because a budget was used up.
    pub exhausted: bool,
}

/// Whether a delivery belongs to a family that exhausted enough budgets.
fn is_exhausted(exhausted: &[Option<Fault>], planned: &Planned) -> bool {
    let family = planned.trouble.fault;
    exhausted.len() >= EXHAUSTED
        || exhausted.iter().filter(|other| **other == family).count() >= EXHAUSTED_IN_FAMILY
}

/// Takes one schedule after another until there is none, or no time.
fn play_some<G: Ground>(
    bench: &mut Bench<G>,
    chosen: &[(usize, &Schedule)],
    next: &AtomicUsize,
    ends: Instant,
) -> Result<Seen, CheckError> {
    let mut seen = Seen::default();
    while let Some((order, schedule)) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
        if Instant::now() >= ends {
            break;
        }
        let mut session = bench.begin(schedule.life, &schedule.stored)?;
        for (index, planned) in schedule.deliveries.iter().enumerate() {
            let judged = session.deliver(planned)?;
            seen.tally.add(&judged, *order, index, || (*schedule).clone());
            if judged.exhausted {
                seen.exhausted.push((*order, planned.trouble.fault));
            }
        }
        seen.tally.memory_bytes = seen.tally.memory_bytes.max(session.memory_bytes);
        seen.fingerprints.push((*order, session.fingerprint.finish()));
    }
    Ok(seen)
}

/// How many cores may be used.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}
