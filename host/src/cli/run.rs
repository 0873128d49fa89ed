//! `run`: consume events and apply each once.

use std::cell::Cell;
use std::io::{self, Write as _};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::builder::TypedValueParser;
use process_once::contract::Stored;
use process_once::engine::{Engine, Limits};
use process_once::handle::Handle;
use process_once::numbers::grouped;
use process_once::processor::{FailureReason, Isolation, Processor};
use process_once::run::batch::{Batches, Connections, Options as BatchOptions, Running};
use process_once::run::{Counts, Stop, consume, consume_in_batches};
use process_once::source::jsonl::{
    Database, JsonLines, OpenError, Options, SourceError, default_checkpoint,
};
use process_once::store::{Sqlite, SqliteBulk, SqliteOptions};
use serde_json::{Value, json};

use super::report::{CliError, causes, delivery_advice, stored_sentence, stored_word};
use super::watch::{Show, open_trace, progress_bar};
use super::{
    EXIT_COULD_NOT_START, EXIT_NO, EXIT_YES, Format, bundled_guest, files, log, print_result,
    signals,
};

/// How many instances live at once at most: one that speculates, and one in the plain way.
const INSTANCES: u32 = 2;

/// The version of the JSON form of the summary.
const JSON_VERSION: u32 = 1;

/// Consume events and apply each once
///
/// Each line of the events is one JSON object with the members source_event_id, device_id and
/// message, all strings. An event is acknowledged, in a small checkpoint file, only after the guest
/// answered applied or already-applied; at the first failure the run stops, and a later run goes on
/// from there. The first SIGINT or SIGTERM lets the event under way end and stops, the second one
/// leaves at once.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The events, as JSON lines; - reads standard input, without a checkpoint
    #[arg(long, value_name = "FILE")]
    events: PathBuf,
    /// The guest component [default: the reference guest]
    #[arg(long, value_name = "G.wasm")]
    guest: Option<PathBuf>,
    /// The SQLite database that keeps markers and alerts; made if there is none
    #[arg(long, value_name = "D.db", default_value = "process-once.db")]
    database: PathBuf,
    /// Where the acknowledged position is kept [default: the events file's name and .checkpoint]
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// At the end of the events wait for more
    #[arg(long)]
    follow: bool,
    /// Write the calls of each delivery to a file; - writes to standard output
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// How long one delivery may take, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    deadline: u64,
    /// The most events that share a durable commit; with 1 each has a transaction of its own
    #[arg(long, value_name = "EVENTS", default_value_t = BatchOptions::default().events,
          value_parser = in_range(BatchOptions::EVENTS))]
    batch: usize,
    /// The most memory that a batch takes, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = BatchOptions::default().bytes,
          value_parser = in_range(BatchOptions::BYTES))]
    batch_bytes: usize,
    /// How long a batch may grow while the one before it is written, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 500,
          value_parser = clap::value_parser!(u64).range(BatchOptions::AGE_MILLIS))]
    batch_age: u64,
    /// The most events that are read ahead for the guest
    #[arg(long, value_name = "EVENTS", default_value_t = BatchOptions::default().queue,
          value_parser = in_range(BatchOptions::QUEUE))]
    queue: usize,
    /// How long an instance of the guest lives: kept serves one event after another, event is fresh for
    /// each
    #[arg(long, value_enum, value_name = "LIFE", default_value_t = Life::Kept)]
    isolation: Life,
    /// How long to wait for another process that writes the database, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 5_000,
          value_parser = clap::value_parser!(u64).range(0..=3_600_000))]
    busy_timeout: u64,
    /// The form of the summary: text goes to standard error, json to standard output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How long an instance of the guest lives.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Life {
    Kept,
    Event,
}

impl From<Life> for Isolation {
    fn from(life: Life) -> Self {
        match life {
            Life::Kept => Self::Kept,
            Life::Event => Self::Event,
        }
    }
}

/// A run that is ready to begin: everything that can be wrong at the start has been looked at.
struct Ready {
    source: JsonLines,
    consumer: Consumer,
    show: Show,
    resumed_line: Option<u64>,
}

/// How the events are handled.
enum Consumer {
    /// Each in a transaction of its own.
    Plain(Handle),
    /// Many with one durable commit.
    Batches(Batches),
}

/// For a number that has to be in `range`.
fn in_range(range: RangeInclusive<usize>) -> impl TypedValueParser<Value = usize> {
    let (least, most) = (*range.start() as u64, *range.end() as u64);
    clap::value_parser!(u64).range(least..=most).map(|number| number as usize)
}

pub(super) fn run(args: &Args, started: Instant) -> Result<u8, CliError> {
    let ready = prepare(args, started)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the program's event loop cannot be started")
        .map_err(could_not_start)?;
    runtime.block_on(consume_all(args, ready))
}

fn could_not_start(error: impl Into<anyhow::Error>) -> CliError {
    CliError::new(EXIT_COULD_NOT_START, error)
}

fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

