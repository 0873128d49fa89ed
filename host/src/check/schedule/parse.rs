//! Reads a schedule in its text form.

use std::str::FromStr;

use super::{Life, Planned, Schedule, Trouble, name};
use crate::check::subject::{Shape, Subject};
use crate::store::Fault;

/// The most deliveries that a schedule in text form may stand for.
const MAX_DELIVERIES: usize = 1_000_000;

/// A text is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {position} of the schedule {expected} is expected, not {found}")]
pub struct ScheduleError {
    /// Where the text goes wrong: the number of the character, counted from 1.
    pub position: usize,
    /// What would do there.
    pub expected: &'static str,
    /// What stands there instead.
    pub found: String,
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let mut words = words(text);
        let life = match words.next() {
            Some(Word { text: "fresh", .. }) => Life::Fresh,
            Some(Word { text: "kept", .. }) => Life::Kept,
            word => return Err(word.unwrap_or(Word::end(text)).expected("`fresh` or `kept`")),
        };
        let mut schedule = Self { life, stored: Vec::new(), deliveries: Vec::new() };
        for mut word in words {
            if schedule.deliveries.is_empty() && word.eat("+") {
                schedule.stored.push(word.subject()?);
                word.end_of("the end of the stored event")?;
            } else {
                let planned = word.planned()?;
                let times = word.times(MAX_DELIVERIES - schedule.deliveries.len())?;
                word.end_of("`/`, `:`, `*` or a blank")?;
                schedule.deliveries.extend(std::iter::repeat_n(planned, times));
            }
        }
        if schedule.deliveries.is_empty() {
            return Err(Word::end(text).expected("a delivery, such as `A` or `A:commit`"));
        }
        Ok(schedule)
    }
}

/// What is left of a word of the schedule, and where it stands.
#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    /// How many characters of the schedule come before it.
    before: usize,
}

fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut before = 0;
    text.split(' ').filter_map(move |word| {
        let found = Word { text: word, before };
        before += word.chars().count() + 1;
        (!word.is_empty()).then_some(found)
    })
}

impl<'t> Word<'t> {
    /// The end of the schedule.
    fn end(schedule: &'t str) -> Self {
        Self { text: "", before: schedule.chars().count() }
    }

    fn expected(self, expected: &'static str) -> ScheduleError {
        let found =
            if self.text.is_empty() { "the end".to_owned() } else { format!("`{}`", self.text) };
        ScheduleError { position: self.before + 1, expected, found }
    }

    /// Takes `prefix` off, if the word starts with it.
    fn eat(&mut self, prefix: &str) -> bool {
        let Some(rest) = self.text.strip_prefix(prefix) else { return false };
        self.before += prefix.chars().count();
        self.text = rest;
        true
    }

    /// Takes off what consists of such characters.
    fn take(&mut self, belongs: impl Fn(char) -> bool) -> Self {
        let end = self.text.find(|character| !belongs(character)).unwrap_or(self.text.len());
        let taken = Self { text: &self.text[..end], before: self.before };
        self.eat(taken.text);
        taken
    }

    fn planned(&mut self) -> Result<Planned, ScheduleError> {
        let subject = self.subject()?;
        let trouble = if self.eat(":") { self.trouble()? } else { Trouble::default() };
        Ok(Planned { subject, trouble })
    }

    fn subject(&mut self) -> Result<Subject, ScheduleError> {
        let label = self.take(|character| character.is_ascii_alphanumeric());
        if !(1..=Subject::MAX_LABEL).contains(&label.text.len()) {
            let whole = if label.text.is_empty() { *self } else { label };
            return Err(whole.expected("an event's name of 1 to 16 letters or digits"));
        }
        let mut shapes = Vec::new();
        while self.eat("/") {
            shapes.push(self.shape()?);
        }
        Subject::new(label.text, shapes)
            .map_err(|_| label.expected("an event whose shapes together keep the limits"))
    }

