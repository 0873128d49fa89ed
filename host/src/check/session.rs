//! One schedule under way: delivers to the guest, asks the contract, and says what was broken.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::CheckError;
use super::fingerprint::Fingerprint;
use super::ground::Ground;
use super::ideal;
use super::schedule::{Life, Planned};
use super::subject::Subject;
use crate::contract::{History, Model, Returned, Rule, RuleSet, Violation};
use crate::deadline::Deadline;
use crate::imports::{GuestFault, Left, log_output};
use crate::instance::{Answer, Called, Instance, Linked, Stillborn};
use crate::store::{Faults, Faulty, StoreError};
use crate::trace::{CallTrace, Ending};

/// A guest and a store to judge it on: plays one schedule after another.
pub(crate) struct Bench<G: Ground> {
    linked: Arc<Linked<Faulty<G>>>,
    store: Arc<Mutex<Faulty<G>>>,
    faults: Faults,
    rules: RuleSet,
}

/// One schedule under way on a bench.
pub(crate) struct Session<'b, G: Ground> {
    bench: &'b Bench<G>,
    life: Life,
    /// The instance kept from the last delivery.
    instance: Option<Instance<Faulty<G>>>,
    histories: HashMap<String, History>,
    /// Every error that was injected: while they live, no two are one.
    injected: Vec<StoreError>,
    /// The traces so far.
    pub(crate) fingerprint: Fingerprint,
    /// The most memory that an instance had by the end of a delivery, in bytes.
    pub(crate) memory_bytes: usize,
}

/// What a delivery showed.
pub(crate) struct Judged {
    /// The rules that it broke; at most one by its calls, and those of its end.
    pub(crate) violations: Vec<Violation>,
    /// The rules that it put to the test and kept.
    pub(crate) exercised: RuleSet,
    /// Whether a budget was used up, which takes its time.
    pub(crate) exhausted: bool,
    /// Whether the clock ended it: then nothing is known of it.
    pub(crate) timed_out: bool,
    pub(crate) trace: CallTrace,
    /// Whether the store held the event's marker before.
    pub(crate) was_stored: bool,
    /// The error that was injected, where it struck or not.
    pub(crate) injected: Option<StoreError>,
}

impl<G: Ground> Bench<G> {
    /// # Errors
    /// The store cannot be opened.
    pub(crate) fn new(linked: Arc<Linked<Faulty<G>>>, rules: RuleSet) -> Result<Self, CheckError> {
        let store = Faulty::new(G::open()?);
        let faults = store.faults();
        Ok(Self { linked, store: Arc::new(Mutex::new(store)), faults, rules })
    }

