//! Which guests there are, and how each kind is built.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::component;
use crate::toolchain::{Libraries, Toolchain};

/// The profile of the workspace's `Cargo.toml` that guests are built with.
pub(crate) const PROFILE: &str = "guest";

/// Builds the reference guest.
pub(crate) fn reference(root: &Path) -> Result<()> {
    let toolchain = Toolchain::find()?;
    let built = toolchain.build(root, Libraries::Core, PROFILE, &["-p", "process-once-guest"])?;
    let to = root.join("target/components/process-once.wasm");
    component::install(&built.join("process_once_guest.wasm"), &to, root)
}

/// Builds the tests' guests: right ones, wrong ones, and those that do as they are told.
pub(crate) fn tests(root: &Path) -> Result<()> {
    let toolchain = Toolchain::find()?;
    for kind in ["odd", "scripted", "wrong"] {
        let sources = root.join("tests/guests").join(kind);
        let (std, no_std) = find(&sources)?;
        let package = format!("{kind}-guests");
        // Two runs of cargo: in one, the features of the two sorts would be united, and a std guest
        // would be given a second allocator.
        for (names, libraries) in [(no_std, Libraries::Core), (std, Libraries::Std)] {
            if names.is_empty() {
                continue;
            }
            let mut arguments = vec!["-p", &package];
            if libraries == Libraries::Std {
                arguments.push("--no-default-features");
            }
            for name in &names {
                arguments.extend(["--example", name]);
            }
            let built = toolchain.build(root, libraries, PROFILE, &arguments)?.join("examples");
            for name in names {
                let to = root.join("target/components/tests").join(kind).join(&name);
                let from = built.join(&name).with_extension("wasm");
                component::install(&from, &to.with_extension("wasm"), root)?;
            }
        }
    }
    Ok(())
}

/// The guests in a folder by name, those with std and those without: one a file.
///
/// Cargo has to be told of each, for its crate type; a file that it was not told of would silently not
/// be built, and is refused here.
fn find(folder: &Path) -> Result<(BTreeSet<String>, BTreeSet<String>)> {
    let manifest = folder.join("Cargo.toml");
    let manifest = fs::read_to_string(&manifest)
        .with_context(|| format!("cannot read {}", manifest.display()))?;
    let (mut std, mut no_std) = (BTreeSet::new(), BTreeSet::new());
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let path = entry.with_context(|| format!("cannot list {}", folder.display()))?.path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else {
            bail!("{} has no name that a target of cargo could have", path.display());
        };
        ensure!(
            manifest.lines().any(|line| line == format!("path = \"{name}.rs\"")),
            "{} is built by nothing: add it to its Cargo.toml as an [[example]]",
            path.display()
        );
        let source =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let without_std = source.lines().any(|line| line == "#![no_std]");
        if without_std { &mut no_std } else { &mut std }.insert(name.to_owned());
    }
    Ok((std, no_std))
}
