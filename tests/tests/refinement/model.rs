//! The plain machine, and whether it could have made what was observed.
//!
//! It takes one event after another, each in a transaction of its own, and stops at the first that
//! fails. What is not determined is when another process writes, and how far the machine gets before
//! it crashes: a commit in doubt is such a crash.

use std::collections::{HashMap, HashSet};

use process_once::engine::Guest;
use process_once::processor::Processor;
use process_once::store::{Fault, Faulty, Memory};
use tests::stores::{Stored, deliver};

use crate::plan::{Plan, Planned, Trouble, Way};
use crate::play::{Ended, History, store_error, text};
use crate::shaky::FOREIGN;
use crate::world::{Observed, unseen};

/// What the plain way makes of one event.
#[derive(Debug, PartialEq, Eq)]
struct Single {
    failed: bool,
    answer: String,
    trace: String,
    /// Whether it stored the pair.
    stores: bool,
}

/// Delivers one event in the plain way, alone, to a fresh instance.
fn single(guest: &Guest, planned: Planned, is_marked: bool, fault: Option<Fault>) -> Single {
    let memory = Memory::new();
    if is_marked {
        deliver(&mut memory.clone(), planned.event().alert()).unwrap();
    }
    let before = memory.markers().len();
    let store = Faulty::new(memory.clone());
    if let Some(fault) = fault {
        store.faults().arm(fault, 1, store_error(fault));
    }
    let mut processor = Processor::new(guest.clone(), store).unwrap().record_calls(true);
    let deadline = processor.deadline();
    let delivery = unseen(|| processor.deliver(&planned.event(), &deadline));
    Single {
        failed: delivery.answer.is_err(),
        answer: text(delivery.answer.as_ref().copied()),
        trace: delivery.trace.unwrap().to_string(),
        stores: memory.markers().len() > before,
    }
}

/// Whether the plain machine could have made this history of this plan; if not, why.
///
/// # Errors
/// What it could not have made.
pub(crate) fn decide(guest: &Guest, plan: &Plan, history: &History) -> Result<(), String> {
    Machine::new(guest, plan, history).follow()
}

struct Machine<'a> {
    guest: &'a Guest,
    plan: &'a Plan,
    history: &'a History,
    /// Ids that have a marker for sure: stored before, or applied by this run.
    marked: HashSet<String>,
    /// Ids that another process writes at some time.
    overtaken: HashSet<String>,
    /// What a prefix of the events stores, in order: the event, its id and its message.
    prefix: Vec<(usize, String, String)>,
    /// The events that were seen to be handled.
    seen: usize,
    applied: u64,
    acknowledged: usize,
    failed: bool,
    /// The lines so far: of which event each was.
    lines: Vec<usize>,
    /// The last count of an instance that was written, and by which event.
    instance: Option<(usize, usize)>,
}

impl<'a> Machine<'a> {
    fn new(guest: &'a Guest, plan: &'a Plan, history: &'a History) -> Self {
        let marked: HashSet<_> = history.before.markers.iter().cloned().collect();
        let overtaken: HashSet<_> = plan.overtaken().filter(|id| !marked.contains(id)).collect();
        let mut known = &marked | &overtaken;
        let mut prefix = Vec::new();
        for (index, event) in plan.events.iter().enumerate() {
            let is_known = !known.insert(event.event_id());
            let single = single(guest, *event, is_known, None);
            if single.stores {
                prefix.push((index, event.event_id(), event.message()));
            }
            if single.failed {
                break;
            }
        }
        Self {
            guest,
            plan,
            history,
            marked,
            overtaken,
            prefix,
            seen: 0,
            applied: 0,
            acknowledged: 0,
            failed: false,
            lines: Vec::new(),
            instance: None,
        }
    }

    fn follow(mut self) -> Result<(), String> {
        for moment in &self.history.moments {
            self.look(&moment.stored)?;
            match &moment.observed {
                Observed::Line(line) => self.line(line, &moment.stored)?,
                Observed::Delivered { event, failed, answer, trace } => {
                    self.delivered(*event, *failed, answer, trace, &moment.stored)?;
                }
                Observed::Acknowledged(event) => {
                    ensure(!self.failed, "something was acknowledged behind a failure")?;
                    ensure(*event < self.seen, format!("event {event} was acknowledged unseen"))?;
                    self.acknowledged = event + 1;
                }
                Observed::Operation(_) | Observed::Ended => {}
            }
        }
        self.end()
    }

