//! The program `process-once`: arguments, dispatch and exit codes; the work is the library's.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
