//! What a guest writes, as lines for the log: bounded, and with nothing that a terminal would obey.
//!
//! They are kept until the delivery has ended: whoever made it decides when they may be seen.

/// The longest line that is shown, in bytes; the rest of it is left out.
const MAX_LINE_BYTES: usize = 1_024;
/// The most lines that are kept of one delivery.
const MAX_LINES: usize = 64;

/// Collects bytes into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The line under way, at most [`MAX_LINE_BYTES`] of it.
    line: Vec<u8>,
    /// The lines of this delivery, at most [`MAX_LINES`] and one that says that more were left out.
    lines: Vec<String>,
}

impl Lines {
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        if let Some(first) = pieces.next() {
            self.extend(first);
        }
        for piece in pieces {
            self.keep();
            self.extend(piece);
            if self.lines.len() > MAX_LINES {
                return;
            }
        }
    }

    /// Ends the delivery and gives its lines; one without its newline is a line as well.
    pub(super) fn end(&mut self) -> Vec<String> {
        if !self.line.is_empty() {
            self.keep();
        }
        std::mem::take(&mut self.lines)
    }

    fn extend(&mut self, piece: &[u8]) {
        let room = MAX_LINE_BYTES.saturating_sub(self.line.len());
        self.line.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    fn keep(&mut self) {
        match self.lines.len() {
            kept if kept < MAX_LINES => self.lines.push(printable(&self.line)),
            MAX_LINES => {
                self.lines.push(format!("more than {MAX_LINES} lines; the rest is left out"));
            }
            _ => {}
        }
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
        assert_eq!(lines.end().len(), MAX_LINES + 1);
        assert_eq!((lines.end().len(), lines.line.len()), (0, 0));
    }
}