    /// What is stored is what a prefix of the events stores, with all that was seen.
    fn look(&self, stored: &Stored) -> Result<(), String> {
        let ids: Vec<_> = stored.alerts.iter().map(|[id, ..]| id).collect();
        ensure(stored.markers.iter().eq(ids), format!("a pair is not whole: {stored:?}"))?;
        let before: HashSet<_> = self.history.before.markers.iter().collect();
        let own: HashMap<_, _> = stored
            .alerts
            .iter()
            .filter(|[id, ..]| !before.contains(id) && !self.overtaken.contains(id))
            .map(|[id, _, message]| (id, message))
            .collect();
        let in_order = self.prefix.iter().take(own.len());
        let is_prefix = own.len() <= self.prefix.len()
            && in_order.clone().all(|(_, id, message)| own.get(id) == Some(&message));
        ensure(is_prefix, format!("what is stored is not that of a prefix: {stored:?}"))?;
        let missing = self.prefix.iter().skip(own.len()).find(|(event, ..)| *event < self.seen);
        ensure(missing.is_none(), format!("{missing:?} was seen, and is not stored"))
    }

    /// A line comes after all that was stored before its event, and in order.
    fn line(&mut self, line: &str, stored: &Stored) -> Result<(), String> {
        let is_second = self.lines.len() % 2 == 1;
        let last = self.lines.last().copied();
        let event = if is_second { last } else { self.next_writer(last) };
        let event = event.ok_or_else(|| format!("no event writes {line:?} any more"))?;
        self.lines.push(event);
        if is_second {
            return ensure(line == "and behind its commit", format!("a wrong line: {line:?}"));
        }
        let before = self.plan.events[..event].iter();
        let unstored = before.map(|event| event.event_id()).find(|id| !stored.markers.contains(id));
        ensure(unstored.is_none(), format!("{line:?} came before {unstored:?} was stored"))?;
        // One that was under way when the consumer stopped was cancelled.
        let handled = self.history.moments.iter().any(|moment| {
            matches!(moment.observed, Observed::Delivered { event: it, failed: false, .. } if it == event)
        });
        let own = self.plan.events[event].event_id();
        let early = handled && !stored.markers.contains(&own);
        ensure(!early, format!("{line:?} came before its commit"))?;
        let count = line.strip_prefix("delivery ").and_then(|rest| rest.split(' ').next());
        let count: usize = count.and_then(|count| count.parse().ok()).ok_or("no count")?;
        let (since, last) = self.instance.map_or((event + 1, 0), |(at, count)| (event - at, count));
        let possible = count == last + since || (1..=since).contains(&count);
        ensure(possible, format!("no instance has had {count} deliveries at event {event}"))?;
        self.instance = Some((event, count));
        Ok(())
    }

    fn next_writer(&self, last: Option<usize>) -> Option<usize> {
        let start = last.map_or(0, |last| last + 1);
        (start..self.plan.events.len()).find(|event| self.plan.events[*event].script == "write")
    }

