//! A copy of the workspace in which mutants are built, so that no mistake ever stands in the real one.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::SOURCE;
use crate::guests::PROFILE;
use crate::toolchain::{Libraries, Toolchain};

/// What of the workspace's folder is not copied. Cargo finds the original's `.cargo` above the copy; a
/// second one would give each flag twice.
const NOT_COPIED: [&str; 3] = [".cargo", ".git", "target"];

const PACKAGE: &str = "process-once-guest";

/// The copy.
pub(super) struct Tree {
    root: PathBuf,
    toolchain: Toolchain,
}

/// What building came to.
pub(super) enum Built {
    Component(PathBuf),
    /// With what the compiler said first.
    DidNotCompile(String),
}

impl Tree {
    /// Copies the workspace into its own `target`; what an earlier copy has built is kept.
    pub(super) fn copy(root: &Path, toolchain: Toolchain) -> Result<Self> {
        let to = root.join("target/mutants");
        copy_workspace(root, &to)?;
        Ok(Self { root: to, toolchain })
    }

    /// Builds the guest from another source.
    pub(super) fn build(&self, source: &str) -> Result<Built> {
        let path = self.root.join(SOURCE);
        fs::write(&path, source).with_context(|| format!("cannot write {}", path.display()))?;
        let (mut cargo, built) =
            self.toolchain.cargo(&self.root, Libraries::Core, PROFILE, &["-p", PACKAGE])?;
        // What it says is read.
        cargo.env("CARGO_TERM_COLOR", "never");
        let output = cargo.output().context("cannot run cargo")?;
        if output.status.success() {
            return Ok(Built::Component(built.join("process_once_guest.wasm")));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        match first_error(&said) {
            Some(error) => Ok(Built::DidNotCompile(error.to_owned())),
            None => bail!("cargo could not build the guest: {}", said.trim()),
        }
    }
}

/// Makes `to` a copy of the workspace; what an earlier copy has built is kept.
pub(crate) fn copy_workspace(root: &Path, to: &Path) -> Result<()> {
    refresh(root, to).with_context(|| format!("cannot copy the workspace to {}", to.display()))
}

/// The compiler's first error, if it is the guest that did not compile: a build may also fail for want of
/// a network or of room on the disk, which says nothing about a mutant.
fn first_error(said: &str) -> Option<&str> {
    let guest = format!("error: could not compile `{PACKAGE}`");
    let mut lines = said.lines();
    let error = lines.find(|line| line.starts_with("error"))?;
    lines.any(|line| line.starts_with(&guest)).then_some(error)
}

/// Makes `to` a copy of `from`, but for what is not copied.
fn refresh(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for old in wanted(to)? {
        if old.file_type()?.is_dir() {
            fs::remove_dir_all(old.path())?;
        } else {
            fs::remove_file(old.path())?;
        }
    }
    copy(&wanted(from)?, to)
}

fn wanted(folder: &Path) -> io::Result<Vec<DirEntry>> {
    let is_wanted = |entry: &DirEntry| NOT_COPIED.iter().all(|name| entry.file_name() != *name);
    let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    Ok(entries.into_iter().filter(is_wanted).collect())
}

/// Copies files and folders; the workspace has nothing else, and an editor's lock may be a broken link.
fn copy(entries: &[DirEntry], to: &Path) -> io::Result<()> {
    for entry in entries {
        let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            fs::create_dir_all(&to)?;
            let within = fs::read_dir(entry.path())?.collect::<io::Result<Vec<_>>>()?;
            copy(&within, &to)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_that_does_not_compile_is_told_from_a_build_that_fails() {
        let said = "warning: unused\nerror[E0277]: no\n  --> guest\nerror: could not compile \
                    `process-once-guest` (lib) due to 1 previous error\n";
        assert_eq!(first_error(said), Some("error[E0277]: no"));
        assert_eq!(first_error("error: failed to write: No space left on device\n"), None);
        let dependency = "error[E0277]: no\nerror: could not compile `dlmalloc` (lib)\n";
        assert_eq!(first_error(dependency), None);
    }
}
