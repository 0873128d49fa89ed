//! What a guest writes, as lines for the log: bounded, and with nothing that a terminal would obey.

/// The longest line that is shown, in bytes; the rest of it is left out.
const MAX_LINE_BYTES: usize = 1_024;
/// The most lines that are shown of one delivery.
const MAX_LINES: u32 = 64;

/// Collects bytes into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The line under way, at most [`MAX_LINE_BYTES`] of it.
    line: Vec<u8>,
    /// How many lines of this delivery were shown.
    shown: u32,
}

impl Lines {
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        if let Some(first) = pieces.next() {
            self.extend(first);
        }
        for piece in pieces {
            self.show();
            self.extend(piece);
            if self.shown > MAX_LINES {
                return;
            }
        }
    }

    /// Ends the delivery: a line without its newline is shown, and counting begins anew.
    pub(super) fn end(&mut self) {
        if !self.line.is_empty() {
            self.show();
        }
        self.shown = 0;
    }

    fn extend(&mut self, piece: &[u8]) {
        let room = MAX_LINE_BYTES.saturating_sub(self.line.len());
        self.line.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    fn show(&mut self) {
        match self.shown {
            shown if shown < MAX_LINES => {
                tracing::info!(target: "guest", "{}", printable(&self.line));
            }
            MAX_LINES => {
                tracing::info!(target: "guest", "more than {MAX_LINES} lines; the rest is left out");
            }
            _ => {}
        }
        self.shown = self.shown.saturating_add(1);
        self.line.clear();
    }
}

/// The bytes as text in which control characters stand as escapes.
fn printable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() && character != '\t' {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable(b"a\x1b[31mred\tb\r"), "a\\u{1b}[31mred\tb\\u{d}");
        assert_eq!(printable(b"\xff"), "\u{fffd}");
    }

    #[test]
    fn a_guest_that_writes_without_end_is_bounded() {
        let mut lines = Lines::default();
        lines.write(&vec![b'x'; 10 * MAX_LINE_BYTES]);
        assert_eq!(lines.line.len(), MAX_LINE_BYTES);
        lines.write(&vec![b'\n'; 10_000]);
        assert_eq!(lines.shown, MAX_LINES + 1);
        lines.end();
        assert_eq!((lines.shown, lines.line.len()), (0, 0));
    }
}
