//! The calls of one delivery, in order, with their arguments and answers, and their text form.
//!
//! The text form is what `run --trace` writes and what the tests compare:
//!
//! ```text
//! event "evt-1"
//!   begin -> tx
//!   try-mark "evt-1" -> true
//!   save-alert "evt-1" "device-7" "too hot" -> ok
//!   commit -> error 1 (full): database or disk is full
//!   rollback
//!   return error 1
//! ```
//!
//! Texts stand as JSON strings. Errors are numbered within the delivery by identity, in order of
//! appearance: two numbers are two errors, however alike.

use std::fmt;

use crate::event::{Alert, Event};
use crate::store::StoreError;

/// A call of the store interface, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// `begin`
    Begin,
    /// `tx.try-mark` with the event id that it was given.
    TryMark(String),
    /// `tx.save-alert` with the alert that it was given.
    SaveAlert(Alert),
    /// `tx.commit`
    Commit,
    /// `tx.rollback`
    Rollback,
}

/// A call of the store interface by its name; in the order in which they are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// `begin`
    Begin,
    /// `tx.try-mark`
    TryMark,
    /// `tx.save-alert`
    SaveAlert,
    /// `tx.commit`
    Commit,
    /// `tx.rollback`
    Rollback,
}

impl Call {
    /// The call as it is to be made in a delivery of `event`: with the event's own texts.
    #[must_use]
    pub fn of(method: Method, event: &Event) -> Self {
        match method {
            Method::Begin => Self::Begin,
            Method::TryMark => Self::TryMark(event.id().to_owned()),
            Method::SaveAlert => Self::SaveAlert(event.alert().clone()),
            Method::Commit => Self::Commit,
            Method::Rollback => Self::Rollback,
        }
    }

    /// Whether the texts that it was given are those of `event`.
    #[must_use]
    pub fn has_texts_of(&self, event: &Event) -> bool {
        match self {
            Self::TryMark(id) => id == event.id(),
            Self::SaveAlert(alert) => alert == event.alert(),
            Self::Begin | Self::Commit | Self::Rollback => true,
        }
    }

    /// Which call it is, whatever its arguments.
    #[must_use]
    pub fn method(&self) -> Method {
        match self {
            Self::Begin => Method::Begin,
            Self::TryMark(_) => Method::TryMark,
            Self::SaveAlert(_) => Method::SaveAlert,
            Self::Commit => Method::Commit,
            Self::Rollback => Method::Rollback,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Begin => "begin",
            Self::TryMark => "try-mark",
            Self::SaveAlert => "save-alert",
            Self::Commit => "commit",
            Self::Rollback => "rollback",
        })
    }
}

/// What a call was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It did what it was asked; `begin` gave a transaction.
    Done,
    /// `try-mark` said whether the event was new.
    Marked(bool),
    /// It failed with this error.
    Failed(StoreError),
}

/// One call and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// What was called.
    pub call: Call,
    /// What was answered.
    pub answer: Answer,
}

/// How a delivery ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The guest returned an outcome, by its name in the interface.
    Outcome(&'static str),
    /// The guest returned an error of the store.
    Error(StoreError),
    /// The guest failed; what it did, in words.
    Fault(String),
}

/// Everything that one delivery did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTrace {
    /// The event that was delivered.
    pub event_id: String,
    /// The guest's calls, in order. A call that was refused stands here as well.
    pub calls: Vec<CallRecord>,
    /// How the delivery ended.
    pub ending: Ending,
}

impl fmt::Display for CallTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "event {}", quoted(&self.event_id))?;
        self.lines(quoted).iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

impl CallTrace {
    /// The calls and the ending, one a line; `quote` says how a text is shown.
    pub(crate) fn lines(&self, quote: fn(&str) -> String) -> Vec<String> {
        let mut errors = ErrorNumbers::default();
        let mut lines: Vec<String> =
            self.calls.iter().map(|record| record.line(&mut errors, quote)).collect();
        lines.push(match &self.ending {
            Ending::Outcome(name) => format!("return {name}"),
            Ending::Error(error) if errors.knows(error) => {
                format!("return error {}", errors.number(error))
            }
            Ending::Error(_) => "return an error that is not of this delivery".to_owned(),
            Ending::Fault(what) => format!("fault: {what}"),
        });
        lines
    }
}

/// Writes records one a line, numbering errors over all of them.
///
/// # Errors
/// Those of the formatter.
pub fn write_records(f: &mut impl fmt::Write, records: &[CallRecord]) -> fmt::Result {
    let mut errors = ErrorNumbers::default();
    records.iter().try_for_each(|record| writeln!(f, "{}", record.line(&mut errors, quoted)))
}

impl CallRecord {
    fn line(&self, errors: &mut ErrorNumbers, quote: fn(&str) -> String) -> String {
        let call = match &self.call {
            Call::TryMark(id) => format!("{} {}", Method::TryMark, quote(id)),
            Call::SaveAlert(alert) => {
                let texts = alert.texts().map(quote);
                format!("{} {}", Method::SaveAlert, texts.join(" "))
            }
            Call::Begin | Call::Commit | Call::Rollback => self.call.method().to_string(),
        };
        match (&self.call, &self.answer) {
            (_, Answer::Failed(error)) => {
                let number = errors.number(error);
                format!("{call} -> error {number} ({}): {error}", error.class())
            }
            (_, Answer::Marked(new)) => format!("{call} -> {new}"),
            (Call::Begin, Answer::Done) => format!("{call} -> tx"),
            (Call::Rollback, Answer::Done) => call,
            (Call::TryMark(_) | Call::SaveAlert(_) | Call::Commit, Answer::Done) => {
                format!("{call} -> ok")
            }
        }
    }
}

/// Numbers errors by identity, from 1, in order of appearance.
#[derive(Default)]
pub(crate) struct ErrorNumbers(Vec<StoreError>);

impl ErrorNumbers {
    fn knows(&self, error: &StoreError) -> bool {
        self.0.iter().any(|seen| seen.is(error))
    }

    pub(crate) fn number(&mut self, error: &StoreError) -> usize {
        let known = self.0.iter().position(|seen| seen.is(error));
        known.unwrap_or_else(|| {
            self.0.push(error.clone());
            self.0.len() - 1
        }) + 1
    }
}

/// The text as a JSON string: one line, whatever it holds.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
