//! The command line: one file per command, and what they share.
//!
//! Results go to standard output, everything else to standard error.

mod check;
mod files;
mod inspect;
mod log;
mod new;
mod report;
mod run;
mod signals;
mod watch;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use report::CliError;

/// Done, and the answer is yes.
const EXIT_YES: u8 = 0;
/// Done, and the answer is no.
const EXIT_NO: u8 = 1;
/// It could not start, or was called wrongly.
const EXIT_COULD_NOT_START: u8 = 2;

/// Handles events that are delivered at least once, each logically once.
///
/// A guest component marks the event and saves its alert in one transaction; an event is
/// acknowledged only after the guest answered `applied` or `already-applied`.
#[derive(Parser)]
#[command(version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Exit codes:
  0  done, and the answer is yes (a run that SIGINT or SIGTERM drained included)
  1  done, and the answer is no: a delivery failed or a line holds no event, and the consumer
     stopped; the guest breaks a rule, or a rule was not reached
  2  it could not start: wrong arguments, a missing file, a file that is not what it should be

PROCESS_ONCE_LOG sets what is logged: error, warn, info (the default), debug or off.";

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Check(check::Args),
    Explain(check::ExplainArgs),
    Inspect(inspect::Args),
    New(new::Args),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// In which form a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For machines: one object, described in host/README.md
    Json,
}

/// Reads the arguments, does what they say, and gives the exit code.
pub(crate) fn main() -> ExitCode {
    let started = Instant::now();
    // Wrong arguments end here with clap's message and code 2, --help and --version with 0.
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Run(args) => run::run(&args, started),
        Command::Check(args) => check::check(&args),
        Command::Explain(args) => check::explain(&args),
        Command::Inspect(args) => inspect::inspect(&args),
        Command::New(args) => new::new(&args),
        Command::Completions { shell } => completions(shell),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            error.print();
            ExitCode::from(error.code)
        }
    }
}

fn completions(shell: Shell) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "process-once", &mut script);
    print_result(&script)?;
    Ok(EXIT_YES)
}

/// Writes a result to standard output. Whoever closed it has seen enough: that is no error.
fn print_result(bytes: &[u8]) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::new(
            EXIT_NO,
            anyhow::Error::new(error).context("the result cannot be written"),
        )
        .advise("see to where standard output leads")),
        _ => Ok(()),
    }
}

/// The reference guest where `make build` leaves it, seen from the program.
fn bundled_guest() -> Result<PathBuf, CliError> {
    let beside = |program: PathBuf| Some(program.parent()?.join("../components/process-once.wasm"));
    let found = std::env::current_exe().ok().and_then(beside).filter(|path| path.is_file());
    found.ok_or_else(|| {
        let missing = anyhow::anyhow!("the reference guest is not beside this program");
        CliError::new(EXIT_COULD_NOT_START, missing)
            .advise("name a guest with --guest, or build the reference with `make build`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
