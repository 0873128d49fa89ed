//! The mutants that cargo-mutants makes: a place in the source, and what it puts there.

use std::ops::Range;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Mutant, SOURCE};
use crate::toolchain::our_cargo;

/// Asks cargo-mutants for its mutants of the source.
pub(super) fn list(root: &Path, source: &str) -> Result<Vec<Mutant>> {
    let asked = Command::new(our_cargo()).args(["mutants", "--version"]).output();
    ensure!(
        asked.is_ok_and(|answer| answer.status.success()),
        "cargo-mutants is missing: install it with `cargo install --locked cargo-mutants`"
    );
    let mut list = Command::new(our_cargo());
    list.current_dir(root).args(["mutants", "--list", "--json", "--colors", "never"]);
    list.args(["--package", "process-once-guest", "--file", SOURCE]);
    let output = list.output().context("cannot run cargo-mutants")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo-mutants could not list its mutants: {}", said.trim());
    let mutants = read(&output.stdout, source).context("cannot read cargo-mutants' list")?;
    ensure!(!mutants.is_empty(), "cargo-mutants finds nothing to change in {SOURCE}");
    Ok(mutants)
}

fn read(list: &[u8], source: &str) -> Result<Vec<Mutant>> {
    let list: Value = serde_json::from_slice(list)?;
    let list = list.as_array().context("it is no list")?;
    list.iter().map(|entry| mutant(entry, source)).collect()
}

fn mutant(entry: &Value, source: &str) -> Result<Mutant> {
    let text = |name| entry[name].as_str().with_context(|| format!("a mutant has no {name}"));
    let name = text("name")?.to_owned();
    let place = place(&entry["span"], source)
        .with_context(|| format!("the source has no such place: {name}"))?;
    let mut mutated = source.to_owned();
    mutated.replace_range(place, text("replacement")?);
    Ok(Mutant { name, source: mutated })
}

/// Where a span lies in the source, in bytes.
fn place(span: &Value, source: &str) -> Option<Range<usize>> {
    let place = offset(&span["start"], source)?..offset(&span["end"], source)?;
    (place.start <= place.end).then_some(place)
}

/// Lines and columns count from 1, and columns count characters.
fn offset(position: &Value, source: &str) -> Option<usize> {
    let number = |name| usize::try_from(position[name].as_u64()?).ok()?.checked_sub(1);
    let before: usize = source.split_inclusive('\n').take(number("line")?).map(str::len).sum();
    let line = source[before..].lines().next()?;
    let mut ends = line.char_indices().map(|(at, _)| at).chain([line.len()]);
    Some(before + ends.nth(number("column")?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "fn f() {\n    \"ä\"; !done()\n}\n";

    /// An entry as cargo-mutants writes it, as far as it is read; the place is on the second line.
    fn entry(start: u64, end: u64) -> String {
        format!(
            r#"[{{"name": "delete !", "replacement": "", "genre": "UnaryOperator", "span":
            {{"start": {{"line": 2, "column": {start}}}, "end": {{"line": 2, "column": {end}}}}}}}]"#
        )
    }

    #[test]
    fn the_place_is_counted_in_characters_from_one() {
        let mutants = read(entry(10, 11).as_bytes(), SOURCE).unwrap_or_default();
        let sources: Vec<_> = mutants.iter().map(|mutant| mutant.source.as_str()).collect();
        assert_eq!(sources, ["fn f() {\n    \"ä\"; done()\n}\n"]);
    }

    #[test]
    fn a_place_that_the_source_does_not_have_is_an_error() {
        for (start, end) in [(0, 1), (11, 10), (10, 99)] {
            assert!(read(entry(start, end).as_bytes(), SOURCE).is_err(), "{start} to {end}");
        }
        assert!(read(b"{}", SOURCE).is_err());
    }
}
