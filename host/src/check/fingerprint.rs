//! A digest of traces: two runs with the same digest saw the same calls, arguments and answers.

use sha2::{Digest, Sha256};

use crate::trace::{Answer, Call, CallTrace, Ending, ErrorNumbers};

/// Takes in the traces of one schedule, in order.
#[derive(Default)]
pub(crate) struct Fingerprint {
    hash: Sha256,
    /// Errors count by their order of appearance in the schedule, whatever they say.
    errors: ErrorNumbers,
}

impl Fingerprint {
    pub(crate) fn add(&mut self, trace: &CallTrace) {
        self.text(&trace.event_id);
        for record in &trace.calls {
            self.hash.update([record.call.method() as u8]);
            match &record.call {
                Call::TryMark(id) => self.text(id),
                Call::SaveAlert(alert) => alert.texts().iter().for_each(|text| self.text(text)),
                Call::Begin | Call::Commit | Call::Rollback => {}
            }
            match &record.answer {
                Answer::Done => self.number(0),
                Answer::Marked(new) => self.number(1 + usize::from(*new)),
                Answer::Failed(error) => {
                    let number = self.errors.number(error);
                    self.number(2 + number);
                }
            }
        }
        match &trace.ending {
            Ending::Outcome(name) => self.text(name),
            Ending::Error(error) => {
                let number = self.errors.number(error);
                self.number(2 + number);
            }
            // Its words may name addresses; that it was one is what counts.
            Ending::Fault(_) => self.text("fault"),
        }
    }

    /// The digest of what was taken in.
    pub(crate) fn finish(self) -> [u8; 32] {
        self.hash.finalize().into()
    }

    /// A text with its length before it, so that no two sequences of texts are alike.
    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.hash.update(text);
    }

    fn number(&mut self, number: usize) {
        self.hash.update((number as u64).to_le_bytes());
    }
}
