//! The judge: whether a guest keeps the contract, and if not, which rule it breaks in which shortest
//! situation.
//!
//! A guest is played every schedule of deliveries and faults within a bound, then unlikely texts, then
//! a random walk through one long life. What it calls, returns, holds and uses up is judged by
//! [`contract`](crate::contract), delivery by delivery; nothing is inferred from rows alone.
//!
//! Invariants:
//! - The verdict depends on the guest, the options and the seed: never on the clock, the number of
//!   cores or which thread was faster. Time that runs out makes rules unknown, never failed.
//! - A rule that nothing has put to the test is unknown, and an unknown rule is not a pass.
//! - A wrong call is recorded, then answered with an error of its own, so that the guest can go on; what
//!   it does after that in the same delivery is not held against it.

mod bound;
mod example;
mod fingerprint;
mod ground;
mod ideal;
mod report;
mod runner;
mod schedule;
mod session;
mod shrink;
mod subject;
mod tally;
mod texts;
mod walk;

use std::time::{Duration, Instant};

pub use bound::MAX_DEPTH;
pub use example::explain;
pub use report::{Failing, Identity, Look, Report, RuleReport, Verdict};
pub use runner::{Covered, Walked};
pub use schedule::{Life, Planned, Schedule, ScheduleError, Trouble};
pub use subject::Subject;

use crate::contract::{Rule, RuleSet};
use crate::engine::{Engine, EngineError, Guest, Limits, NotAGuest};
use crate::instance::Linked;
use crate::store::{Memory, OpenError, StoreError};
use ground::{Ground, SqliteGround};
use runner::Runner;
use session::Bench;
use tally::First;

/// How many deliveries the random walk has, unless told otherwise.
pub const DELIVERIES: usize = 4_000;
/// How long a whole check may take, unless told otherwise.
pub const TIME: Duration = Duration::from_secs(3_600);
/// How many deliveries may be played to shrink one failing walk.
const SHRINKING: usize = 100_000;

/// What to check, and how thoroughly.
#[derive(Clone, Debug)]
pub struct Check {
    /// The store that the guest is judged on.
    pub store: StoreKind,
    /// The most deliveries of a schedule within the bound: 1 to [`MAX_DEPTH`].
    pub depth: usize,
    /// How many deliveries the random walk has; none leaves it out.
    pub deliveries: usize,
    /// Where the random walk starts.
    pub seed: u64,
    /// How long the whole check may take. What was not reached by then is unknown.
    pub time: Duration,
    /// The rules that are asked for: all of them, but where the judge itself is judged.
    pub rules: RuleSet,
}

/// A kind of store to judge guests on. The verdicts are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// In memory.
    Memory,
    /// SQLite, in database files of its own.
    Sqlite,
}

impl Default for Check {
    fn default() -> Self {
        Self {
            store: StoreKind::Memory,
            depth: MAX_DEPTH,
            deliveries: DELIVERIES,
            seed: 1,
            time: TIME,
            rules: RuleSet::all(),
        }
    }
}

/// Is told how much more was done, and of how much in all: schedules, and deliveries of the walk.
pub type Progress<'c> = dyn Fn(usize, usize) + Sync + 'c;

/// The engine that guests are judged with: it counts fuel, and instances cost little.
///
/// # Errors
/// The machine cannot run compiled WebAssembly.
pub fn engine() -> Result<Engine, EngineError> {
    Engine::pooled(Limits::budget(), u32::try_from(runner::cores()).unwrap_or(u32::MAX))
}

impl Check {
    /// Judges a guest that [`engine`] has loaded.
    ///
    /// # Errors
    /// The guest cannot be linked, or the store fails by itself. What the guest does is never an error:
    /// it is in the report.
    pub fn judge(&self, guest: &Guest, progress: &Progress<'_>) -> Result<Report, CheckError> {
        match self.store {
            StoreKind::Memory => self.judge_on::<Memory>(guest, progress),
            StoreKind::Sqlite => self.judge_on::<SqliteGround>(guest, progress),
        }
    }

    /// Plays one schedule and nothing else. What it does not reach is unknown.
    ///
    /// # Errors
    /// As for [`Check::judge`].
    pub fn replay(&self, guest: &Guest, schedule: &Schedule) -> Result<Report, CheckError> {
        match self.store {
            StoreKind::Memory => self.replay_on::<Memory>(guest, schedule),
            StoreKind::Sqlite => self.replay_on::<SqliteGround>(guest, schedule),
        }
    }

    fn judge_on<G: Ground>(
        &self,
        guest: &Guest,
        progress: &Progress<'_>,
    ) -> Result<Report, CheckError> {
        let started = Instant::now();
        let linked = Linked::new(guest.clone()).map_err(NotAGuest::OtherShape)?;
        let (schedules, texts) = (bound::schedules(self.depth), texts::schedules());
        let all = schedules.len() + texts.len() + self.deliveries;
        let progress = |done| progress(done, all);
        let mut runner = Runner::<G>::new(self, linked, &progress)?;
        let schedules = runner.play_all(&schedules)?;
        let known: RuleSet =
            Rule::ALL.into_iter().filter(|rule| runner.tally.rule(*rule).first.is_some()).collect();
        let texts = runner.play_all(&texts)?;
        let walked = runner.walk(self.seed, self.deliveries)?;
        self.shrink(&mut runner, known)?;
        let rules = self.rule_reports(&mut runner)?;
        Ok(Report {
            rules,
            schedules,
            texts,
            walked,
            seed: self.seed,
            deliveries: runner.tally.deliveries,
            out_of_time: runner.out_of_time,
            memory_bytes: runner.tally.memory_bytes,
            traces: runner.fingerprint(),
            elapsed: started.elapsed(),
            replayed: false,
        })
    }