fn prepare(args: &Args, started: Instant) -> Result<Ready, CliError> {
    let stdin = is_dash(&args.events);
    refuse_contradictions(args, stdin)?;
    let guest = args.guest.clone().map_or_else(bundled_guest, Ok)?;
    refuse_double_use(args, &guest, stdin)?;
    let length = std::fs::metadata(&args.events).ok().map(|file| file.len());
    let bar = progress_bar(length.filter(|_| !stdin && !args.follow));
    log::start(&bar);

    let transaction = Limits::default().transaction;
    let delivery = Duration::from_millis(args.deadline);
    let limits = Limits { delivery, transaction: transaction.min(delivery), ..Limits::default() };
    let engine = match args.isolation {
        Life::Kept => Engine::new(limits),
        Life::Event => Engine::pooled(limits, INSTANCES),
    };
    let engine = engine.map_err(could_not_start)?;
    let guest = engine.load(guest).map_err(|error| {
        could_not_start(error)
            .advise("give a guest with --guest; `process-once inspect` tells more")
    })?;

    let busy_timeout = Duration::from_millis(args.busy_timeout);
    let options = SqliteOptions { busy_timeout, ..SqliteOptions::default() };
    let mut store = Sqlite::open(&args.database, options).map_err(could_not_start)?;
    let source = if stdin { JsonLines::stdin() } else { open_events(args, &mut store) }.map_err(
        |error| {
            let advice = error.advice();
            could_not_start(error).advise(advice)
        },
    )?;

    let trace = args.trace.as_deref().map(|target| {
        open_trace(target).with_context(|| format!("the trace {} cannot be made", target.display()))
    });
    let trace = trace.transpose().map_err(could_not_start)?;
    let consumer = if args.batch == 1 {
        let processor = Processor::new(guest, store).map_err(could_not_start)?;
        let processor = processor.record_calls(trace.is_some()).isolate(args.isolation.into());
        let handle = Handle::spawn(processor)
            .context("the thread that runs the guest cannot be started")
            .map_err(could_not_start)?;
        Consumer::Plain(handle)
    } else {
        let (record_calls, isolation) = (trace.is_some(), args.isolation.into());
        let running = Running { guest, record_calls, isolation };
        Consumer::Batches(batches(args, &running, store).map_err(could_not_start)?)
    };
    let resumed_line = source.resumed().map(|offset| offset.line);
    Ok(Ready { source, consumer, show: Show::new(trace, bar, started), resumed_line })
}

fn batches(args: &Args, running: &Running, store: Sqlite) -> anyhow::Result<Batches> {
    let options = BatchOptions {
        events: args.batch,
        bytes: args.batch_bytes,
        age: Duration::from_millis(args.batch_age),
        queue: args.queue,
    };
    let reader = SqliteBulk::new(&store)?;
    let writer = SqliteBulk::new(&store)?;
    Ok(Batches::spawn(running, Connections { reader, writer, store }, options)?)
}

fn refuse_contradictions(args: &Args, stdin: bool) -> Result<(), CliError> {
    let refused = |what: &'static str| Err(could_not_start(anyhow::anyhow!(what)));
    if stdin && args.checkpoint.is_some() {
        return refused("--checkpoint needs an events file: standard input has no position");
    }
    if stdin && args.follow {
        return refused("--follow needs an events file: standard input is read to its end anyway");
    }
    if args.format == Format::Json && args.trace.as_deref().is_some_and(is_dash) {
        return refused("--trace - and --format json both write to standard output");
    }
    Ok(())
}

fn refuse_double_use(args: &Args, guest: &Path, stdin: bool) -> Result<(), CliError> {
    let mut read = vec![("guest", guest)];
    let mut written = vec![("database", args.database.as_path())];
    let checkpoint = args.checkpoint.clone().unwrap_or_else(|| default_checkpoint(&args.events));
    if !stdin {
        read.push(("events file", &args.events));
        written.push(("checkpoint", &checkpoint));
    }
    if let Some(trace) = args.trace.as_deref().filter(|trace| !is_dash(trace)) {
        written.push(("trace", trace));
    }
    files::refuse_double_use(&read, &written)
}

fn open_events(args: &Args, store: &mut Sqlite) -> Result<JsonLines, OpenError> {
    let options = Options { checkpoint: args.checkpoint.clone(), follow: args.follow };
    let id = store.database_id().to_owned();
    let is_marked = &mut |event_id: &str| store.is_marked(event_id);
    JsonLines::open(&args.events, &options, Database { id: &id, is_marked })
}

async fn consume_all(args: &Args, ready: Ready) -> Result<u8, CliError> {
    let Ready { mut source, consumer, mut show, resumed_line } = ready;
    let drained = Cell::new(false);
    let signals =
        signals::listen().context("signals cannot be received").map_err(could_not_start)?;
    let drain = async {
        signals.await;
        drained.set(true);
    };
    let began = Instant::now();
    let (counts, ended) = match consumer {
        Consumer::Plain(handle) => {
            let consumed = consume(&mut source, &handle, drain, &mut show).await;
            handle.close().await;
            consumed
        }
        Consumer::Batches(batches) => {
            consume_in_batches(&mut source, batches, drain, &mut show).await
        }
    };
    let seconds = began.elapsed().as_secs_f64();
    show.finish();

    let summary =
        Summary { counts, seconds, first: show.first, resumed_line, drained: drained.get() };
    let printed = match args.format {
        Format::Text => {
            summary.print_text();
            Ok(())
        }
        Format::Json => print_result(summary.json(&ended).as_bytes()),
    };
    match ended {
        Ok(()) => printed.map(|()| EXIT_YES),
        // Whoever reads the trace from standard output has seen enough.
        Err(Stop::Watch { source, .. })
            if source.kind() == io::ErrorKind::BrokenPipe
                && args.trace.as_deref().is_some_and(is_dash) =>
        {
            Ok(EXIT_YES)
        }
        Err(stop) => Err(stopped(stop, source.name())),
    }
}

