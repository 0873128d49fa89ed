//! Pieces of a stream, cut anywhere, put together to lines and parsed.

use super::line::{Flaw, LineProblem, MAX_LINE_BYTES, parse};
use crate::event::Together;
use crate::source::{Offset, Received};

/// The byte-order mark of UTF-8, which some programs put at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What is wrong with which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadLine {
    /// The number of the line, from 1.
    pub(super) line: u64,
    pub(super) flaw: Flaw,
}

/// The events of lines that are whole, with their places.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    texts: Together,
    offsets: Vec<Offset>,
}

impl Parsed {
    /// The events in the order of their lines.
    pub(super) fn into_received(self) -> Vec<Received> {
        let received = self.texts.into_events().zip(self.offsets);
        received.map(|(event, offset)| Received { event, offset }).collect()
    }
}

/// Makes events of bytes, however they are cut into pieces.
///
/// It keeps at most one line that is not whole yet: [`MAX_LINE_BYTES`] and one piece.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The start of a line whose end has not come yet.
    partial: Vec<u8>,
    /// Bytes of the stream before `partial`.
    byte: u64,
    /// Whole lines before `partial`.
    line: u64,
    /// The current line has already given its event: it was the last one and lacked its end.
    /// Nothing but that end may follow.
    delivered: bool,
}

impl Lines {
    /// Goes on behind `offset`; `line_ended` says whether a line end stands right before it.
    pub(super) fn behind(offset: Offset, line_ended: bool) -> Self {
        Self {
            partial: Vec::new(),
            byte: offset.byte,
            line: offset.line - u64::from(!line_ended),
            delivered: !line_ended,
        }
    }

    /// How many bytes of the stream have been taken, those of an unfinished line included.
    pub(super) fn read(&self) -> u64 {
        self.byte + self.partial.len() as u64
    }

