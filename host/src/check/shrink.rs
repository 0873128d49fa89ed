//! Makes a failing schedule short: what is left shows the failure and little else.

use super::schedule::{Life, Planned, Schedule, Trouble};
use super::subject::{Shape, Subject};

/// Shrinks `schedule` as long as `fails` says where the shorter one fails: the index of a delivery.
/// `effort` is how many deliveries may be played for it.
///
/// # Errors
/// Those of `fails`.
pub(crate) fn shrink<E>(
    schedule: Schedule,
    effort: usize,
    mut fails: impl FnMut(&Schedule) -> Result<Option<usize>, E>,
) -> Result<Schedule, E> {
    let mut shrinking = Shrinking { best: schedule, effort, fails: &mut fails };
    shrinking.uniform()?;
    shrinking.remove()?;
    shrinking.simplify()?;
    shrinking.remove()?;
    shrinking.forget()?;
    Ok(shrinking.best)
}

struct Shrinking<'f, F> {
    /// The shortest schedule so far that fails.
    best: Schedule,
    /// How many more deliveries may be played.
    effort: usize,
    fails: &'f mut F,
}

impl<E, F: FnMut(&Schedule) -> Result<Option<usize>, E>> Shrinking<'_, F> {
    /// Takes `candidate` if it fails, up to where it does; tells whether it did.
    fn try_out(&mut self, mut candidate: Schedule) -> Result<bool, E> {
        let cost = candidate.deliveries.len();
        if cost == 0 || cost > self.effort || candidate == self.best {
            return Ok(false);
        }
        self.effort -= cost;
        let Some(last) = (self.fails)(&candidate)? else { return Ok(false) };
        candidate.deliveries.truncate(last + 1);
        self.best = candidate;
        Ok(true)
    }

    /// A guest that counts its deliveries needs as many, but any will do; one that keeps memory may
    /// need some more of them.
    fn uniform(&mut self) -> Result<(), E> {
        let plain = Planned { subject: Subject::plain("A"), trouble: Trouble::default() };
        let count = self.best.deliveries.len();
        let mut last_as_it_is = self.best.clone();
        last_as_it_is.deliveries[..count - 1].fill(plain.clone());
        if !self.try_out(last_as_it_is)? {
            let deliveries = vec![plain; 2 * count];
            self.try_out(Schedule { deliveries, ..self.best.clone() })?;
        }
        Ok(())
    }

    /// Removes stretches of deliveries, long ones first.
    fn remove(&mut self) -> Result<(), E> {
        let mut length = self.best.deliveries.len() / 2;
        while length > 0 {
            let mut start = 0;
            let mut tried = Vec::new();
            while start + length < self.best.deliveries.len() {
                let mut candidate = self.best.clone();
                candidate.deliveries.drain(start..start + length);
                // In a run of equal deliveries it makes no difference which of them go.
                if candidate.deliveries == tried {
                    start += length;
                    continue;
                }
                tried.clone_from(&candidate.deliveries);
                if !self.try_out(candidate)? {
                    start += length;
                }
            }
            length /= 2;
        }
        let stored = self.best.stored.len();
        for index in (0..stored).rev() {
            let mut candidate = self.best.clone();
            candidate.stored.remove(index);
            self.try_out(candidate)?;
        }
        Ok(())
    }

    /// Makes each kind of delivery simpler, wherever it occurs.
    fn simplify(&mut self) -> Result<(), E> {
        let mut candidate = self.best.clone();
        if let Some(last) = candidate.deliveries.last_mut() {
            last.trouble = Trouble::default();
        }
        self.try_out(candidate)?;
        let mut kinds = self.best.deliveries.clone();
        kinds.dedup();
        for kind in kinds.iter().rev() {
            let once = Trouble { sticky: false, ..kind.trouble };
            for trouble in [Trouble::default(), once] {
                self.replace(kind, &Planned { subject: kind.subject.clone(), trouble })?;
            }
        }
        let mut subjects: Vec<Subject> = Vec::new();
        for planned in &self.best.deliveries {
            if !subjects.contains(&planned.subject) {
                subjects.push(planned.subject.clone());
            }
        }
        let mut first: Option<Subject> = None;
        for (subject, letter) in subjects.into_iter().zip('A'..='Z') {
            // One event is simpler than two.
            match &first {
                Some(first) if self.rename(&subject, first)? => {}
                _ => {
                    let simple = self.simplify_subject(subject, letter)?;
                    first.get_or_insert(simple);
                }
            }
        }
        Ok(())
    }

    /// Takes what is unlikely off an event, and gives it a name of one letter.
    fn simplify_subject(&mut self, mut subject: Subject, letter: char) -> Result<Subject, E> {
        for shape in subject.shapes().to_vec() {
            let mut left = subject.shapes().to_vec();
            left.retain(|other: &Shape| *other != shape);
            let simpler = Subject::shaped(subject.label(), left);
            if self.rename(&subject, &simpler)? {
                subject = simpler;
            }
        }
        let renamed = Subject::shaped(&letter.to_string(), subject.shapes().to_vec());
        let is_taken = self.best.deliveries.iter().any(|planned| planned.subject == renamed);
        Ok(if !is_taken && self.rename(&subject, &renamed)? { renamed } else { subject })
    }

    fn replace(&mut self, from: &Planned, to: &Planned) -> Result<bool, E> {
        let mut candidate = self.best.clone();
        for planned in candidate.deliveries.iter_mut().filter(|planned| *planned == from) {
            *planned = to.clone();
        }
        self.try_out(candidate)
    }

    fn rename(&mut self, from: &Subject, to: &Subject) -> Result<bool, E> {
        let mut candidate = self.best.clone();
        let delivered = candidate.deliveries.iter_mut().map(|planned| &mut planned.subject);
        for subject in delivered.chain(&mut candidate.stored).filter(|subject| *subject == from) {
            *subject = to.clone();
        }
        self.try_out(candidate)
    }

    /// Shows it on fresh instances, if the guest's memory has no part in it.
    fn forget(&mut self) -> Result<(), E> {
        let candidate = Schedule { life: Life::Fresh, ..self.best.clone() };
        self.try_out(candidate)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::check::walk::Walk;

    /// Shrinks a walk that fails at the first delivery for which `fails` holds, given all before it.
    fn check(fails: impl Fn(&[Planned], Life) -> bool, expected: &str) {
        let first = |schedule: &Schedule| {
            let deliveries = &schedule.deliveries;
            (0..deliveries.len()).find(|last| fails(&deliveries[..=*last], schedule.life))
        };
        let deliveries = Walk::new(3).take(2_000).collect();
        let mut schedule = Schedule { life: Life::Kept, stored: Vec::new(), deliveries };
        let last = first(&schedule).expect("the walk fails");
        schedule.deliveries.truncate(last + 1);
        let shrunk = shrink(schedule, 200_000, |candidate| Ok::<_, Infallible>(first(candidate)));
        assert_eq!(shrunk.map(|schedule| schedule.to_string()), Ok(expected.to_owned()));
    }

    fn last(deliveries: &[Planned]) -> &Planned {
        &deliveries[deliveries.len() - 1]
    }

    #[test]
    fn a_failure_that_one_text_causes_is_shown_by_that_text_alone() {
        let long = |deliveries: &[Planned]| last(deliveries).subject.event().id().len() == 1_024;
        check(|deliveries, _| long(deliveries), "fresh A/id-1024");
    }

    #[test]
    fn a_failure_at_the_thousandth_delivery_needs_a_thousand() {
        check(|deliveries, life| deliveries.len() >= 1_000 && life == Life::Kept, "kept A*1000");
    }

    #[test]
    fn a_failure_after_three_failures_in_a_row_keeps_them() {
        let failing = |deliveries: &[Planned]| {
            deliveries.len() > 3
                && deliveries[deliveries.len() - 4..][..3].iter().all(|p| p.trouble.fault.is_some())
        };
        check(|deliveries, life| failing(deliveries) && life == Life::Kept, "kept A:commit*3 A");
    }
}
