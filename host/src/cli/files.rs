//! No file is used for two things: what one of them writes would destroy the other.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::EXIT_COULD_NOT_START;
use super::report::CliError;

/// A file, and what it is given as.
type Role<'a> = (&'static str, &'a Path);

/// Refuses `read` or `written` files that are one and the same.
///
/// It is asked before any of them is opened: making a trace empties what was there, and the advice
/// to delete a damaged checkpoint must never be about anything else.
pub(super) fn refuse_double_use(read: &[Role<'_>], written: &[Role<'_>]) -> Result<(), CliError> {
    for (index, &(use_, path)) in written.iter().enumerate() {
        let mut others = read.iter().chain(&written[..index]);
        if let Some((other, _)) = others.find(|(_, other)| is_same(path, other)) {
            let path = path.display();
            let what = anyhow::anyhow!("{path} is given as the {other} and as the {use_}");
            return Err(
                CliError::new(EXIT_COULD_NOT_START, what).advise("give each a file of its own")
            );
        }
    }
    Ok(())
}

/// Whether both lead to one file, or would if it were made. Devices may be shared.
fn is_same(one: &Path, other: &Path) -> bool {
    let found = |path| fs::metadata(path).ok();
    match (found(one), found(other)) {
        (Some(one), Some(other)) => {
            let id = |file: &Metadata| (file.dev(), file.ino());
            one.is_file() && id(&one) == id(&other)
        }
        (None, None) => place(one) == place(other),
        _ => false,
    }
}

/// Where a file that does not exist would be made.
fn place(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    let folder = fs::canonicalize(absolute.parent()?).ok()?;
    Some(folder.join(absolute.file_name()?))
}
