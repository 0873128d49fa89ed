//! Beyond the bound: a random walk over many events and a long life of one instance.

use fastrand::Rng;

use super::schedule::{Planned, Trouble};
use super::subject::{Shape, Subject, Texture};

/// How many of the last events are likely to come again soon.
const RECENT: usize = 64;
/// Lengths at which handlers tend to go wrong, and their neighbours.
const EDGES: [usize; 8] = [64, 128, 255, 256, 512, 1_023, 1_024, 4_096];
const LARGE_EDGES: [usize; 5] = [8_192, 16_384, 32_768, 65_535, 65_536];

/// An endless sequence of deliveries, the same for the same seed.
pub(crate) struct Walk {
    random: Rng,
    events: Vec<Subject>,
    burst: Burst,
}

/// Something that goes on for several deliveries.
#[derive(Default)]
struct Burst {
    /// How many deliveries more.
    left: usize,
    /// What befalls each of them.
    trouble: Trouble,
    /// The event that comes again and again, if it is one.
    event: Option<Subject>,
}

impl Walk {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Rng::with_seed(seed), events: Vec::new(), burst: Burst::default() }
    }

    fn subject(&mut self) -> Subject {
        if let (1.., Some(event)) = (self.burst.left, &self.burst.event) {
            return event.clone();
        }
        let known = self.events.len();
        if known > 0 && self.random.u8(..10) < 5 {
            // Mostly one of the last events again, at times one from long ago.
            let back = if self.random.u8(..8) == 0 { known } else { known.min(RECENT) };
            return self.events[known - 1 - self.random.usize(..back)].clone();
        }
        let label = match self.random.u8(..4) {
            0 => format!("{known:08}"),
            1 => format!("{:08x}{known:08x}", self.random.u32(..)),
            _ => format!("{}{known}", self.random.alphabetic()),
        };
        let subject = Subject::shaped(&label, self.shapes());
        self.events.push(subject.clone());
        subject
    }

    fn shapes(&mut self) -> Vec<Shape> {
        let mut shapes = Vec::new();
        if self.random.u8(..4) == 0 {
            let (texture, _) = Texture::ALL[self.random.usize(..Texture::ALL.len())];
            shapes.push(Shape::Texture(texture));
        }
        match self.random.u8(..16) {
            0 | 11 => shapes.push(Shape::Bare),
            1 => shapes.push(Shape::EmptyDevice),
            2 => shapes.push(Shape::EmptyMessage),
            3 | 4 => shapes.push(Shape::Id(self.length(1_024).max(32))),
            5 | 6 => shapes.push(Shape::Device(self.length(1_024))),
            7 | 8 => shapes.push(Shape::Message(self.length(4_096))),
            9 => shapes.push(Shape::Message(self.large())),
            10 => shapes.extend([
                Shape::Id(self.length(1_024).max(32)),
                Shape::Device(self.length(1_024)),
                Shape::Message(self.length(4_096)),
            ]),
            _ => {}
        }
        shapes
    }

    /// A number of bytes, half of the time near an edge.
    fn length(&mut self, most: usize) -> usize {
        if self.random.bool() {
            let edge = EDGES[self.random.usize(..EDGES.len())];
            (edge + self.random.usize(..3)).saturating_sub(1).min(most)
        } else {
            self.random.usize(..=most)
        }
    }

    fn large(&mut self) -> usize {
        if self.random.bool() {
            LARGE_EDGES[self.random.usize(..LARGE_EDGES.len())]
        } else {
            self.random.usize(..=65_536)
        }
    }

    fn trouble(&mut self, event: &Subject) -> Trouble {
        if self.burst.left > 0 {
            self.burst.left -= 1;
            return self.burst.trouble;
        }
        let kind = Trouble::KINDS[self.random.usize(..Trouble::KINDS.len())];
        match self.random.u8(..100) {
            // The same trouble for a while, with one event or with many; or one event, and no trouble.
            0 | 1 => {
                let event = self.random.bool().then(|| event.clone());
                let left = self.random.usize(1..40);
                self.burst = Burst { left, trouble: kind, event };
                kind
            }
            2 => {
                let (left, event) = (self.random.usize(1..40), Some(event.clone()));
                self.burst = Burst { left, trouble: Trouble::default(), event };
                Trouble::default()
            }
            3..20 => kind,
            _ => Trouble::default(),
        }
    }
}

impl Iterator for Walk {
    type Item = Planned;

    fn next(&mut self) -> Option<Planned> {
        let subject = self.subject();
        let trouble = self.trouble(&subject);
        Some(Planned { subject, trouble })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_walk() {
        let walk = |seed| Walk::new(seed).take(300).map(|p| p.to_string()).collect::<Vec<_>>();
        assert_eq!(walk(7), walk(7));
        assert_ne!(walk(7), walk(8));
    }

    #[test]
    fn a_walk_of_the_usual_length_visits_what_it_is_for() {
        let walk: Vec<Planned> = Walk::new(1).take(super::super::DELIVERIES).collect();
        let id = |planned: &Planned| planned.subject.event().id().len();
        let message = |planned: &Planned| planned.subject.event().alert().message().len();
        for (what, visited) in [
            ("the longest id", walk.iter().any(|planned| id(planned) == 1_024)),
            ("the longest message", walk.iter().any(|planned| message(planned) == 65_536)),
            ("a message one byte shorter", walk.iter().any(|planned| message(planned) == 65_535)),
            ("an id of 255 bytes", walk.iter().any(|planned| id(planned) == 255)),
            ("an empty message", walk.iter().any(|planned| message(planned) == 0)),
            (
                "ten failures in a row",
                walk.windows(10).any(|run| run.iter().all(|p| p.trouble.fault.is_some())),
            ),
            (
                "every kind of trouble",
                Trouble::KINDS.iter().all(|kind| walk.iter().any(|p| p.trouble == *kind)),
            ),
        ] {
            assert!(visited, "{what}");
        }
    }
}
