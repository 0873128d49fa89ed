//! What is shown while something goes on: each delivery's trace, progress bars, the time of the first.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use process_once::run::{Seen, Watch};

/// How often a bar moves that has nothing new to show.
const TICK: Duration = Duration::from_millis(100);

/// How much of the trace is collected before it is written, in bytes.
const TRACE_BYTES: usize = 64 << 10;

/// Sees every delivery before it is acknowledged.
pub(super) struct Show {
    trace: Option<Box<dyn Write>>,
    /// The part of the trace that is still to be written: whole events.
    unwritten: String,
    bar: ProgressBar,
    /// How far the bar has to move.
    position: u64,
    started: Instant,
    /// How long after the program's start the first event had been handled.
    pub(super) first: Option<Duration>,
}

impl Show {
    pub(super) fn new(trace: Option<Box<dyn Write>>, bar: ProgressBar, started: Instant) -> Self {
        let (unwritten, position) = (String::new(), 0);
        Self { trace, unwritten, bar, position, started, first: None }
    }

    /// Takes the bar off the terminal.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Show {
    fn delivered(&mut self, seen: Seen<'_>) -> io::Result<()> {
        if seen.answer.is_ok() {
            self.first.get_or_insert_with(|| self.started.elapsed());
            self.position = seen.received.offset.byte;
        }
        if let (Some(_), Some(trace)) = (&self.trace, seen.trace) {
            // It cannot fail.
            let _ = write!(self.unwritten, "{trace}");
        }
        if self.unwritten.len() < TRACE_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.bar.set_position(self.position);
        let Some(out) = &mut self.trace else { return Ok(()) };
        // Whoever follows the trace sees whole events.
        let written = out.write_all(self.unwritten.as_bytes()).and_then(|()| out.flush());
        self.unwritten.clear();
        written
    }
}

/// Where `--trace` writes: standard output for `-`, else a file that is made anew.
pub(super) fn open_trace(target: &Path) -> io::Result<Box<dyn Write>> {
    Ok(if target == Path::new("-") {
        Box::new(io::stdout())
    } else {
        Box::new(File::create(target)?)
    })
}

/// A bar over the bytes of the events file; a bare count of them where the end is not known, and
/// nothing where standard error is no terminal.
pub(super) fn progress_bar(length: Option<u64>) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
    let style = match length {
        Some(_) => "{bar:40} {percent:>3} %  {bytes} of {total_bytes}  {eta} left",
        None => "{spinner} {bytes} read, {elapsed}",
    };
    styled(bar, style)
}

/// A bar over a number of steps; a spinner where the number is not known.
pub(super) fn work_bar(steps: Option<u64>, what: &'static str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = steps.map_or_else(ProgressBar::no_length, ProgressBar::new).with_message(what);
    bar.enable_steady_tick(TICK);
    styled(
        bar,
        match steps {
            Some(_) => "{msg} {bar:40} {percent:>3} %  {eta} left",
            None => "{spinner} {msg}, {elapsed}",
        },
    )
}

fn styled(bar: ProgressBar, style: &str) -> ProgressBar {
    bar.with_style(
        ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
    )
}
