//! `check`: judge a guest; `explain`: what a rule asks for.

use std::io::{self, IsTerminal, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use indicatif::ProgressBar;
use process_once::check::{
    self, Check, CheckError, DELIVERIES, Identity, MAX_DEPTH, Report, Schedule, StoreKind, Verdict,
};
use process_once::contract::Rule;
use process_once::engine::Guest;
use process_once::numbers::grouped;

use super::report::CliError;
use super::watch::work_bar;
use super::{EXIT_COULD_NOT_START, EXIT_NO, EXIT_YES, log, print_result};

/// Judge a guest: whether it keeps the contract, and if not, which rule it breaks
///
/// The guest is played every sequence of up to three deliveries with every fault of the store, then
/// events with unlikely texts, then a random walk through one long life. The exit code is 0 only if
/// every rule was reached and kept.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The guest component
    guest: PathBuf,
    /// The store that it is judged on
    #[arg(long, value_enum, default_value_t = Store::Memory)]
    store: Store,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// The most deliveries of a schedule
    #[arg(long, value_name = "N", default_value_t = MAX_DEPTH as u64,
          value_parser = clap::value_parser!(u64).range(1..=MAX_DEPTH as u64))]
    depth: u64,
    /// How many deliveries the random walk has; 0 leaves it out
    #[arg(long, value_name = "N", default_value_t = DELIVERIES as u64,
          value_parser = clap::value_parser!(u64).range(0..=10_000_000))]
    deliveries: u64,
    /// Where the random walk starts
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// How long the whole check may take, in seconds; what was not reached by then is unknown
    #[arg(long, value_name = "SECONDS", default_value_t = check::TIME.as_secs(),
          value_parser = clap::value_parser!(u64).range(1..=604_800))]
    time: u64,
    /// Play one schedule only, as a report names it: exit code 0 if it breaks no rule
    #[arg(long, value_name = "SCHEDULE", conflicts_with_all = ["depth", "deliveries", "seed"])]
    schedule: Option<Schedule>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Store {
    /// In memory
    Memory,
    /// Real SQLite files, with the same verdicts
    Sqlite,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people
    Text,
    /// For machines: one object, described in host/README.md
    Json,
    /// For build servers: JUnit's XML, a test case a rule
    Junit,
}

/// Exit code 0 if the guest keeps every rule, 1 if it breaks one or one was not reached.
pub(super) fn check(args: &Args) -> Result<u8, CliError> {
    let bytes = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let (store, name) = match args.store {
        Store::Memory => (StoreKind::Memory, "memory"),
        Store::Sqlite => (StoreKind::Sqlite, "sqlite"),
    };
    let check = Check {
        store,
        depth: bytes(args.depth),
        deliveries: bytes(args.deliveries),
        seed: args.seed,
        time: Duration::from_secs(args.time),
        ..Check::default()
    };
    let (guest, identity) = load(args, name)?;
    let report = judge(&check, &guest, args.schedule.as_ref())?;
    let result = match args.format {
        Form::Text => report.text(&identity, wants_colour()),
        Form::Json => format!("{}\n", report.json(&identity)),
        Form::Junit => report.junit(&identity).map_err(|error| CliError::new(EXIT_NO, error))?,
    };
    print_result(result.as_bytes())?;
    if args.format == Form::Text {
        print_speed(&report);
    }
    Ok(if report.verdict() == Verdict::Pass { EXIT_YES } else { EXIT_NO })
}

/// Colour is for terminals, unless `NO_COLOR` is set (no-color.org) or the terminal is a dumb one.
fn wants_colour() -> bool {
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdout().is_terminal() && !no_colour && !dumb
}

/// Loads the guest, or says why it is none in the words of `inspect`.
fn load(args: &Args, store: &'static str) -> Result<(Guest, Identity), CliError> {
    let could_not = |error: anyhow::Error| CliError::new(EXIT_COULD_NOT_START, error);
    let engine = check::engine().map_err(|error| could_not(error.into()))?;
    let compiling = work_bar(None, "compiling the guest");
    let loaded = engine.load(&args.guest);
    compiling.finish_and_clear();
    let guest = loaded
        .map_err(|error| could_not(error.into()).advise("`process-once inspect` tells more"))?;
    let identity = Identity {
        component: args.guest.display().to_string(),
        sha256: guest.digest().to_owned(),
        bytes: guest.bytes(),
        store,
    };
    Ok((guest, identity))
}

fn judge(check: &Check, guest: &Guest, schedule: Option<&Schedule>) -> Result<Report, CliError> {
    let failed = |error: CheckError| CliError::new(EXIT_COULD_NOT_START, error);
    if let Some(schedule) = schedule {
        // One schedule is few enough for what the guest itself writes to be read.
        log::start(&ProgressBar::hidden());
        return check.replay(guest, schedule).map_err(failed);
    }
    let bar = work_bar(Some(0), "judging");
    let report = check.judge(guest, &|done, all| {
        bar.set_length(all as u64);
        bar.inc(done as u64);
    });
    bar.finish_and_clear();
    report.map_err(failed)
}

fn print_speed(report: &Report) {
    let seconds = report.elapsed.as_secs_f64();
    let per_second = if seconds > 0.0 { report.deliveries as f64 / seconds } else { 0.0 };
    let text = format!(
        "{} deliveries in {seconds:.2} s ({per_second:.0} a second)\n",
        grouped(report.deliveries)
    );
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Tell what a rule asks for, why, and what breaking it looks like
#[derive(clap::Args)]
pub(super) struct ExplainArgs {
    /// The rule, R1 to R14; all of them in a line each if none is named
    rule: Option<Rule>,
}

pub(super) fn explain(args: &ExplainArgs) -> Result<u8, CliError> {
    let text = match args.rule {
        Some(rule) => check::explain(rule),
        None => Rule::ALL.map(|rule| format!("{rule:<4}{}\n", rule.sentence())).concat(),
    };
    print_result(text.as_bytes())?;
    Ok(EXIT_YES)
}