/// The error of a consumer that stopped early.
fn stopped(stop: Stop<SourceError>, events: &str) -> CliError {
    match stop {
        Stop::Source(error) => {
            let advice = error.advice();
            CliError::new(EXIT_NO, error).advise(advice)
        }
        Stop::Watch { .. } => CliError::new(EXIT_NO, stop)
            .advise("see to where the trace goes, then start again: the event comes again"),
        Stop::InDoubt { .. } => CliError::new(EXIT_NO, stop)
            .notes([stored_sentence(Stored::Unknown).to_owned()])
            .advise("see to the disk, then start again: the events come again"),
        Stop::Delivery { event_id, offset, source } => {
            let (stored, advice) = (source.stored, delivery_advice(&source));
            let class = class_note(&source.reason);
            let what = format!("event {event_id:?} ({events}, {offset}) was not handled");
            CliError::new(EXIT_NO, anyhow::Error::new(source).context(what))
                .notes(class)
                .notes([stored_sentence(stored).to_owned()])
                .advise(advice)
        }
    }
}

/// The class and the database's own code of a store's error.
fn class_note(reason: &FailureReason) -> Option<String> {
    let FailureReason::Store(error) = reason else { return None };
    let code = error.code().map(|code| format!(", code {code}")).unwrap_or_default();
    Some(format!("class: {}{code}", error.class()))
}

/// What a run came to.
struct Summary {
    counts: Counts,
    seconds: f64,
    first: Option<Duration>,
    resumed_line: Option<u64>,
    drained: bool,
}

impl Summary {
    fn per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.counts.events() as f64 / self.seconds } else { 0.0 }
    }

    fn print_text(&self) {
        let Counts { applied, already_applied } = self.counts;
        let mut text = String::new();
        if let Some(line) = self.resumed_line {
            text += &format!("resumed behind line {}, by the checkpoint\n", grouped(line));
        }
        text += &format!(
            "{} events: {} applied, {} already applied, in {:.2} s ({:.0} events/s)\n",
            grouped(self.counts.events()),
            grouped(applied),
            grouped(already_applied),
            self.seconds,
            self.per_second(),
        );
        if let Some(first) = self.first {
            text += &format!("the first was handled {} ms after the start\n", first.as_millis());
        }
        if self.drained {
            text += "stopped by a signal; what is left comes with the next run\n";
        }
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    fn json(&self, ended: &Result<(), Stop<SourceError>>) -> String {
        let how = match ended {
            Err(_) => "failed",
            Ok(()) if self.drained => "drained",
            Ok(()) => "end-of-stream",
        };
        let object = json!({
            "version": JSON_VERSION,
            "events": self.counts.events(),
            "applied": self.counts.applied,
            "already_applied": self.counts.already_applied,
            "seconds": self.seconds,
            "events_per_second": self.per_second(),
            "first_event_seconds": self.first.map(|first| first.as_secs_f64()),
            "resumed_behind_line": self.resumed_line,
            "ended": how,
            "failure": ended.as_ref().err().map(failure_json),
        });
        format!("{object}\n")
    }
}

fn failure_json(stop: &Stop<SourceError>) -> Value {
    match stop {
        Stop::Delivery { event_id, offset, source } => {
            let store = match &source.reason {
                FailureReason::Store(error) => Some(error),
                _ => None,
            };
            json!({
                "event_id": event_id,
                "line": offset.line,
                "message": source.to_string(),
                "causes": causes(&anyhow::Error::new(source.clone())),
                "stored": stored_word(source.stored),
                "class": store.map(|error| error.class().name()),
                "code": store.and_then(process_once::store::StoreError::code),
            })
        }
        Stop::InDoubt { event_id, offset, events, source } => json!({
            "event_id": event_id,
            "line": offset.line,
            "events_in_doubt": events,
            "message": stop.to_string(),
            "causes": causes(&anyhow::Error::new(source.clone())),
            "stored": stored_word(Stored::Unknown),
            "class": source.class().name(),
            "code": source.code(),
        }),
        Stop::Source(error) => json!({
            "line": match error {
                SourceError::Line { line, .. } => Some(line),
                _ => None,
            },
            "message": error.to_string(),
            "causes": causes(&anyhow::Error::new(error.clone())),
        }),
        Stop::Watch { event_id, offset, source } => json!({
            "event_id": event_id,
            "line": offset.line,
            "message": stop.to_string(),
            "causes": [source.to_string()],
        }),
    }
}