    fn shape(&mut self) -> Result<Shape, ScheduleError> {
        let word = self.take(|character| !":/*".contains(character));
        if let Some((shape, _)) = Shape::named().find(|(_, name)| *name == word.text) {
            return Ok(shape);
        }
        let sized = word.text.rsplit_once('-');
        let sized = sized.and_then(|(name, bytes)| Shape::sized(name, bytes.parse().ok()?));
        sized.ok_or_else(|| {
            word.expected(
                "a shape, such as `quotes`, `id-255` (32 to 1024), `device-0` (to 1024) or \
                 `message-65535` (to 65536)",
            )
        })
    }

    fn trouble(&mut self) -> Result<Trouble, ScheduleError> {
        let word = self.take(|character| !"!*".contains(character));
        let fault = Fault::ALL.into_iter().find(|fault| name(*fault) == word.text);
        let fault = fault.ok_or_else(|| {
            word.expected("one of `begin`, `try-mark`, `save-alert`, `commit`, `commit-lost`")
        })?;
        Ok(Trouble { fault: Some(fault), sticky: self.eat("!") })
    }

    fn times(&mut self, most: usize) -> Result<usize, ScheduleError> {
        if !self.eat("*") {
            return Ok(1);
        }
        let word = self.take(|character| character.is_ascii_digit());
        let times = word.text.parse().ok().filter(|times| (1..=most).contains(times));
        times.ok_or_else(|| {
            let whole = if word.text.is_empty() { *self } else { word };
            whole.expected("a number of times, at most a million deliveries in all")
        })
    }

    fn end_of(self, expected: &'static str) -> Result<(), ScheduleError> {
        if self.text.is_empty() { Ok(()) } else { Err(self.expected(expected)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_read_as_it_is_written() {
        for text in [
            "fresh A",
            "kept +B A:commit-lost! A B/quotes*3",
            "kept A*999 A/id-255/message-65535/trailing-blank:begin",
            "fresh +A +B/composed 0123456789abcdef:save-alert!*2 B",
            "fresh A:try-mark A:commit A:commit!",
        ] {
            let schedule: Schedule = text.parse().expect(text);
            assert_eq!(schedule.to_string(), text);
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let event = "an event's name of 1 to 16 letters or digits";
        let shape = "a shape, such as `quotes`, `id-255` (32 to 1024), `device-0` (to 1024) or \
                     `message-65535` (to 65536)";
        let fault = "one of `begin`, `try-mark`, `save-alert`, `commit`, `commit-lost`";
        let times = "a number of times, at most a million deliveries in all";
        for (text, position, expected, found) in [
            ("", 1, "`fresh` or `kept`", "the end"),
            ("A B", 1, "`fresh` or `kept`", "`A`"),
            ("fresh", 6, "a delivery, such as `A` or `A:commit`", "the end"),
            ("fresh +A", 9, "a delivery, such as `A` or `A:commit`", "the end"),
            ("fresh A +B", 9, event, "`+B`"),
            ("fresh :begin", 7, event, "`:begin`"),
            ("fresh \u{e9}", 7, event, "`\u{e9}`"),
            ("fresh 0123456789abcdefg", 7, event, "`0123456789abcdefg`"),
            ("fresh A/loud", 9, shape, "`loud`"),
            ("fresh A/id-31", 9, shape, "`id-31`"),
            ("fresh A/message-65537:begin", 9, shape, "`message-65537`"),
            (
                "fresh A/message-65536/longer",
                7,
                "an event whose shapes together keep the limits",
                "`A`",
            ),
            ("fresh A:comit", 9, fault, "`comit`"),
            ("fresh A B:", 11, fault, "the end"),
            ("fresh A:begin!!", 15, "`/`, `:`, `*` or a blank", "`!`"),
            ("fresh A*0", 9, times, "`0`"),
            ("fresh A*", 9, times, "the end"),
            ("fresh A*1000001", 9, times, "`1000001`"),
            ("fresh +A:begin A", 9, "the end of the stored event", "`:begin`"),
        ] {
            let expected = ScheduleError { position, expected, found: found.to_owned() };
            assert_eq!(text.parse::<Schedule>(), Err(expected), "{text:?}");
        }
    }
}
