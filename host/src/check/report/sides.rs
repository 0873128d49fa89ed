//! A delivery as it was beside the delivery as it should have been.

use unicode_width::UnicodeWidthStr;

use super::Look;
use crate::store::Fault;
use crate::trace::CallTrace;

/// The most characters of a text that are shown.
const SHOWN: usize = 36;
/// Under how many columns the left side does not go.
const LEAST_WIDTH: usize = 34;

/// Two sides of a delivery, line by line.
pub(crate) struct Sides {
    was: Vec<String>,
    should: Vec<String>,
}

impl Sides {
    pub(crate) fn of(look: &Look) -> Self {
        Self { was: lines(&look.was), should: lines(&look.should) }
    }

    /// Whether both sides are alike, as far as calls and the answer show.
    pub(crate) fn are_alike(&self) -> bool {
        self.was == self.should
    }

    /// The lines of both sides, each with whether it is the first difference. A difference that no
    /// line shows, such as a handle that was kept, is at the end.
    pub(crate) fn rows(&self) -> Vec<(String, bool)> {
        let width = self.was.iter().map(|line| line.width()).max().unwrap_or(0).max(LEAST_WIDTH);
        let count = self.was.len().max(self.should.len());
        let line = |lines: &[String], index: usize| lines.get(index).cloned().unwrap_or_default();
        let differs =
            (0..count).find(|index| line(&self.was, *index) != line(&self.should, *index));
        let row = |was: &str, should: &str| {
            format!("{was}{} | {should}", " ".repeat(width - was.width())).trim_end().to_owned()
        };
        let mut rows = vec![(row("as it was", "as it should be"), false)];
        rows.extend((0..count).map(|index| {
            (row(&line(&self.was, index), &line(&self.should, index)), differs == Some(index))
        }));
        rows
    }
}

/// What a delivery is, in words.
pub(crate) fn situation(look: &Look) -> String {
    let event = &look.planned.subject;
    let known = if look.was_stored { "stored already" } else { "not stored yet" };
    let trouble = match look.planned.trouble.fault {
        None => "nothing fails",
        Some(Fault::Begin) => "begin fails",
        Some(Fault::TryMark) => "try-mark fails",
        Some(Fault::SaveAlert) => "save-alert fails",
        Some(Fault::CommitNotApplied) => "commit fails and has not happened",
        Some(Fault::CommitReplyLost) => "commit fails although it has happened",
    };
    let sticky = if look.planned.trouble.sticky { ", and so does every call after it" } else { "" };
    format!("{event}, {known}; {trouble}{sticky}")
}

fn lines(trace: &CallTrace) -> Vec<String> {
    let mut lines = trace.lines(shown);
    for line in &mut lines {
        // Why it was refused is said above the table.
        if let Some(end) = line.find("): refused, ") {
            line.truncate(end + "): refused".len());
        }
    }
    lines
}

/// A text in quotes, on one line, cut where it is long, with what the eye cannot tell apart as escapes.
fn shown(text: &str) -> String {
    let mut quoted = String::from("\"");
    for (index, character) in text.chars().enumerate() {
        if index == SHOWN {
            return format!("{quoted}\"... ({} bytes)", text.len());
        }
        match character {
            '"' | '\\' | '\n' | '\r' | '\t' => quoted.extend(character.escape_default()),
            ' '..='~' => quoted.push(character),
            _ if character.is_alphanumeric() => quoted.push(character),
            _ => quoted.extend(character.escape_unicode()),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_text_is_shown_so_that_it_can_be_told_from_others() {
        for (text, expected) in [
            ("plain text", "\"plain text\""),
            ("\u{e9} e\u{301}", "\"\u{e9} e\\u{301}\""),
            ("a\"b\\\r\n", "\"a\\\"b\\\\\\r\\n\""),
            ("\u{feff}\u{202e}x\u{1b}", "\"\\u{feff}\\u{202e}x\\u{1b}\""),
        ] {
            assert_eq!(shown(text), expected);
        }
        let long = "x".repeat(65_536);
        assert_eq!(shown(&long), format!("\"{}\"... (65536 bytes)", "x".repeat(36)));
    }
}
