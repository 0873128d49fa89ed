//! Events from JSON lines, in a file or on standard input.
//!
//! A line holds one JSON object with the members `source_event_id`, `device_id` and `message`, all
//! of them strings. Other members are allowed and not read. Lines end in LF or CRLF; the last one
//! may lack its end. A byte-order mark at the start and blank lines are skipped. A line has at most
//! [`MAX_LINE_BYTES`] bytes, and an event is within the limits of [`crate::event`].
//!
//! A file has a checkpoint, which says how much of it is acknowledged; `checkpoint.rs` tells how it
//! is kept. Acknowledged means that the checkpoint says so. Losing the newest checkpoint in a crash
//! causes redelivery, never a skipped event.
//!
//! Files are read, and checkpoints written, by threads of their own. What lies between the reader
//! and the consumer is bounded to some 2 MB, however long the stream is.

mod error;
mod follow;
mod line;
mod lines;
mod open;
mod reader;

use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec;

pub use error::{OpenError, SourceError};
pub use line::{LineProblem, MAX_LINE_BYTES};
pub use open::default_checkpoint;

use super::checkpoint::{NotWritten, Writer};
use super::{Offset, Received, Source};
use crate::store::StoreError;
use lines::Lines;
use reader::{Chunk, Reader, Stream};

/// How a file of events is consumed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the checkpoint is kept; `None`: at the [`default_checkpoint`].
    pub checkpoint: Option<PathBuf>,
    /// At the end of the file wait for more of it, instead of ending the stream. A last line
    /// counts only once its line end has come. A file that shrinks, is removed or is replaced is
    /// an error; one that is cut and at once grows beyond what was read of it looks like one that
    /// was appended to.
    pub follow: bool,
}

/// The database that the events are applied to, as far as a checkpoint needs to know it: a
/// checkpoint used with another database, or with an older state of its own, would skip events.
pub struct Database<'a> {
    /// The database's identity: any text that no other database has.
    pub id: &'a str,
    /// Whether the database has the committed marker of an event.
    pub is_marked: &'a mut dyn FnMut(&str) -> Result<bool, StoreError>,
}

/// A source of events that stand one a line, as JSON objects.
///
/// Dropping it stops its threads. Acknowledgements that have not been
/// [flushed](Source::flush) by then may be lost, and their events come again.
#[derive(Debug)]
pub struct JsonLines {
    name: Arc<str>,
    /// Behind which event it resumed.
    resumed: Option<Offset>,
    reader: Reader,
    /// The rest of the newest chunk.
    events: vec::IntoIter<Received>,
    /// How the stream ended, once it has.
    end: Option<Result<(), SourceError>>,
    /// Where acknowledgements go; a stream without it accepts and forgets them.
    checkpoint: Option<Acknowledgements>,
}

#[derive(Debug)]
struct Acknowledgements {
    path: PathBuf,
    writer: Writer,
}

impl JsonLines {
    /// Opens the file at `events` and goes on behind the last event that its checkpoint says was
    /// acknowledged, or starts at the beginning if there is no checkpoint.
    ///
    /// All that can be checked is checked before the first event is delivered, also that the
    /// checkpoint can be written. A bad line is no reason not to open: it stands in the stream,
    /// behind the events before it.
    ///
    /// It blocks for some file operations and look-ups.
    ///
    /// # Errors
    /// The events cannot be read; the checkpoint is damaged, in use, or cannot be written; or the
    /// events file, the checkpoint and the database do not belong together.
    pub fn open(
        events: &Path,
        options: &Options,
        database: Database<'_>,
    ) -> Result<Self, OpenError> {
        open::open(events, options, database)
    }

    /// Reads standard input to its end. There is no checkpoint: acknowledgements are accepted and
    /// forgotten.
    ///
    /// # Errors
    /// The system gave no thread to read it with.
    pub fn stdin() -> Result<Self, OpenError> {
        Self::from_reader("standard input", std::io::stdin())
    }

    /// Reads `input` to its end; `name` is what messages call it. There is no checkpoint:
    /// acknowledgements are accepted and forgotten.
    ///
    /// A read that blocks keeps the reading thread alive after the source has been dropped.
    ///
    /// # Errors
    /// The system gave no thread to read it with.
    pub fn from_reader(name: &str, input: impl Read + Send + 'static) -> Result<Self, OpenError> {
        let name = Arc::from(name);
        Self::start(Stream { name, input, lines: Lines::default(), follow: None }, None, None)
    }

    /// The name of the stream as it stands in messages: the path that was given, or what
    /// [`from_reader`](Self::from_reader) was told.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Behind which event the stream was resumed; `None` if it was read from its start.
    #[must_use]
    pub fn resumed(&self) -> Option<Offset> {
        self.resumed
    }

    /// Where the checkpoint is kept, if there is one.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&Path> {
        self.checkpoint.as_ref().map(|checkpoint| checkpoint.path.as_path())
    }

    fn start<R: Read + Send + 'static>(
        stream: Stream<R>,
        resumed: Option<Offset>,
        checkpoint: Option<Acknowledgements>,
    ) -> Result<Self, OpenError> {
        let name = Arc::clone(&stream.name);
        let reader = Reader::start(stream).map_err(|source| OpenError::Thread { source })?;
        Ok(Self { name, resumed, reader, events: Vec::new().into_iter(), end: None, checkpoint })
    }
}

impl JsonLines {
    /// Waits until there are events; there are none only at the end of the stream.
    async fn refill(&mut self) -> Result<(), SourceError> {
        while self.events.len() == 0 {
            if let Some(end) = &self.end {
                return end.clone();
            }
            // Nothing is awaited between taking a chunk and keeping it, so none is lost if this
            // future is dropped.
            match self.reader.chunk().await {
                Some(Chunk::Events(events)) => self.events = events.into_iter(),
                Some(Chunk::End(end)) => self.end = Some(end),
                None => self.end = Some(Err(SourceError::ThreadLost("reads the events"))),
            }
        }
        Ok(())
    }
}

impl Source for JsonLines {
    type Error = SourceError;

    async fn next(&mut self) -> Result<Option<Received>, SourceError> {
        self.refill().await?;
        Ok(self.events.next())
    }

    async fn next_many(&mut self, most: NonZeroUsize) -> Result<Vec<Received>, SourceError> {
        self.refill().await?;
        Ok(self.events.by_ref().take(most.get()).collect())
    }

    async fn ack(&mut self, received: &Received) -> Result<(), SourceError> {
        match &self.checkpoint {
            Some(checkpoint) => {
                checkpoint.writer.ack(received).map_err(|error| checkpoint.error(error))
            }
            None => Ok(()),
        }
    }

    async fn flush(&mut self) -> Result<(), SourceError> {
        match &self.checkpoint {
            Some(checkpoint) => {
                checkpoint.writer.flush().await.map_err(|error| checkpoint.error(error))
            }
            None => Ok(()),
        }
    }
}

impl Acknowledgements {
    fn error(&self, error: NotWritten) -> SourceError {
        match error {
            NotWritten::Failed(source) => {
                SourceError::Checkpoint { path: self.path.clone(), source }
            }
            NotWritten::ThreadLost => SourceError::ThreadLost("writes the checkpoint"),
        }
    }
}

#[cfg(test)]
mod tests;
