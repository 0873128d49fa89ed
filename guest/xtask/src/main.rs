//! What building guests needs beyond cargo: `cargo run -q -p xtask -- help`.

mod component;
mod flaws;
mod guests;
mod mutants;
mod project;
mod toolchain;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "usage: cargo run -q -p xtask -- COMMAND

  guests         builds the reference guest: target/components/process-once.wasm
  test-guests    builds the tests' guests: target/components/tests/{odd,scripted,wrong}/NAME.wasm
  build-project DIR [TARGET_DIR]
                 builds a project outside this workspace, of a guest with std:
                 TARGET_DIR/wasm32-wasip2/release/NAME.wasm, where TARGET_DIR is DIR/target if not given
  mutants        judges every mutant of the reference guest by target/release/process-once
  flaws          breaks the engine of batches in many ways; the refinement tests have to catch each";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // One sentence with its causes: a backtrace would bury it.
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["guests"] => guests::reference(&root()?),
        ["test-guests"] => guests::tests(&root()?),
        ["build-project", folder] => project::build(&root()?, Path::new(folder), None),
        ["build-project", folder, target_dir] => {
            project::build(&root()?, Path::new(folder), Some(Path::new(target_dir)))
        }
        ["flaws"] => flaws::catch_all(&root()?),
        ["mutants"] => mutants::judge_all(&root()?),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => bail!("{USAGE}"),
    }
}

/// The workspace's folder. Cargo names this package's folder when it runs it; a path compiled in
/// would be wrong once the folder has been moved.
fn root() -> Result<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .context("this program is run by cargo: cargo run -q -p xtask")?;
    let root = Path::new(&package).ancestors().nth(2);
    Ok(root.context("xtask does not lie in guest/xtask")?.to_path_buf())
}