    /// Takes the next bytes of the stream and puts the events of all lines that are whole now
    /// into `events`.
    ///
    /// # Errors
    /// A line is no event. `events` has those before it.
    pub(super) fn feed(&mut self, mut bytes: &[u8], events: &mut Parsed) -> Result<(), BadLine> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end + 1);
            bytes = rest;
            if self.partial.is_empty() {
                self.take(line, events)?;
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                self.take(&whole, events)?;
                // The allocation serves the next line that is cut in two.
                whole.clear();
                self.partial = whole;
            }
        }
        self.partial.extend_from_slice(bytes);
        // The last byte may turn out to belong to the line's end.
        if self.partial.len() > MAX_LINE_BYTES + 1 {
            return Err(self.bad(LineProblem::TooLong.into()));
        }
        Ok(())
    }

    /// Takes the end of the stream, which ends the last line if it lacks its line end.
    ///
    /// # Errors
    /// The last line is no event.
    pub(super) fn finish(&mut self, events: &mut Parsed) -> Result<(), BadLine> {
        if self.partial.is_empty() {
            return Ok(());
        }
        let line = std::mem::take(&mut self.partial);
        self.take(&line, events)
    }

    /// Takes one line, its line end included.
    fn take(&mut self, line: &[u8], events: &mut Parsed) -> Result<(), BadLine> {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.len() > MAX_LINE_BYTES {
            return Err(self.bad(LineProblem::TooLong.into()));
        }
        let text = match self.byte {
            0 => text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text),
            _ => text,
        };
        let texts = match parse(text) {
            Ok(None) => None,
            _ if self.delivered => return Err(self.bad(LineProblem::GoesOn.into())),
            Ok(texts) => texts,
            Err(flaw) => return Err(self.bad(flaw)),
        };
        if let Some([id, device, message]) = &texts {
            let taken = events.texts.push_event(id, device, message);
            taken.map_err(|invalid| self.bad(LineProblem::from(invalid).into()))?;
        }
        self.byte += line.len() as u64;
        self.line += 1;
        self.delivered = false;
        if texts.is_some() {
            events.offsets.push(Offset { byte: self.byte, line: self.line });
        }
        Ok(())
    }

    fn bad(&self, flaw: Flaw) -> BadLine {
        BadLine { line: self.line + 1, flaw }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// A byte-order mark, both line ends, blank lines, a character of several bytes, and a last
    /// line without its end.
    const MIXED: &str = concat!(
        "\u{feff}{\"source_event_id\":\"a\",\"device_id\":\"d\",\"message\":\"\"}\r\n",
        "\r\n",
        "{\"source_event_id\":\"b\",\"device_id\":\"d\",\"message\":\"é😀\"}\n",
        "\n",
        "  \n",
        "{\"source_event_id\":\"c\",\"device_id\":\"d\",\"message\":\"\\r\\n\"}\r\n",
        "{\"source_event_id\":\"d\",\"device_id\":\"d\",\"message\":\"\"}",
    );

    /// Feeds `pieces` to `lines`, then the end, and gives ids, lines and offsets, and the flaw.
    fn read(mut lines: Lines, pieces: &[&[u8]]) -> (Vec<(String, u64, u64)>, Option<BadLine>) {
        let mut events = Parsed::default();
        let mut result = Ok(());
        for piece in pieces {
            result = result.and_then(|()| lines.feed(piece, &mut events));
        }
        let flaw = result.and_then(|()| lines.finish(&mut events)).err();
        let places = events
            .into_received()
            .into_iter()
            .map(|Received { event, offset }| (event.id().to_owned(), offset.line, offset.byte));
        (places.collect(), flaw)
    }

    fn event(id: &str, message: &str) -> String {
        format!(r#"{{"source_event_id":"{id}","device_id":"d","message":"{message}"}}"#)
    }

    #[test]
    fn lines_and_offsets_count_everything_that_stands_in_the_stream() {
        let (events, flaw) = read(Lines::default(), &[MIXED.as_bytes()]);
        let end = |id: &str| {
            let found = MIXED.find(&format!("event_id\":\"{id}")).unwrap();
            MIXED[found..].find('\n').map_or(MIXED.len(), |end| found + end + 1) as u64
        };
        let expected = [("a", 1), ("b", 3), ("c", 6), ("d", 7)];
        assert_eq!(events, expected.map(|(id, line)| (id.to_owned(), line, end(id))));
        assert_eq!(flaw, None);
    }

    #[test]
    fn it_does_not_matter_where_the_stream_is_cut() {
        let bytes = MIXED.as_bytes();
        let whole = read(Lines::default(), &[bytes]);
        assert_eq!(whole.0.len(), 4);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(read(Lines::default(), &pieces), whole, "cut at {first} and {second}");
            }
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(Lines::default(), &single), whole);
    }

    #[test]
    fn reading_goes_on_behind_every_event_with_the_same_lines_and_offsets() {
        let (events, _) = read(Lines::default(), &[MIXED.as_bytes()]);
        for (index, (event_id, line, byte)) in events.iter().enumerate() {
            let offset = Offset { byte: *byte, line: *line };
            let (before, after) = MIXED.as_bytes().split_at(usize::try_from(*byte).unwrap());
            let lines = Lines::behind(offset, before.ends_with(b"\n"));
            assert_eq!(read(lines, &[after]), (events[index + 1..].to_vec(), None), "{event_id}");
        }
    }

    #[test]
    fn a_last_line_that_gave_its_event_may_only_get_its_end() {
        let offset = Offset { byte: 10, line: 4 };
        let next = event("y", "");
        for end in ["\n", "\r\n", "  \n"] {
            let (events, flaw) =
                read(Lines::behind(offset, false), &[end.as_bytes(), next.as_bytes()]);
            let byte = 10 + (end.len() + next.len()) as u64;
            assert_eq!((events, flaw), (vec![("y".to_owned(), 5, byte)], None), "{end:?}");
        }
        for rest in [next.as_str(), "}\n"] {
            let (events, flaw) = read(Lines::behind(offset, false), &[rest.as_bytes()]);
            let expected = BadLine { line: 4, flaw: LineProblem::GoesOn.into() };
            assert_eq!((events, flaw), (vec![], Some(expected)), "{rest:?}");
        }
    }

    #[test]
    fn a_bad_line_stands_behind_the_events_before_it() {
        let good = event("a", "");
        let text = format!("{good}\n\n{good}\nbad\n{good}\n");
        let (events, flaw) = read(Lines::default(), &[text.as_bytes()]);
        assert_eq!(events.iter().map(|(_, line, _)| *line).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(flaw.map(|flaw| flaw.line), Some(4));
    }

    #[test]
    fn a_byte_order_mark_is_skipped_only_at_the_start() {
        let text = format!("\u{feff}\n\u{feff}{}\n", event("a", ""));
        let (events, flaw) = read(Lines::default(), &[text.as_bytes()]);
        assert_eq!(events, []);
        let flaw = flaw.unwrap();
        assert_eq!((flaw.line, flaw.flaw.column), (2, Some(1)));
    }

    #[test]
    fn a_line_may_have_one_mebibyte_and_not_a_byte_more() {
        // The filling stands in a member that is not read, since a message may not be so long.
        let line = |bytes: usize| {
            let event = event("a", "");
            let filled = event.len() + r#","x":"""#.len();
            format!(r#"{},"x":"{}"}}"#, &event[..event.len() - 1], "x".repeat(bytes - filled))
        };
        for end in ["", "\n", "\r\n"] {
            let text = line(MAX_LINE_BYTES) + end;
            // The line's end may come apart.
            let (start, last) = text.as_bytes().split_at(text.len() - 1);
            for pieces in [&[text.as_bytes()][..], &[start, last]] {
                let (events, flaw) = read(Lines::default(), pieces);
                assert_eq!((events.len(), flaw), (1, None), "{end:?}");
            }
            let text = line(MAX_LINE_BYTES + 1) + end;
            let (events, flaw) = read(Lines::default(), &[text.as_bytes()]);
            let expected = BadLine { line: 1, flaw: LineProblem::TooLong.into() };
            assert_eq!((events.len(), flaw), (0, Some(expected)), "{end:?}");
        }
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let mut lines = Lines::default();
        let piece = [b'x'; 1 << 16];
        let mut fed = 0;
        while lines.feed(&piece, &mut Parsed::default()).is_ok() {
            fed += piece.len();
            assert!(fed <= MAX_LINE_BYTES + 1);
        }
        assert!(lines.partial.len() <= MAX_LINE_BYTES + 1 + piece.len());
    }
}
