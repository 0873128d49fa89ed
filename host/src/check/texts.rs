//! Schedules over texts that catch altered arguments.

use super::schedule::{Life, Planned, Schedule, Trouble};
use super::subject::{Shape, Subject, Texture};

/// Every branch over every unlikely text, and pairs of events whose ids are easily taken for one.
pub(crate) fn schedules() -> Vec<Schedule> {
    let mut schedules = Vec::new();
    for (one, other) in pairs() {
        for trouble in Trouble::KINDS {
            let first = Planned { subject: other.clone(), trouble };
            add(&mut schedules, &[], &[first, plain(&other)]);
        }
        for (stored, deliveries) in [
            (None, [&one, &other].as_slice()),
            (None, &[&other, &one]),
            (Some(&one), &[&other]),
            (Some(&other), &[&one]),
            (None, &[&one, &other, &one, &other]),
        ] {
            let stored: Vec<Subject> = stored.into_iter().cloned().collect();
            let deliveries: Vec<_> = deliveries.iter().map(|subject| plain(subject)).collect();
            add(&mut schedules, &stored, &deliveries);
        }
    }
    schedules.sort_by_key(|schedule| schedule.deliveries.len());
    schedules
}

/// Two events each, with ids that differ in little: the second is the one with the unlikely texts.
fn pairs() -> Vec<(Subject, Subject)> {
    let shaped = |shapes: &[Shape]| Subject::shaped("A", shapes.to_vec());
    let texture = |texture| shaped(&[Shape::Texture(texture)]);
    let mut pairs: Vec<_> = Shape::named()
        .map(|(shape, _)| {
            let (plain, shaped) = (Subject::plain("A"), shaped(&[shape]));
            // Two events have two ids.
            let same_id = plain.event().id() == shaped.event().id();
            (if same_id { Subject::plain("B") } else { plain }, shaped)
        })
        .collect();
    pairs.extend([
        (texture(Texture::Upper), texture(Texture::Lower)),
        (texture(Texture::Composed), texture(Texture::Decomposed)),
        (texture(Texture::LeadingBlank), texture(Texture::TrailingBlank)),
        (texture(Texture::Newline), texture(Texture::Crlf)),
        (shaped(&[Shape::EmptyDevice, Shape::EmptyMessage]), shaped(&[Shape::Bare])),
    ]);
    // Each id is a prefix of the next.
    for (shorter, longer) in [(255, 256), (511, 512), (1_022, 1_023), (1_023, 1_024)] {
        pairs.push((shaped(&[Shape::Id(shorter)]), shaped(&[Shape::Id(longer)])));
    }
    for bytes in [1, 255, 256, 1_023, 1_024] {
        pairs.push((Subject::plain("B"), shaped(&[Shape::Device(bytes)])));
    }
    for bytes in [1, 255, 256, 4_096, 32_768, 65_535, 65_536] {
        pairs.push((Subject::plain("B"), shaped(&[Shape::Message(bytes)])));
    }
    // Blanks and wide characters behind the ends of buffers.
    for (bytes, texture) in [
        (200, Texture::TrailingBlank),
        (127, Texture::Wide),
        (255, Texture::Wide),
        (511, Texture::Wide),
    ] {
        let lengths = [Shape::Id(bytes), Shape::Device(bytes), Shape::Message(16 * bytes)];
        let shapes = [lengths.as_slice(), &[Shape::Texture(texture)]].concat();
        pairs.push((Subject::plain("B"), shaped(&shapes)));
    }
    let wide = [Shape::Message(4_095), Shape::Texture(Texture::Wide)];
    pairs.push((Subject::plain("B"), shaped(&wide)));
    let largest = [Shape::Id(1_024), Shape::Device(1_024), Shape::Message(65_536)];
    let astral = [&[Shape::Texture(Texture::Astral)], largest.as_slice()].concat();
    pairs.push((shaped(&largest), shaped(&astral)));
    pairs
}

fn plain(subject: &Subject) -> Planned {
    Planned { subject: subject.clone(), trouble: Trouble::default() }
}

fn add(schedules: &mut Vec<Schedule>, stored: &[Subject], deliveries: &[Planned]) {
    schedules.extend([Life::Fresh, Life::Kept].map(|life| Schedule {
        life,
        stored: stored.to_vec(),
        deliveries: deliveries.to_vec(),
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_of_a_pair_have_different_ids() {
        for (one, other) in pairs() {
            assert_ne!(one.event().id(), other.event().id(), "{one} and {other}");
        }
    }
}
