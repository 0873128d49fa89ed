//! Finds a tool chain that can build components, or gets one, and runs it.

mod debian;
mod plan;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use debian::Debian;
use plan::{Facts, Privilege, Step};

/// What guests are compiled for.
const TARGET: &str = "wasm32-wasip2";

/// What a caller of cargo may have set for the host's programs, and must not reach a guest's build.
const NOT_FOR_GUESTS: [&str; 9] = [
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_TARGET_DIR",
    "CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTFLAGS",
];

/// Which of Rust's libraries a guest is linked with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Libraries {
    /// `core` and `alloc`: a `no_std` guest.
    Core,
    /// All of `std`.
    Std,
}

/// A tool chain that can build components.
pub(crate) enum Toolchain {
    /// The one that runs this program; it has the target's libraries.
    Ours,
    /// Debian's, which compiles the target's libraries from source.
    Debian(Debian),
}

impl Toolchain {
    /// Takes what is there, else has rustup fetch the target, else has apt install Debian's packages.
    pub(crate) fn find() -> Result<Self> {
        let (mut rustup_tried, mut apt_tried) = (false, false);
        loop {
            let debian = Debian::find();
            let facts = facts(debian.is_some(), rustup_tried, apt_tried);
            match plan::next(facts) {
                Step::UseOurs => return Ok(Self::Ours),
                Step::UseDebian => return debian.map(Self::Debian).context(plan::GIVE_UP),
                Step::AskRustup => {
                    rustup_tried = true;
                    println!("fetching the Rust target {TARGET} with rustup");
                    // If it fails, there may be another way; the end of this loop speaks.
                    succeeds("rustup", &["target", "add", TARGET]);
                }
                Step::AskApt(privilege) => {
                    apt_tried = true;
                    debian::install(privilege);
                }
                Step::GiveUp => bail!(plan::GIVE_UP),
            }
        }
    }

    /// Has cargo build guests of the workspace, and returns the folder that it leaves them in.
    pub(crate) fn build(
        &self,
        root: &Path,
        libraries: Libraries,
        profile: &str,
        arguments: &[&str],
    ) -> Result<PathBuf> {
        let (mut cargo, built) = self.cargo(root, libraries, profile, arguments)?;
        succeed(&mut cargo)?;
        Ok(built)
    }

    /// The command that builds guests, and the folder that it leaves them in.
    pub(crate) fn cargo(
        &self,
        root: &Path,
        libraries: Libraries,
        profile: &str,
        arguments: &[&str],
    ) -> Result<(Command, PathBuf)> {
        // The two tool chains never share a folder, so that neither rebuilds the other's work.
        let target_dir = match self {
            Self::Ours => root.join("target/guests"),
            Self::Debian(_) => root.join("target/guests-debian"),
        };
        let cargo = self.command(root, &target_dir, libraries, profile, arguments)?;
        Ok((cargo, target_dir.join(TARGET).join(profile)))
    }

    /// Has cargo build what is in `folder`, and leave it below `target_dir`.
    pub(crate) fn build_project(
        &self,
        folder: &Path,
        target_dir: &Path,
        libraries: Libraries,
        profile: &str,
        arguments: &[&str],
    ) -> Result<()> {
        succeed(&mut self.command(folder, target_dir, libraries, profile, arguments)?)
    }

    fn command(
        &self,
        folder: &Path,
        target_dir: &Path,
        libraries: Libraries,
        profile: &str,
        arguments: &[&str],
    ) -> Result<Command> {
        let mut cargo = match self {
            Self::Ours => Command::new(our_cargo()),
            Self::Debian(_) => Command::new(debian::CARGO),
        };
        for variable in NOT_FOR_GUESTS {
            cargo.env_remove(variable);
        }
        cargo.current_dir(folder).arg("build").args(["--profile", profile, "--target", TARGET]);
        cargo.arg("--target-dir").arg(target_dir).args(arguments);
        if let Self::Debian(debian) = self {
            debian.prepare(&mut cargo, target_dir, libraries)?;
        }
        Ok(cargo)
    }
}

/// Runs a command of cargo.
fn succeed(cargo: &mut Command) -> Result<()> {
    let status = cargo.status().context("cannot run cargo")?;
    ensure!(status.success(), "cargo could not build the guest");
    Ok(())
}

/// The cargo that runs this program.
pub(crate) fn our_cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// What the next step depends on. What costs time is asked only if what is there does not do.
fn facts(debian: bool, rustup_tried: bool, apt_tried: bool) -> Facts {
    let target = target_is_installed();
    let lacking = !target && !debian;
    Facts {
        target,
        debian,
        rustup: lacking && !rustup_tried && succeeds("rustup", &["--version"]),
        apt: (lacking && !apt_tried && succeeds("apt-get", &["--version"]))
            .then(privilege)
            .flatten(),
    }
}

/// Whether the tool chain that runs this program has the libraries of the target.
fn target_is_installed() -> bool {
    let asked =
        Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    asked.is_ok_and(|answer| {
        let folder = String::from_utf8_lossy(&answer.stdout).into_owned();
        answer.status.success() && Path::new(folder.trim_end()).is_dir()
    })
}

/// How this user may install packages, if at all, without being asked for a password.
fn privilege() -> Option<Privilege> {
    let id = Command::new("id").arg("-u").output();
    if id.is_ok_and(|id| id.stdout.trim_ascii() == b"0") {
        Some(Privilege::Root)
    } else {
        succeeds("sudo", &["-n", "true"]).then_some(Privilege::Sudo)
    }
}

/// Runs a program silently and tells whether it is there and succeeded.
fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
