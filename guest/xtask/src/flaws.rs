//! Breaks the engine of batches, one invariant at a time, in a copy of the workspace: the refinement
//! tests have to catch every one.
//!
//! A flaw is a text in a source and what is put in its place. One that no longer fits is an error, so
//! that none is lost when the source changes.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::mutants::copy_workspace;

/// Where the engine of batches lies.
const ENGINE: &str = "host/src/run/batch";

/// What is enough random streams: the same for each flaw, on top of all other refinement tests.
const STREAMS: &str = "300";

/// How long compiling or testing may take before it is taken to hang, in seconds; neither takes a tenth.
const PATIENCE: &str = "300";

/// The invariant that is broken, the file, and what is put in whose place.
const FLAWS: [(&str, &str, &str, &str); 12] = [
    (
        "it acknowledges before the commit",
        "writer.rs",
        "let applied = apply(&mut database, &batch);",
        "let early = releases.blocking_send(Release::Durable(Arc::clone(&batch)));
            let applied = apply(&mut database, &batch);
            if early.is_ok() && applied.is_ok() { let _ = worker.send(Message::Applied(applied)); continue; }",
    ),
    (
        "it acknowledges what was not committed",
        "writer.rs",
        "if applied.is_ok() {",
        "if applied.is_ok() || applied.is_err() {",
    ),
    (
        "it forgets to discard the instance",
        "worker.rs",
        "self.parts.speculative.discard_instance();
        self.overlay.clear();",
        "self.overlay.clear();",
    ),
    (
        "it speculates on with an instance although another ran in between",
        "worker.rs",
        "self.parts.speculative.discard_instance();
            self.alone = true;",
        "self.alone = true;",
    ),
    (
        "it answers from a batch that was discarded",
        "worker.rs",
        "self.overlay.clear();",
        "self.overlay.look_again();",
    ),
    (
        "it lets a log line out early",
        "worker.rs",
        "match delivery.answer {
            Ok(outcome) => {",
        "crate::imports::log_output(&output);
        match delivery.answer {
            Ok(outcome) => {",
    ),
    (
        "it reports a failure from speculation",
        "worker.rs",
        "            Err(_) => {
                // Its",
        "            Err(failure) if self.current.is_empty() && self.in_flight.is_none() => {
                let visible = Visible::new(delivery.trace, output);
                let received = Box::new(received);
                let failed = Release::Failed { received, failure, visible };
                let _ = self.parts.releases.blocking_send(failed);
                self.ended = true;
                self.todo.clear();
                self.arrived.clear();
            }
            Err(_) => {
                // Its",
    ),
    (
        "it plays a doubtful commit again",
        "worker.rs",
        "(Err(NotApplied::InDoubt(error)), batch) => {",
        "(Err(NotApplied::InDoubt(_)), batch) if batch.is_some() => {
                self.discard(batch);
                Ok(())
            }
            (Err(NotApplied::InDoubt(error)), batch) => {",
    ),
    (
        "it keeps what rests on a batch that failed",
        "worker.rs",
        "let current = Arc::new(std::mem::replace(&mut self.current, Batch::new(0)));
        for batch in [Some(current), failed].into_iter().flatten() {",
        "for batch in failed.into_iter() {",
    ),
    (
        "it goes on behind a failure",
        "worker.rs",
        "if failed {
            return Err(Over);
        }",
        "let _ = failed;",
    ),
    (
        "it runs an event in the plain way before those ahead of it are durable",
        "worker.rs",
        "self.plain_is_next() && free && self.current.is_empty() {",
        "self.plain_is_next() {",
    ),
    (
        "it runs a discarded batch in another order",
        "worker.rs",
        "Batch::into_events(batch).into_iter().rev()",
        "Batch::into_events(batch).into_iter()",
    ),
];

/// Makes each flaw, and fails unless each is caught.
pub(crate) fn catch_all(root: &Path) -> Result<()> {
    let copy = root.join("target/flaws");
    copy_workspace(root, &copy)?;
    ensure!(!catch(root, &copy)?, "the refinement tests fail although nothing is broken");
    let mut missed = Vec::new();
    for (flaw, file, from, to) in FLAWS {
        let path = copy.join(ENGINE).join(file);
        let source = fs::read_to_string(root.join(ENGINE).join(file))
            .with_context(|| format!("cannot read {file}"))?;
        let flawed = break_source(&source, from, to).with_context(|| format!("{file}: {flaw}"))?;
        fs::write(&path, flawed).with_context(|| format!("cannot write {}", path.display()))?;
        let caught = catch(root, &copy).with_context(|| format!("{file}: {flaw}"))?;
        fs::write(&path, source).with_context(|| format!("cannot write {}", path.display()))?;
        println!("  {}  {flaw}", if caught { "caught" } else { "MISSED" });
        if !caught {
            missed.push(flaw);
        }
    }
    println!("\n{} of {} flaws caught", FLAWS.len() - missed.len(), FLAWS.len());
    ensure!(missed.is_empty(), "not caught: {}", missed.join("; "));
    Ok(())
}

fn break_source(source: &str, from: &str, to: &str) -> Result<String> {
    ensure!(source.matches(from).count() == 1, "`{from}` does not stand there once");
    Ok(source.replace(from, to))
}

/// Whether the refinement tests fail in the copy.
fn catch(root: &Path, copy: &Path) -> Result<bool> {
    let compiled = refinement(root, copy, &["--no-run"])?;
    ensure!(compiled == Some(0), "it does not compile: cargo ended with {compiled:?}");
    Ok(refinement(root, copy, &[])? != Some(0))
}

/// How cargo ends on the refinement tests in the copy.
fn refinement(root: &Path, copy: &Path, more: &[&str]) -> Result<Option<i32>> {
    let mut cargo = Command::new("timeout");
    cargo.args([PATIENCE, "cargo", "test", "--release", "-q", "-p", "tests"]);
    // Only what is broken is compiled for each, so it is compiled fast.
    cargo.args(["--config", "profile.release.package.process-once.opt-level=0"]);
    cargo.args(["--test", "refinement"]).args(more).current_dir(copy);
    cargo.env("CARGO_TARGET_DIR", root.join("target"));
    cargo.env("SEED", "1").env("STREAMS", STREAMS);
    Ok(cargo.output().context("cannot run cargo")?.status.code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flaw_fits_the_engine() {
        let engine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(ENGINE);
        for (flaw, file, from, to) in FLAWS {
            let source = fs::read_to_string(engine.join(file)).unwrap_or_default();
            assert!(break_source(&source, from, to).is_ok(), "{flaw}");
        }
    }
}
