//! `inspect`: what a component is.

use std::fmt::Write as _;
use std::path::PathBuf;

use process_once::engine::{Engine, Inspection, Limits};
use process_once::numbers::grouped;
use serde_json::json;

use super::report::{CliError, causes};
use super::{EXIT_COULD_NOT_START, EXIT_YES, Format, print_result};

/// The version of the JSON form.
const JSON_VERSION: u32 = 1;

/// Tell what a component is: imports, exports, digest, size, and whether it is a guest
#[derive(clap::Args)]
pub(super) struct Args {
    /// The component
    component: PathBuf,
    /// The form of the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Exit code 0 for a guest, 2 for anything else.
pub(super) fn inspect(args: &Args) -> Result<u8, CliError> {
    let could_not = |error: anyhow::Error| CliError::new(EXIT_COULD_NOT_START, error);
    let engine = Engine::new(Limits::default()).map_err(|error| could_not(error.into()))?;
    let found = Inspection::of_file(&engine, &args.component).map_err(|error| {
        could_not(error.into()).advise("give the path of a component, most often named *.wasm")
    })?;
    let Inspection { digest, bytes, imports, exports, verdict } = found;
    let code = if verdict.is_ok() { EXIT_YES } else { EXIT_COULD_NOT_START };
    let reason = verdict.err().map(anyhow::Error::new);
    let why_not: Vec<String> = reason
        .iter()
        .flat_map(|error| std::iter::once(error.to_string()).chain(causes(error)))
        .collect();
    let result = match args.format {
        Format::Json => {
            let object = json!({
                "version": JSON_VERSION,
                "component": args.component.display().to_string(),
                "sha256": digest,
                "bytes": bytes,
                "imports": imports,
                "exports": exports,
                "guest": why_not.is_empty(),
                "why_not": why_not,
            });
            format!("{object}\n")
        }
        Format::Text => {
            let mut text = format!("{}\n", args.component.display());
            let mut row = |name: &str, values: &[String]| {
                for (index, value) in values.iter().enumerate() {
                    let name = if index == 0 { name } else { "" };
                    let _ = writeln!(text, "  {name:<8} {value}");
                }
            };
            row("sha256", &[digest]);
            row("size", &[format!("{} bytes", grouped(bytes as u64))]);
            row("imports", &imports);
            row("exports", &exports);
            match why_not.as_slice() {
                [] => row("guest", &["yes".to_owned()]),
                [reason, causes @ ..] => {
                    row("guest", &[format!("no: {reason}")]);
                    row("because", causes);
                }
            }
            text
        }
    };
    print_result(result.as_bytes())?;
    Ok(code)
}
