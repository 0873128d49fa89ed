//! Every schedule within the bound, the shortest first.

use super::schedule::{Life, Planned, Schedule, Trouble};
use super::subject::Subject;

/// The most deliveries of a schedule within the bound.
pub const MAX_DEPTH: usize = 3;

/// All schedules of at most `depth` deliveries of one event or two, over a store that is empty or
/// holds one of them, up to the names of the events; each with every kind of trouble at each
/// delivery, and each twice: on fresh instances and on one that is kept.
pub(crate) fn schedules(depth: usize) -> Vec<Schedule> {
    let (a, b) = (Subject::plain("A"), Subject::plain("B"));
    let events = [&a, &b];
    let mut schedules = Vec::new();
    for length in 1..=depth {
        for stored in [Vec::new(), vec![a.clone()]] {
            for order in orders(length, !stored.is_empty()) {
                for troubles in troubles(length) {
                    let deliveries: Vec<Planned> = order
                        .iter()
                        .zip(troubles)
                        .map(|(event, trouble)| Planned {
                            subject: events[*event].clone(),
                            trouble,
                        })
                        .collect();
                    schedules.extend([Life::Fresh, Life::Kept].map(|life| Schedule {
                        life,
                        stored: stored.clone(),
                        deliveries: deliveries.clone(),
                    }));
                }
            }
        }
    }
    schedules
}

/// The orders in which two events can come. Where the store is empty, the first to come is A: with the
/// names swapped it is the same schedule. Where it holds A, an order without A is one over an empty
/// store, and left out.
fn orders(length: usize, holds_a: bool) -> impl Iterator<Item = Vec<usize>> {
    let all = (0..1_usize << length)
        .map(move |bits| (0..length).map(|place| bits >> (length - 1 - place) & 1).collect());
    all.filter(move |order: &Vec<usize>| if holds_a { order.contains(&0) } else { order[0] == 0 })
}

/// Every combination of troubles, as a number whose digits they are.
fn troubles(length: usize) -> impl Iterator<Item = Vec<Trouble>> {
    let kinds = Trouble::KINDS.len();
    (0..kinds.pow(u32::try_from(length).unwrap_or(u32::MAX))).map(move |number| {
        let digit = |place: usize| number / kinds.pow(u32::try_from(place).unwrap_or(0)) % kinds;
        (0..length).rev().map(|place| Trouble::KINDS[digit(place)]).collect()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_count_is_what_counting_by_hand_gives() {
        // Eleven kinds of delivery; 1, 2 and 4 orders over an empty store, 1, 3 and 7 over A.
        for (depth, count) in [(1, 22), (2, 22 + 5 * 121), (3, 22 + 5 * 121 + 11 * 1_331)] {
            let schedules = schedules(depth);
            assert_eq!(schedules.len(), 2 * count);
            let different: HashSet<String> = schedules.iter().map(ToString::to_string).collect();
            assert_eq!(different.len(), schedules.len());
        }
    }

    #[test]
    fn no_schedule_comes_before_a_shorter_one() {
        let schedules = schedules(3);
        assert!(schedules.is_sorted_by_key(|schedule| schedule.deliveries.len()));
    }
}
