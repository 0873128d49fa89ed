//! The log: lines on standard error that leave the progress bar whole.

use std::io::{self, Write};

use indicatif::ProgressBar;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// The variable that sets what is logged.
const VARIABLE: &str = "PROCESS_ONCE_LOG";

/// Sends the log to standard error, around `bar`.
pub(super) fn start(bar: &ProgressBar) {
    let filter = EnvFilter::try_from_env(VARIABLE).unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .without_time()
        .with_env_filter(filter)
        .with_ansi(false)
        // They would be told to standard error as well, and panic where nobody reads it any more.
        .log_internal_errors(false)
        .with_writer(AroundBar(bar.clone()));
    // A second start in one process changes nothing.
    let _ = log.try_init();
}

/// Writes to standard error while the bar is out of the way.
#[derive(Clone)]
struct AroundBar(ProgressBar);

impl MakeWriter<'_> for AroundBar {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Write for AroundBar {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
