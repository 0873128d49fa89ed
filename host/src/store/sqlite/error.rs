//! What SQLite's errors mean, and why a database cannot be opened as a store.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ffi;

use crate::store::{ErrorClass, StoreError};

/// Makes the store's error of the driver's: SQLite's sentence as the message, its extended result
/// code, and the class that follows from the code.
pub(super) fn store_error(doing: &str, error: rusqlite::Error) -> StoreError {
    with_class(class_of(&error), doing, error)
}

/// As [`store_error`], where the class does not follow from the code.
pub(super) fn with_class(class: ErrorClass, doing: &str, error: rusqlite::Error) -> StoreError {
    let message = format!("{doing}: {error}");
    match error.sqlite_error() {
        // The message has the driver's sentence already; what is left to tell is the code.
        Some(&failure) => {
            StoreError::from_driver(class, Some(failure.extended_code), message, failure)
        }
        None => StoreError::from_driver(class, None, message, error),
    }
}

pub(super) fn class_of(error: &rusqlite::Error) -> ErrorClass {
    error.sqlite_extended_error_code().map_or(ErrorClass::Other, class_of_code)
}

/// The class of an extended result code: its low byte is the primary code.
fn class_of_code(extended: i32) -> ErrorClass {
    match extended & 0xff {
        // LOCKED and PROTOCOL are other connections in the way as well, met inside the locking.
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED | ffi::SQLITE_PROTOCOL => ErrorClass::Busy,
        ffi::SQLITE_FULL => ErrorClass::Full,
        ffi::SQLITE_IOERR | ffi::SQLITE_CANTOPEN => ErrorClass::Io,
        ffi::SQLITE_CONSTRAINT => ErrorClass::Constraint,
        ffi::SQLITE_READONLY | ffi::SQLITE_PERM => ErrorClass::ReadOnly,
        ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB => ErrorClass::Corrupt,
        _ => ErrorClass::Other,
    }
}

/// Why a database cannot be used as a store: one sentence, with what to do about it.
#[derive(Debug)]
pub struct OpenError {
    path: PathBuf,
    problem: OpenProblem,
}

impl OpenError {
    pub(super) fn new(path: &Path, problem: OpenProblem) -> Self {
        Self { path: path.to_owned(), problem }
    }

    /// The database that was to be opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What stands in the way.
    #[must_use]
    pub fn problem(&self) -> &OpenProblem {
        &self.problem
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "database {:?} {}", self.path, self.problem)
    }
}

impl Error for OpenError {
    /// The problem is part of this error's sentence, so the next cause is the problem's.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.problem.source()
    }
}

/// What stands in the way of using a database as a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenProblem {
    /// The path is empty, or SQLite's name for a database in memory.
    #[error("is no file; give the path of one, since what is not kept cannot prevent a second run")]
    NotAPath,
    /// The path cannot be resolved.
    #[error("cannot be reached from the working directory; give an absolute path")]
    Unreachable(#[source] io::Error),
    /// The path leads to a folder.
    #[error("is a folder; give the path of a file")]
    Folder,
    /// The path leads to a device, a pipe or the like.
    #[error("is not a regular file; give the path of one")]
    NotAFile,
    /// The folder that should hold the file does not exist.
    #[error("has no folder to lie in; create {0:?} first, or give another path")]
    NoFolder(PathBuf),
    /// The operating system refuses to open or create it.
    #[error("cannot be opened or created; make the file and its folder readable and writable")]
    CannotOpen(#[source] rusqlite::Error),
    /// It can be read only.
    #[error(
        "cannot be written; make the file and its folder writable, SQLite keeps two more files there"
    )]
    ReadOnly(#[source] Option<rusqlite::Error>),
    /// It is a file of another kind, or encrypted.
    #[error("is not a SQLite database; give another path (the file was left as it is)")]
    NotADatabase(#[source] Option<rusqlite::Error>),
    /// It has a table of one of the store's names, with another shape.
    #[error("holds a table of another shape: {0}; use another file, or rename that table")]
    Schema(SchemaDifference),
    /// It keeps text in an encoding that does not bring back every text as it was.
    #[error("keeps text as {0}, which alters some texts; use another file, or convert it to UTF-8")]
    Encoding(String),
    /// Another connection held it for longer than the busy timeout.
    #[error(
        "is locked by another process for longer than the busy timeout; end that process, or wait"
    )]
    Locked(#[source] rusqlite::Error),
    /// Write-ahead logging could not be switched on; the journal mode that it stayed in.
    #[error(
        "stays in journal mode {0:?}: without write-ahead logging its readers and the store block \
         each other; put the file on a local disk"
    )]
    NotWal(String),
    /// SQLite did not take a setting that the contract needs.
    #[error("cannot be used: this SQLite answers {found} to \"PRAGMA {pragma} = {value}\"")]
    Setting {
        /// The setting.
        pragma: &'static str,
        /// What it was to be.
        value: i64,
        /// What it is.
        found: i64,
    },
    /// Anything else that SQLite refused.
    #[error("cannot be used: {doing} failed; if it is damaged, restore a backup")]
    Sqlite {
        /// What was being done.
        doing: &'static str,
        /// SQLite's refusal.
        source: rusqlite::Error,
    },
}

impl OpenProblem {
    /// What kind of failure it is.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::NotAPath | Self::Setting { .. } => ErrorClass::Other,
            Self::Unreachable(_) | Self::Folder | Self::NotAFile => ErrorClass::Io,
            Self::NoFolder(_) | Self::CannotOpen(_) | Self::NotWal(_) => ErrorClass::Io,
            Self::ReadOnly(_) => ErrorClass::ReadOnly,
            Self::NotADatabase(_) | Self::Schema(_) | Self::Encoding(_) => ErrorClass::Corrupt,
            Self::Locked(_) => ErrorClass::Busy,
            Self::Sqlite { source, .. } => class_of(source),
        }
    }

    /// SQLite's extended result code, where it gave one.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.source()?.downcast_ref::<rusqlite::Error>()?.sqlite_extended_error_code()
    }

    /// For `map_err`: what SQLite's refusal means while `doing` that.
    pub(super) fn during(doing: &'static str) -> impl Fn(rusqlite::Error) -> Self {
        move |source| match source.sqlite_extended_error_code().map_or(0, |code| code & 0xff) {
            ffi::SQLITE_CANTOPEN => Self::CannotOpen(source),
            ffi::SQLITE_READONLY => Self::ReadOnly(Some(source)),
            ffi::SQLITE_NOTADB => Self::NotADatabase(Some(source)),
            _ if class_of(&source) == ErrorClass::Busy => Self::Locked(source),
            _ => Self::Sqlite { doing, source },
        }
    }
}

/// Where a table of the database departs from the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaDifference {
    /// The table.
    pub table: &'static str,
    /// The column, unless the difference is one of the whole table.
    pub column: Option<String>,
    /// What the contract wants.
    pub expected: String,
    /// What the database has.
    pub found: String,
}

impl fmt::Display for SchemaDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table {:?}", self.table)?;
        if let Some(column) = &self.column {
            write!(f, ", column {column:?}")?;
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)
    }
}
