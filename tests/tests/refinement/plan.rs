//! What a run is put through: its events, the way it goes, and what goes wrong.

use process_once::event::{Alert, Event};
use process_once::source::{Offset, Received};
use process_once::store::Fault;

/// What a guest does with an event; it reads it from the device.
pub(crate) const FAILING: [&str; 9] = [
    "unknown",
    "unknown at the end",
    "trap",
    "trap at the end",
    "trap if new",
    "loop",
    "loop in a transaction",
    "lie",
    "alter",
];

/// A run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) events: Vec<Planned>,
    /// The ids of the events that were applied long ago.
    pub(crate) stored: Vec<u8>,
    pub(crate) way: Way,
    pub(crate) trouble: Vec<Trouble>,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) id: u8,
    /// What the guest does with it.
    pub(crate) script: &'static str,
    /// Tells its alert from that of another event with the same id.
    pub(crate) text: usize,
}

/// How events are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// One transaction per event.
    Plain,
    /// At most `events` share a commit; the source has `chunk` ready at a time, and `queue` may wait.
    Batches { events: usize, queue: usize, chunk: usize },
}

/// Something that goes wrong. All numbers but ids count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The nth look-up fails.
    LookUp(usize),
    /// The nth batch fails.
    Apply(usize, How),
    /// The nth call of that kind in the plain way fails.
    Store(Fault, usize),
    /// Another process applies the event with this id.
    Overtaken(u8, When),
    /// The run is asked to end after so many deliveries.
    Drain(usize),
    /// The source fails instead of giving the nth event.
    Source(usize),
    /// The nth acknowledgement fails.
    Acknowledgement(usize),
    /// The nth delivery cannot be written down.
    Watch(usize),
}

/// How a batch fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Nothing of it has happened.
    NotApplied,
    /// It has happened, and nobody knows.
    AppliedInDoubt,
    /// It has not happened, and nobody knows.
    NotAppliedInDoubt,
}

/// When another process writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    BeforeLookUp(usize),
    AfterLookUp(usize),
    BeforeApply(usize),
    AfterApply(usize),
}

impl Planned {
    pub(crate) fn event_id(self) -> String {
        event_id(self.id)
    }

    pub(crate) fn message(self) -> String {
        format!("message {}", self.text)
    }

    pub(crate) fn event(self) -> Event {
        Event::new(Alert::new(&self.event_id(), self.script, &self.message())).unwrap()
    }
}

pub(crate) fn event_id(id: u8) -> String {
    format!("event-{id:03}")
}

impl Plan {
    /// A run of these events without trouble.
    pub(crate) fn of(events: &[(u8, &'static str)], way: Way) -> Self {
        let planned =
            |(text, &(id, script)): (usize, &(u8, &'static str))| Planned { id, script, text };
        let events = events.iter().enumerate().map(planned).collect();
        Self { events, stored: Vec::new(), way, trouble: Vec::new() }
    }

    /// The events as a source gives them.
    pub(crate) fn received(&self) -> Vec<Received> {
        let numbered = (1..).zip(&self.events);
        let offset = |line: u64| Offset { byte: 100 * line, line };
        numbered
            .map(|(line, planned)| Received { event: planned.event(), offset: offset(line) })
            .collect()
    }

    /// The ids that another process writes.
    pub(crate) fn overtaken(&self) -> impl Iterator<Item = String> {
        self.trouble.iter().filter_map(|trouble| match trouble {
            Trouble::Overtaken(id, _) => Some(event_id(*id)),
            _ => None,
        })
    }

    pub(crate) fn has(&self, is_it: impl Fn(&Trouble) -> bool) -> bool {
        self.trouble.iter().any(is_it)
    }

    /// A plan made up from a seed.
    pub(crate) fn random(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let count = random.usize(1..=24);
        let ids = random.u8(1..=24);
        let event = |text| {
            let script = match random.u8(0..40) {
                0 => FAILING[random.usize(..FAILING.len())],
                1..6 => "write",
                _ => "apply",
            };
            // Half of the streams have ids that follow each other.
            let id = if ids > 12 { text as u8 } else { random.u8(..ids) };
            Planned { id, script, text }
        };
        let events: Vec<_> = (0..count).map(event).collect();
        let stored = (0..random.u8(0..3)).map(|_| random.u8(0..24)).collect();
        let way = match random.u8(0..12) {
            0 => Way::Plain,
            _ => Way::Batches {
                events: random.usize(1..=12),
                queue: random.usize(1..=24),
                chunk: random.usize(1..=24),
            },
        };
        let trouble = (0..random.usize(0..4)).map(|_| trouble(&mut random, &events)).collect();
        Self { events, stored, way, trouble }
    }

    /// Plans that are a little simpler.
    pub(crate) fn simpler(&self) -> Vec<Self> {
        let mut plans = Vec::new();
        for index in 0..self.trouble.len() {
            let mut plan = self.clone();
            plan.trouble.remove(index);
            plans.push(plan);
        }
        for index in 0..self.events.len() {
            let mut plan = self.clone();
            plan.events.remove(index);
            plans.push(plan);
            if self.events[index].script != "apply" {
                let mut plan = self.clone();
                plan.events[index].script = "apply";
                plans.push(plan);
            }
        }
        for index in 0..self.stored.len() {
            let mut plan = self.clone();
            plan.stored.remove(index);
            plans.push(plan);
        }
        plans
    }
}

fn trouble(random: &mut fastrand::Rng, events: &[Planned]) -> Trouble {
    let nth = 1 + random.usize(..4).min(random.usize(..4));
    let hows = [How::NotApplied, How::NotApplied, How::AppliedInDoubt, How::NotAppliedInDoubt];
    let place = random.usize(1..=events.len());
    match random.u8(0..16) {
        0..2 => Trouble::LookUp(nth),
        2..6 => Trouble::Apply(nth, hows[random.usize(..hows.len())]),
        6..8 => Trouble::Store(Fault::ALL[random.usize(..Fault::ALL.len())], nth),
        8..12 => {
            let whens =
                [When::BeforeLookUp, When::AfterLookUp, When::BeforeApply, When::AfterApply];
            let when = whens[random.usize(..whens.len())];
            Trouble::Overtaken(events[random.usize(..events.len())].id, when(nth))
        }
        12 => Trouble::Drain(place - 1),
        13 => Trouble::Source(place),
        14 => Trouble::Acknowledgement(nth),
        _ => Trouble::Watch(place),
    }
}
