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

use crate::event::Alert;
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
        let mut errors = ErrorNumbers::default();
        writeln!(f, "event {}", quoted(&self.event_id))?;
        for record in &self.calls {
            write!(f, "  ")?;
            record.write(f, &mut errors)?;
            writeln!(f)?;
        }
        match &self.ending {
            Ending::Outcome(name) => writeln!(f, "  return {name}"),
            Ending::Error(error) => writeln!(f, "  return error {}", errors.number(error)),
            Ending::Fault(what) => writeln!(f, "  fault: {what}"),
        }
    }
}

/// Writes records one a line, numbering errors over all of them.
///
/// # Errors
/// Those of the formatter.
pub fn write_records(f: &mut impl fmt::Write, records: &[CallRecord]) -> fmt::Result {
    let mut errors = ErrorNumbers::default();
    for record in records {
        record.write(f, &mut errors)?;
        writeln!(f)?;
    }
    Ok(())
}

impl CallRecord {
    fn write(&self, f: &mut impl fmt::Write, errors: &mut ErrorNumbers) -> fmt::Result {
        match &self.call {
            Call::Begin => write!(f, "begin")?,
            Call::TryMark(id) => write!(f, "try-mark {}", quoted(id))?,
            Call::SaveAlert(alert) => {
                let Alert { source_event_id, device_id, message } = alert;
                let texts = [source_event_id, device_id, message].map(|text| quoted(text));
                write!(f, "save-alert {}", texts.join(" "))?;
            }
            Call::Commit => write!(f, "commit")?,
            Call::Rollback => write!(f, "rollback")?,
        }
        match (&self.call, &self.answer) {
            (_, Answer::Failed(error)) => {
                let number = errors.number(error);
                write!(f, " -> error {number} ({}): {error}", error.class())
            }
            (_, Answer::Marked(new)) => write!(f, " -> {new}"),
            (Call::Begin, Answer::Done) => write!(f, " -> tx"),
            (Call::Rollback, Answer::Done) => Ok(()),
            (Call::TryMark(_) | Call::SaveAlert(_) | Call::Commit, Answer::Done) => {
                write!(f, " -> ok")
            }
        }
    }
}

/// Numbers errors by identity, from 1, in order of appearance.
#[derive(Default)]
struct ErrorNumbers(Vec<StoreError>);

impl ErrorNumbers {
    fn number(&mut self, error: &StoreError) -> usize {
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