    /// Begins a schedule: the store holds the pairs of `stored` and nothing else.
    pub(crate) fn begin(
        &self,
        life: Life,
        stored: &[Subject],
    ) -> Result<Session<'_, G>, CheckError> {
        self.faults.disarm();
        let mut alerts = stored.iter().map(|subject| subject.event().alert());
        self.store().inner_mut().reset(&mut alerts)?;
        Ok(Session {
            bench: self,
            life,
            instance: None,
            histories: HashMap::new(),
            injected: Vec::new(),
            fingerprint: Fingerprint::default(),
            memory_bytes: 0,
        })
    }

    /// A store stays usable whoever panicked while holding it.
    fn store(&self) -> MutexGuard<'_, Faulty<G>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<G: Ground> Session<'_, G> {
    /// Delivers, and judges what came of it.
    pub(crate) fn deliver(&mut self, planned: &Planned) -> Result<Judged, CheckError> {
        let event = planned.subject.event();
        let injected = self.arm(planned);
        let was_stored = self.bench.store().inner_mut().is_stored(event.id())?;
        let limits = self.bench.linked.guest().engine.limits();
        let deadline = Deadline::new(limits.delivery, limits.transaction);
        deadline.start();
        let started = self.instance.take().map_or_else(
            || {
                Instance::start(
                    &self.bench.linked,
                    &self.bench.store,
                    Some(&deadline),
                    self.bench.rules,
                )
            },
            Ok,
        );
        let (mut judged, instance) = match started {
            Err(Stillborn { fault, output }) => {
                log_output(&output);
                (self.failed_to_start(event.id(), &fault), None)
            }
            Ok(mut instance) => {
                let called = instance.call(event, Some(&deadline), true);
                self.memory_bytes = self.memory_bytes.max(instance.memory_bytes());
                let returned = called.returned.is_ok();
                log_output(&called.left.output);
                let judged = self.judge(event.id(), was_stored, called)?;
                (judged, (returned && self.life == Life::Kept).then_some(instance))
            }
        };
        self.instance = instance;
        if deadline.check().is_err() {
            judged.leave_open();
        }
        judged.was_stored = was_stored;
        judged.injected = injected;
        self.fingerprint.add(&judged.trace);
        Ok(judged)
    }

    /// Lets the store fail as planned; gives the error that it will fail with.
    fn arm(&mut self, planned: &Planned) -> Option<StoreError> {
        self.bench.faults.disarm();
        let fault = planned.trouble.fault?;
        let error = ideal::error(fault, self.injected.len());
        self.injected.push(error.clone());
        if planned.trouble.sticky {
            self.bench.faults.arm_sticky(fault, 1, error.clone());
        } else {
            self.bench.faults.arm(fault, 1, error.clone());
        }
        Some(error)
    }

    fn failed_to_start(&mut self, event_id: &str, fault: &GuestFault) -> Judged {
        self.histories.remove(event_id);
        let what = format!("in start-up, {fault}");
        let violation = match fault {
            GuestFault::OutOfTime => None,
            GuestFault::Contract(violation) => Some(violation.clone()),
            _ => Model::asking(self.bench.rules).may_stop(&what).err(),
        };
        Judged::ended(event_id, Vec::new(), Ending::Fault(what), violation, Some(fault))
    }

    fn judge(
        &mut self,
        event_id: &str,
        was_stored: bool,
        called: Called,
    ) -> Result<Judged, CheckError> {
        let Called { returned, left } = called;
        let calls = left.calls.clone().unwrap_or_default();
        let answer = match returned {
            Ok(answer) => answer,
            Err(fault) => {
                self.histories.remove(event_id);
                let stopped = || left.model.may_stop(&fault).err();
                let violation = match &fault {
                    GuestFault::OutOfTime => None,
                    _ => left.violation.or_else(stopped),
                };
                let ending = Ending::Fault(fault.to_string());
                return Ok(Judged::ended(event_id, calls, ending, violation, Some(&fault)));
            }
        };
        let said = answer.returned();
        let mut history = self.histories.remove(event_id).unwrap_or_default();
        let sequence = self.judge_sequence(history, event_id, was_stored, said, &left.model)?;
        let refused = left.violation.is_some();
        let mut violations: Vec<Violation> =
            own_or_sequence(&left, said, sequence).into_iter().collect();
        // What a refused call leads to is not held against the guest.
        if !refused {
            violations.extend(left.model.may_hold(left.handles).err());
        }
        violations.retain(|violation| self.bench.rules.contains(violation.rule));

        let mut judged = Judged::ended(event_id, calls, ending(answer), None, None);
        if violations.is_empty() {
            judged.exercised = left.model.exercised();
            judged.exercised.extend(history.rule(&left.model));
        }
        history.ended(&left.model, Some(said), violations.is_empty());
        if history != History::Blank {
            self.histories.insert(event_id.to_owned(), history);
        }
        judged.violations = violations;
        Ok(judged)
    }

    /// What the rules that span deliveries say of one that has returned.
    fn judge_sequence(
        &self,
        history: History,
        event_id: &str,
        was_stored: bool,
        said: Returned,
        model: &Model,
    ) -> Result<Option<Violation>, CheckError> {
        if history.rule(model).is_none() {
            return Ok(None);
        }
        let after = self.bench.store().inner_mut().rows(event_id)?;
        Ok(history.may_end(said, was_stored, after).err())
    }
}

/// The violation of a delivery by its calls or its answer. R11 and R12 take the place of R1 and R3,
/// which say less of where the guest goes wrong.
fn own_or_sequence(left: &Left, said: Returned, sequence: Option<Violation>) -> Option<Violation> {
    let own = left.violation.clone().or_else(|| left.model.may_return(said).err());
    match (own, sequence) {
        (None | Some(Violation { rule: Rule::R1 | Rule::R3, .. }), Some(sequence)) => {
            Some(sequence)
        }
        (own, _) => own,
    }
}

fn ending(answer: Answer) -> Ending {
    match answer {
        Answer::Unknown => Ending::Outcome("unknown"),
        Answer::Applied => Ending::Outcome("applied"),
        Answer::AlreadyApplied => Ending::Outcome("already-applied"),
        Answer::Error(handle) => Ending::Error(handle.error),
    }
}

fn is_exhaustion(fault: &GuestFault) -> bool {
    matches!(
        fault,
        GuestFault::OutOfFuel(_)
            | GuestFault::OutOfMemory(_)
            | GuestFault::OutOfStack
            | GuestFault::OutOfTime
            | GuestFault::TooManyCalls(_)
    )
}

impl Judged {
    /// The clock has run out, which decides nothing about a guest: nothing is said of the delivery.
    fn leave_open(&mut self) {
        self.timed_out = true;
        self.violations.clear();
        self.exercised = RuleSet::default();
    }

    fn ended(
        event_id: &str,
        calls: Vec<crate::trace::CallRecord>,
        ending: Ending,
        violation: Option<Violation>,
        fault: Option<&GuestFault>,
    ) -> Self {
        Self {
            violations: violation.into_iter().collect(),
            exercised: RuleSet::default(),
            exhausted: fault.is_some_and(is_exhaustion),
            timed_out: false,
            trace: CallTrace { event_id: event_id.to_owned(), calls, ending },
            was_stored: false,
            injected: None,
        }
    }
}
