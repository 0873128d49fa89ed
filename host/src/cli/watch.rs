//! What is shown while something goes on: each delivery's trace, progress bars, the time of the first.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use process_once::processor::Delivery;
use process_once::source::Received;

/// How often a bar moves that has nothing new to show.
const TICK: Duration = Duration::from_millis(100);

/// Sees every delivery before it is acknowledged.
pub(super) struct Watch {
    trace: Option<Box<dyn Write>>,
    bar: ProgressBar,
    started: Instant,
    /// How long after the program's start the first event had been handled.
    pub(super) first: Option<Duration>,
}

impl Watch {
    pub(super) fn new(trace: Option<Box<dyn Write>>, bar: ProgressBar, started: Instant) -> Self {
        Self { trace, bar, started, first: None }
    }

    pub(super) fn delivered(&mut self, received: &Received, delivery: &Delivery) -> io::Result<()> {
        if delivery.answer.is_ok() {
            self.first.get_or_insert_with(|| self.started.elapsed());
            self.bar.set_position(received.offset.byte);
        }
        if let (Some(out), Some(trace)) = (&mut self.trace, &delivery.trace) {
            // One write an event: whoever follows the trace sees whole events.
            out.write_all(trace.to_string().as_bytes())?;
            out.flush()?;
        }
        Ok(())
    }

    /// Takes the bar off the terminal.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
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
