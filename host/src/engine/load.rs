//! Loading a component, and saying why one is not a guest.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

use super::Engine;
use crate::imports::is_offered;
use crate::instance;

/// The package of the interface, without its version.
const PACKAGE: &str = "process-once:alerts/";
/// The interface that a guest exports.
const EXPORT: &str = "processor";
/// The interfaces that a guest may import.
const IMPORTS: [&str; 2] = ["types", "store"];
/// The version of the interface that this host speaks.
const VERSION: &str = "0.1.0";
/// What the version of every compatible interface starts with.
const COMPATIBLE: &str = "0.1.";

/// A compiled guest, ready to be instantiated. Cheap to clone.
#[derive(Clone)]
pub struct Guest {
    pub(crate) engine: Engine,
    pub(crate) component: Component,
    /// The SHA-256 of the component's bytes, in hexadecimal.
    digest: Arc<str>,
    bytes: usize,
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guest").finish_non_exhaustive()
    }
}

impl Guest {
    /// The SHA-256 of the component, in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The size of the component.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn from_file(engine: &Engine, path: &Path) -> Result<Self, LoadError> {
        let bytes = read(path)?;
        Self::from_bytes(engine, &bytes)
            .map_err(|reason| LoadError::NotAGuest { path: path.to_owned(), reason })
    }

    pub(super) fn from_bytes(engine: &Engine, bytes: &[u8]) -> Result<Self, NotAGuest> {
        Self::from_component(engine, compile(engine, bytes)?, bytes)
    }

    fn from_component(
        engine: &Engine,
        component: Component,
        bytes: &[u8],
    ) -> Result<Self, NotAGuest> {
        let (imports, exports) = interfaces(engine, &component);
        judge(&imports, &exports)?;
        let digest = digest(bytes).into();
        let guest = Self { engine: engine.clone(), component, digest, bytes: bytes.len() };
        instance::check(&guest).map_err(NotAGuest::OtherShape)?;
        Ok(guest)
    }
}

/// What a file is, whether it is a guest or not.
#[derive(Debug)]
pub struct Inspection {
    /// The SHA-256 of the file, in hexadecimal.
    pub digest: String,
    /// The size of the file.
    pub bytes: usize,
    /// The names of what it imports; empty unless it is a component.
    pub imports: Vec<String>,
    /// The names of what it exports; empty unless it is a component.
    pub exports: Vec<String>,
    /// Nothing if it is a guest, else why it is not.
    pub verdict: Result<(), NotAGuest>,
}

impl Inspection {
    /// Looks at the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read. What is wrong with what it holds is the verdict.
    pub fn of_file(engine: &Engine, path: &Path) -> Result<Self, LoadError> {
        Ok(Self::of_bytes(engine, &read(path)?))
    }

    /// Looks at a component's bytes.
    #[must_use]
    pub fn of_bytes(engine: &Engine, bytes: &[u8]) -> Self {
        let compiled = compile(engine, bytes);
        let (imports, exports) = compiled
            .as_ref()
            .map_or_else(|_| Default::default(), |component| interfaces(engine, component));
        let verdict = compiled
            .and_then(|component| Guest::from_component(engine, component, bytes).map(|_| ()));
        Self { digest: digest(bytes), bytes: bytes.len(), imports, exports, verdict }
    }
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    if path.is_dir() {
        return Err(LoadError::Folder { path: path.to_owned() });
    }
    std::fs::read(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })
}

fn compile(engine: &Engine, bytes: &[u8]) -> Result<Component, NotAGuest> {
    // The header: the magic number, a version, and the layer (0 a core module, 1 a component).
    match bytes {
        [b'\0', b'a', b's', b'm', _, _, 1, 0, ..] => {}
        [b'\0', b'a', b's', b'm', _, _, 0, 0, ..] => return Err(NotAGuest::CoreModule),
        _ => return Err(NotAGuest::NotWebAssembly),
    }
    Component::from_binary(&engine.wasmtime, bytes)
        .map_err(|error| NotAGuest::Invalid(error.into_boxed_dyn_error()))
}

