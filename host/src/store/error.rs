//! The error of a store: one value from the driver to the caller of the library.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// What a store says when it cannot do as asked.
///
/// Clones are the same error: [`StoreError::is`] tells whether two values are one. A guest gets a
/// handle to it and gives the handle back, so the caller of the library receives the very value
/// that the store made, with its whole chain of causes.
///
/// Equality compares class, code and message and leaves the cause out; identity is a matter of
/// [`StoreError::is`] alone.
#[derive(Clone)]
pub struct StoreError(Arc<Inner>);

struct Inner {
    class: ErrorClass,
    /// The database's own code (SQLite: the extended result code).
    code: Option<i32>,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// What kind of failure it was, the same for every store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// Another writer held the database longer than this one could wait.
    Busy,
    /// The disk, or a quota of it, is full.
    Full,
    /// Reading or writing failed.
    Io,
    /// A constraint of the schema other than the marker's key was violated.
    Constraint,
    /// The database may not be written.
    ReadOnly,
    /// The database is damaged, or is not one of ours.
    Corrupt,
    /// The database cannot be reached any more.
    ConnectionLost,
    /// A commit whose result did not become known: the pair may or may not be stored.
    OutcomeUnknown,
    /// The time of the delivery or of its transaction is over.
    Deadline,
    /// The caller no longer wants the delivery.
    Cancelled,
    /// A call that the contract does not allow here; it was not carried out.
    Misuse,
    /// Anything else; the message and the code say what.
    Other,
}

impl ErrorClass {
    /// The class in words, as messages and traces show it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Full => "full",
            Self::Io => "i/o",
            Self::Constraint => "constraint",
            Self::ReadOnly => "read-only",
            Self::Corrupt => "corrupt",
            Self::ConnectionLost => "connection lost",
            Self::OutcomeUnknown => "outcome unknown",
            Self::Deadline => "deadline",
            Self::Cancelled => "cancelled",
            Self::Misuse => "misuse",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl StoreError {
    /// A new error, different from every other.
    #[must_use]
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner { class, code: None, message: message.into(), source: None }))
    }

    /// A new error with the database's own code and the driver's error behind it.
    #[must_use]
    pub fn from_driver(
        class: ErrorClass,
        code: Option<i32>,
        message: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        let source = Some(source.into());
        Self(Arc::new(Inner { class, code, message: message.into(), source }))
    }

    /// What kind of failure it was.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        self.0.class
    }

    /// The database's own code, where it gave one (SQLite: the extended result code).
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.0.code
    }

    /// Whether both are one and the same error, not merely alike.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreError")
            .field("class", &self.0.class)
            .field("code", &self.0.code)
            .field("message", &self.0.message)
            .field("source", &self.0.source)
            .finish()
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

impl PartialEq for StoreError {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&*self.0, &*other.0);
        (a.class, a.code, &a.message) == (b.class, b.code, &b.message)
    }
}

impl Eq for StoreError {}