    fn replay_on<G: Ground>(
        &self,
        guest: &Guest,
        schedule: &Schedule,
    ) -> Result<Report, CheckError> {
        let started = Instant::now();
        let linked = Linked::new(guest.clone()).map_err(NotAGuest::OtherShape)?;
        let mut runner = Runner::<G>::new(self, linked, &|_| {})?;
        let schedules = runner.play_all(std::slice::from_ref(schedule))?;
        Ok(Report {
            rules: self.rule_reports(&mut runner)?,
            schedules,
            texts: Covered::default(),
            walked: Walked::default(),
            seed: self.seed,
            deliveries: runner.tally.deliveries,
            out_of_time: runner.out_of_time,
            memory_bytes: runner.tally.memory_bytes,
            traces: runner.fingerprint(),
            elapsed: started.elapsed(),
            replayed: true,
        })
    }

    /// Makes short what the schedules within the bound have not shown; `known` are the rules that broke
    /// in those, where the first is the shortest.
    fn shrink<G: Ground>(
        &self,
        runner: &mut Runner<'_, G>,
        known: RuleSet,
    ) -> Result<(), CheckError> {
        for rule in Rule::ALL {
            let first = runner.tally.rule_mut(rule).first.take();
            let (Some(first), Some(bench)) = (first, runner.bench()) else { continue };
            let shrunk = if known.contains(rule) { first } else { shrink_one(bench, first)? };
            runner.tally.rule_mut(rule).first = Some(shrunk);
        }
        Ok(())
    }

    fn rule_reports<G: Ground>(
        &self,
        runner: &mut Runner<'_, G>,
    ) -> Result<Vec<RuleReport>, CheckError> {
        let cut_short = runner.out_of_time || runner.gave_up() || runner.tally.timed_out > 0;
        let mut reports = Vec::new();
        for rule in Rule::ALL {
            let tally = runner.tally.rule(rule).clone();
            let failing = match (&tally.first, runner.bench()) {
                (Some(first), Some(bench)) => Some(look_closer(bench, first)?),
                _ => None,
            };
            let verdict = match failing {
                Some(_) => Verdict::Fail,
                None if tally.exercised > 0 && !cut_short => Verdict::Pass,
                None => Verdict::Unknown,
            };
            let (exercised, broken) = (tally.exercised, tally.broken);
            reports.push(RuleReport { rule, verdict, exercised, broken, failing });
        }
        Ok(reports)
    }
}

fn shrink_one<G: Ground>(bench: &mut Bench<G>, first: First) -> Result<First, CheckError> {
    let rule = first.violation.rule;
    let mut schedule = first.schedule.clone();
    schedule.deliveries.truncate(first.delivery + 1);
    let shrunk = shrink::shrink(schedule, SHRINKING, |candidate| {
        let mut session = bench.begin(candidate.life, &candidate.stored)?;
        for (index, planned) in candidate.deliveries.iter().enumerate() {
            let judged = session.deliver(planned)?;
            if judged.violations.iter().any(|violation| violation.rule == rule) {
                return Ok(Some(index));
            }
        }
        Ok::<_, CheckError>(None)
    })?;
    let delivery = shrunk.deliveries.len() - 1;
    Ok(First { schedule: shrunk, delivery, ..first })
}

/// Plays a failing schedule again and keeps what was called.
fn look_closer<G: Ground>(bench: &mut Bench<G>, first: &First) -> Result<Failing, CheckError> {
    let rule = first.violation.rule;
    let mut schedule = first.schedule.clone();
    schedule.deliveries.truncate(first.delivery + 1);
    let mut session = bench.begin(schedule.life, &schedule.stored)?;
    let mut looks = Vec::new();
    let mut violation = first.violation.clone();
    for planned in &schedule.deliveries {
        let judged = session.deliver(planned)?;
        if let Some(broken) = judged.violations.iter().find(|broken| broken.rule == rule) {
            violation = broken.clone();
        }
        looks.push(Look::new(planned, judged));
    }
    Ok(Failing { violation, schedule, looks })
}

/// Why a check could not be made. The guest has no part in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The component does not fit the interface.
    #[error("the guest cannot be linked")]
    Link(#[from] NotAGuest),
    /// No folder for the database files.
    #[error("there is no folder for temporary files")]
    Folder(#[source] std::io::Error),
    /// A database cannot be opened.
    #[error("a database for the check cannot be opened")]
    Open(#[source] OpenError),
    /// The store failed by itself, not as planned.
    #[error("the store of the check failed by itself")]
    Store(#[source] StoreError),
    /// A database cannot be looked into.
    #[error("a database of the check cannot be looked into")]
    Look(#[from] rusqlite::Error),
    /// A thread of the check panicked: a fault of the host.
    #[error("a thread of the check has panicked, which is a fault of this program")]
    Panicked,
}