/// The names of what a component imports and exports.
fn interfaces(engine: &Engine, component: &Component) -> (Vec<String>, Vec<String>) {
    let ty = component.component_type();
    let name = |(name, item): (&str, wasmtime::component::types::ComponentExtern<'_>)| match item.ty
    {
        ComponentItem::ComponentInstance(_) => name.to_owned(),
        _ => format!("{name} (not an interface)"),
    };
    let imports = ty.imports(&engine.wasmtime).map(name).collect();
    let exports = ty.exports(&engine.wasmtime).map(name).collect();
    (imports, exports)
}

/// Whether these are the imports and exports of a guest.
fn judge(imports: &[String], exports: &[String]) -> Result<(), NotAGuest> {
    let other_version = |name: &str, wanted: &[&str]| match ours(name) {
        Some((interface, version)) if wanted.contains(&interface) => {
            (!version.starts_with(COMPATIBLE)).then(|| NotAGuest::OtherVersion {
                interface: format!("{PACKAGE}{interface}"),
                found: version.to_owned(),
            })
        }
        _ => None,
    };
    let export = exports.iter().find(|name| ours(name).is_some_and(|(name, _)| name == EXPORT));
    let export = export.ok_or(NotAGuest::NoExport)?;
    if let Some(reason) = other_version(export, &[EXPORT]) {
        return Err(reason);
    }
    for name in imports {
        if let Some(reason) = other_version(name, &IMPORTS) {
            return Err(reason);
        }
        let known = ours(name).is_some_and(|(interface, _)| IMPORTS.contains(&interface));
        if !known && !is_offered(name) {
            return Err(NotAGuest::UnknownImport { name: name.clone() });
        }
    }
    Ok(())
}

/// Splits the name of an interface of our package into its own name and its version.
fn ours(name: &str) -> Option<(&str, &str)> {
    let interface = name.strip_prefix(PACKAGE)?;
    Some(interface.split_once('@').unwrap_or((interface, "none")))
}

/// Why a guest could not be loaded: one sentence, and the cause behind it.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The path leads to a folder.
    Folder {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The file is missing or cannot be read.
    Read {
        /// The path as it was given.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is something else.
    NotAGuest {
        /// The path as it was given.
        path: PathBuf,
        /// Why it is not a guest; part of the sentence.
        reason: NotAGuest,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder { path } => {
                let path = path.display();
                write!(f, "{path} is a folder; a guest is a file, most often named *.wasm")
            }
            Self::Read { path, .. } => write!(f, "the guest {} cannot be read", path.display()),
            Self::NotAGuest { path, reason } => {
                write!(f, "{} is not a guest: {reason}", path.display())
            }
        }
    }
}

impl Error for LoadError {
    /// The reason is part of this error's sentence, so the next cause is the reason's.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Folder { .. } => None,
            Self::Read { source, .. } => Some(source),
            Self::NotAGuest { reason, .. } => reason.source(),
        }
    }
}

/// Why something is not a guest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotAGuest {
    /// The bytes are not WebAssembly.
    #[error("it is not WebAssembly; a guest is a compiled component")]
    NotWebAssembly,
    /// It is a core module.
    #[error(
        "it is a core module, not a component; build it for wasm32-wasip2, or make a component \
         of it with `wasm-tools component new`"
    )]
    CoreModule,
    /// It is damaged, or needs a feature of WebAssembly that guests are not given.
    #[error("it is damaged, or needs a feature of WebAssembly that guests are not given")]
    Invalid(#[source] Box<dyn Error + Send + Sync>),
    /// It has no `processor`.
    #[error("it does not export {PACKAGE}{EXPORT}@{VERSION}")]
    NoExport,
    /// It was built for another version of the interface.
    #[error("it was built for {interface} {found}; this host speaks {VERSION} (any 0.1.x)")]
    OtherVersion {
        /// The interface, without its version.
        interface: String,
        /// The version that it was built for.
        found: String,
    },
    /// It wants something that no guest is given.
    #[error("it imports {name}, which no guest is given")]
    UnknownImport {
        /// The import's name.
        name: String,
    },
    /// The names are right, but the types are not.
    #[error("its interface has the right name and another shape; build it against wit/")]
    OtherShape(#[source] Box<dyn Error + Send + Sync>),
}
