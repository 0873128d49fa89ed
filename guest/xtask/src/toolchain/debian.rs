//! Debian's tool chain: a rustc with sources and a component linker, but without the target's libraries,
//! which it therefore compiles; nightly's `-Zbuild-std` does that, and `RUSTC_BOOTSTRAP` allows it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::plan::Privilege;
use super::{Libraries, succeeds};

pub(super) const CARGO: &str = "/usr/bin/cargo";
const RUSTC: &str = "/usr/bin/rustc";
/// rustc looks for its sources and for the component linker below this.
const RUSTLIB: &str = "/usr/lib/rustlib";
/// The C library that `std` stands on.
const WASI_LIBC: &str = "/usr/lib/wasm32-wasi";
const PACKAGES: [&str; 5] =
    ["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm", "wasi-libc"];

/// Debian's tool chain, complete.
pub(crate) struct Debian {
    /// The linker that the component linker calls by the name of `wasm-ld`.
    linker: PathBuf,
}

impl Debian {
    /// Looks for everything that a guest needs.
    pub(super) fn find() -> Option<Self> {
        let there = [
            Path::new(RUSTC).to_path_buf(),
            Path::new(CARGO).to_path_buf(),
            Path::new(RUSTLIB).join("src/rust/library/std/Cargo.toml"),
            Path::new(WASI_LIBC).join("libc.a"),
        ];
        let complete = there.iter().all(|path| path.exists())
            && entries(RUSTLIB).any(|host| host.join("bin/wasm-component-ld").exists());
        if !complete {
            return None;
        }
        let versions = entries("/usr/bin").filter_map(|path| {
            let version = versioned(path.file_name()?.to_str()?, "wasm-ld-")?;
            Some((version, path))
        });
        versions.max().map(|(_, linker)| Self { linker })
    }

    /// Makes `cargo`, a command that builds, use this tool chain.
    pub(super) fn prepare(
        &self,
        cargo: &mut Command,
        target_dir: &Path,
        libraries: Libraries,
    ) -> Result<()> {
        let tools = target_dir.join("tools");
        let path = self.search_path(&tools).with_context(|| {
            format!("cannot link {} into {}", self.linker.display(), tools.display())
        })?;
        cargo.env("PATH", path).env("RUSTC", RUSTC).env("RUSTC_BOOTSTRAP", "1");
        // It would name a tool chain of rustup's.
        cargo.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
        match libraries {
            Libraries::Core => cargo.arg("-Zbuild-std=core,alloc"),
            Libraries::Std => cargo
                .arg("-Zbuild-std=std,panic_abort")
                .arg("--config")
                .arg(format!("target.{}.rustflags=[\"-L{WASI_LIBC}\"]", super::TARGET)),
        };
        Ok(())
    }

    /// The search path with a folder in front in which the linker has the name it is called by.
    fn search_path(&self, tools: &Path) -> Result<OsString> {
        let link = tools.join("wasm-ld");
        fs::create_dir_all(tools)?;
        if fs::read_link(&link).ok().as_ref() != Some(&self.linker) {
            match fs::remove_file(&link) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error.into());
                }
                _ => std::os::unix::fs::symlink(&self.linker, &link)?,
            }
        }
        let others = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(tools.to_path_buf()).chain(std::env::split_paths(&others));
        Ok(std::env::join_paths(folders)?)
    }
}

/// Has apt install the tool chain, and says so. Whether it worked is found out by looking again.
pub(super) fn install(privilege: Privilege) {
    println!("installing Debian's {} and the newest lld with apt-get", PACKAGES.join(", "));
    if !apt(privilege, &["update"]) {
        return;
    }
    let Some(lld) = newest_lld() else { return };
    // Nothing that is on the machine may be removed for it: Debian's other Rust packages conflict.
    let options = ["install", "--yes", "--no-install-recommends", "--no-remove"];
    apt(privilege, &[&options[..], &PACKAGES[..], &[lld.as_str()]].concat());
}

/// Runs apt-get and tells whether it succeeded.
fn apt(privilege: Privilege, arguments: &[&str]) -> bool {
    let (program, before): (_, &[&str]) = match privilege {
        Privilege::Root => ("env", &[]),
        Privilege::Sudo => ("sudo", &["-n", "env"]),
    };
    let command = ["DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"];
    succeeds(program, &[before, &command[..], arguments].concat())
}

/// The package of the newest linker: a fixed one would go stale.
fn newest_lld() -> Option<String> {
    let search = ["search", "--names-only", "^lld-[0-9]+$"];
    let found = Command::new("apt-cache").args(search).output().ok()?;
    newest(&String::from_utf8_lossy(&found.stdout))
}

/// The newest `lld-NN` of a list of packages, one a line, each followed by what it is.
fn newest(packages: &str) -> Option<String> {
    let names = packages.lines().filter_map(|line| line.split_whitespace().next());
    names.max_by_key(|name| versioned(name, "lld-")).map(str::to_owned)
}

/// The version in a name such as `wasm-ld-22`.
fn versioned(name: &str, prefix: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.parse().ok()
}

/// What is in a folder; nothing if it cannot be listed.
fn entries(folder: &str) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let packages = "lld-9 - LLVM-based linker\nlld-22 - LLVM-based linker\nlld-14 - linker\n";
        assert_eq!(newest(packages).as_deref(), Some("lld-22"));
        assert_eq!(newest(""), None);
        assert_eq!(versioned("wasm-ld-22", "wasm-ld-"), Some(22));
        assert_eq!(versioned("wasm-ld", "wasm-ld-"), None);
    }
}
