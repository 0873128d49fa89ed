//! Building a guest's project that is not of this workspace, such as `process-once new` writes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::toolchain::{Libraries, Toolchain};

/// Builds the project in `folder`, and leaves what comes of it where cargo does.
pub(crate) fn build(root: &Path, folder: &Path, target_dir: Option<&Path>) -> Result<()> {
    let target_dir = target_dir.map_or_else(|| folder.join("target"), Path::to_path_buf);
    let target_dir = whole(&target_dir)?;
    lock(root, folder)?;
    Toolchain::find()?.build_project(folder, &target_dir, Libraries::Std, "release", &[])
}

/// Gives a project without versions of its own those of this workspace: cargo has fetched them
/// already, so that nothing new comes between a project and its build.
fn lock(root: &Path, folder: &Path) -> Result<()> {
    let lock = folder.join("Cargo.lock");
    if !lock.exists() {
        let ours = root.join("Cargo.lock");
        fs::copy(&ours, &lock)
            .with_context(|| format!("cannot copy {} to {}", ours.display(), lock.display()))?;
    }
    Ok(())
}

/// The path as it is from anywhere: cargo is run in the project's folder.
fn whole(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{} leads nowhere", path.display()))
}
