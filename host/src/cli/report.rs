//! How the program says that something went wrong: one sentence, its causes, and what to do next.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use anyhow::Error;
use process_once::contract::Stored;
use process_once::processor::{Failure, FailureReason};
use process_once::store::ErrorClass;

/// An error with the exit code that it ends the program with.
#[derive(Debug)]
pub(super) struct CliError {
    pub(super) code: u8,
    error: Error,
    /// More to know, one line each, between the causes and the advice.
    notes: Vec<String>,
    advice: Option<&'static str>,
}

impl CliError {
    pub(super) fn new(code: u8, error: impl Into<Error>) -> Self {
        Self { code, error: error.into(), notes: Vec::new(), advice: None }
    }

    pub(super) fn notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    pub(super) fn advise(mut self, advice: &'static str) -> Self {
        self.advice = Some(advice);
        self
    }

    /// Prints the error to standard error; nobody can be told when that fails.
    pub(super) fn print(&self) {
        let _ = io::stderr().lock().write_all(self.text().as_bytes());
    }

    fn text(&self) -> String {
        let mut text = format!("process-once: {}\n", self.error);
        for cause in causes(&self.error) {
            let _ = writeln!(text, "  because: {cause}");
        }
        for note in &self.notes {
            let _ = writeln!(text, "  {note}");
        }
        if let Some(advice) = self.advice {
            let _ = writeln!(text, "  next: {advice}");
        }
        text
    }
}

/// The chain of causes; one that only repeats what was said before it is left out.
pub(super) fn causes(error: &Error) -> Vec<String> {
    let mut said = error.to_string();
    let mut causes = Vec::new();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !said.ends_with(&cause) {
            causes.push(cause.clone());
        }
        said = cause;
    }
    causes
}

/// What is known of the event's pair, for people.
pub(super) fn stored_sentence(stored: Stored) -> &'static str {
    match stored {
        Stored::No => "stored: no, this delivery left nothing in the database",
        Stored::Yes => {
            "stored: yes, but the event is not acknowledged; a redelivery is already-applied"
        }
        Stored::Unknown => {
            "stored: unknown, the marker and the alert are both there or both not; a redelivery \
             settles it"
        }
    }
}

/// The same for machines.
pub(super) fn stored_word(stored: Stored) -> &'static str {
    match stored {
        Stored::No => "no",
        Stored::Yes => "yes",
        Stored::Unknown => "unknown",
    }
}

/// What to do after a delivery failed.
pub(super) fn delivery_advice(failure: &Failure) -> &'static str {
    match &failure.reason {
        FailureReason::Store(error) => match error.class() {
            ErrorClass::Busy => "start again when the process that holds the database is done",
            ErrorClass::Full => "make room on the disk, then start again",
            ErrorClass::OutcomeUnknown => {
                "see to the disk, then start again: redelivery settles it"
            }
            ErrorClass::Deadline => {
                "see what holds the database up, or allow more time with --deadline, then start again"
            }
            _ => "see to the database, then start again: the event comes again",
        },
        FailureReason::Unfinished | FailureReason::Fault(_) => {
            "mend the guest, or use another with --guest, then start again: the event comes again"
        }
        _ => "start again: the event comes again",
    }
}