    fn delivered(
        &mut self,
        event: usize,
        failed: bool,
        answer: &str,
        trace: &str,
        stored: &Stored,
    ) -> Result<(), String> {
        ensure(!self.failed, format!("event {event} came behind a failure"))?;
        ensure(event == self.seen, format!("event {event} came in place of {}", self.seen))?;
        let planned = self.plan.events[event];
        let written = self.lines.iter().filter(|line| **line == event).count();
        let wanted = if planned.script == "write" { 2 } else { 0 };
        ensure(written == wanted, format!("event {event} came with {written} lines"))?;
        let id = planned.event_id();
        let possible = self.possible(planned);
        let same = |single: &&Single| {
            single.failed == failed && single.answer == answer && single.trace == trace
        };
        let Some(single) = possible.iter().find(same) else {
            let seen = format!("event {event}: {answer}\n{trace}");
            return Err(format!("{seen}is none of what is possible: {possible:#?}"));
        };
        self.failed = failed;
        if !failed {
            self.seen += 1;
            self.applied += u64::from(single.stores);
            let was_marked = !self.marked.insert(id.clone());
            let message = stored.alerts.iter().find(|alert| alert[0] == id).map(|alert| &alert[2]);
            ensure(message.is_some(), format!("event {event} was seen before it was stored"))?;
            let own = message == Some(&planned.message());
            ensure(own || !single.stores, format!("event {event} did not store its alert"))?;
            let foreign = message.is_some_and(|message| message == FOREIGN);
            let stored = single.stores || was_marked || foreign;
            ensure(stored, format!("nobody had applied event {event} before"))?;
        }
        Ok(())
    }

    /// What the plain machine may answer now.
    fn possible(&self, planned: Planned) -> Vec<Single> {
        let id = planned.event_id();
        let marked: &[bool] = match (self.marked.contains(&id), self.overtaken.contains(&id)) {
            (true, _) => &[true],
            (false, true) => &[false, true],
            (false, false) => &[false],
        };
        let mut faults = vec![None];
        if self.history.struck {
            faults.extend(self.plan.trouble.iter().filter_map(|trouble| match trouble {
                Trouble::Store(fault, _) => Some(Some(*fault)),
                _ => None,
            }));
        }
        let of = |fault: Option<Fault>| {
            marked.iter().map(move |is_marked| single(self.guest, planned, *is_marked, fault))
        };
        faults.into_iter().flat_map(of).collect()
    }

    /// The run ended as it may, and for a reason.
    fn end(self) -> Result<(), String> {
        let Self { plan, history, seen, acknowledged, failed, .. } = &self;
        let (whole, ended) = (plan.events.len(), &history.ended);
        let counted = history.counts.events() as usize;
        let right = match ended {
            Ended::Well => {
                let drained = plan.has(|trouble| matches!(trouble, Trouble::Drain(_)));
                !failed && (*seen == whole || drained)
            }
            Ended::Failed { event } => {
                // That a failure cannot be written down does not hide it.
                let hidden = plan.trouble.contains(&Trouble::Watch(event + 1));
                let fails = || self.possible(plan.events[*event]).iter().any(|it| it.failed);
                event == seen && (*failed || (hidden && fails()))
            }
            Ended::InDoubt { event, events } => {
                let rest = (whole - seen) as u64;
                !failed && history.doubted && event == seen && (1..=rest).contains(events)
            }
            Ended::Source(message) if message == "the source failed" => {
                !failed && plan.trouble.contains(&Trouble::Source(seen + 1))
            }
            Ended::Source(_) => plan.has(|it| matches!(it, Trouble::Acknowledgement(_))),
            Ended::Watch { event } => {
                event == seen && plan.trouble.contains(&Trouble::Watch(event + 1))
            }
        };
        ensure(right, format!("it ended with {ended:?} after {seen} events"))?;
        let shown_in_vain = matches!(ended, Ended::Watch { .. } | Ended::Source(_));
        ensure(
            acknowledged == seen || (shown_in_vain && acknowledged < seen),
            format!("{seen} events were seen, and {acknowledged} acknowledged"),
        )?;
        ensure(
            counted == *acknowledged,
            format!("{counted} counted, {acknowledged} acknowledged"),
        )?;
        ensure(
            acknowledged < seen || history.counts.applied == self.applied,
            format!("{} were applied and not {}", self.applied, history.counts.applied),
        )?;
        // One that failed, or could not be written down, had written its lines before. In the plain way
        // a delivery ahead may have been made before the consumer stopped.
        let shown = seen + usize::from(matches!(ended, Ended::Failed { .. } | Ended::Watch { .. }));
        let written = self.lines.iter().filter(|event| **event >= shown).count();
        ensure(plan.way == Way::Plain || written == 0, "a line came without its delivery")
    }
}

fn ensure(is_so: bool, otherwise: impl Into<String>) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(otherwise.into()) }
}
