//! Why a source could not start, and why it could not go on.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::line::LineProblem;
use crate::store::StoreError;

/// Why a source could not start. Nothing was delivered.
///
/// The message is one sentence, [`source`](std::error::Error::source) the cause behind it, and
/// [`advice`](OpenError::advice) what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The events file does not exist.
    #[error("there is no events file {}", .path.display())]
    EventsMissing {
        /// The events file.
        path: PathBuf,
    },
    /// The events file exists and cannot be read.
    #[error("the events file {} cannot be read", .path.display())]
    EventsUnreadable {
        /// The events file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What should be the events file is no regular file.
    #[error("the events file {} is {kind}, not a regular file", .path.display())]
    EventsNotAFile {
        /// The events file.
        path: PathBuf,
        /// What it is, with its article.
        kind: &'static str,
    },
    /// The checkpoint, or the lock beside it, exists and cannot be read.
    #[error("the checkpoint {} cannot be read", .path.display())]
    CheckpointUnreadable {
        /// The checkpoint.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// No checkpoint can be written there.
    #[error("the checkpoint {} cannot be written", .path.display())]
    CheckpointUnwritable {
        /// The checkpoint.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another consumer holds the checkpoint.
    #[error("the checkpoint {} is in use by another consumer", .path.display())]
    CheckpointInUse {
        /// The checkpoint.
        path: PathBuf,
    },
    /// The checkpoint is the events file.
    #[error("{} is given as the events file and as the checkpoint", .path.display())]
    CheckpointIsEvents {
        /// The file.
        path: PathBuf,
    },
    /// The checkpoint is not one, or is one of another version.
    #[error("the checkpoint {} is damaged: it {problem}", .path.display())]
    CheckpointDamaged {
        /// The checkpoint.
        path: PathBuf,
        /// What is wrong with it; goes on behind "it".
        problem: String,
    },
    /// The events file ends before the place that was acknowledged.
    #[error(
        "the events file {} has {length} bytes, but its checkpoint stands at byte {byte}: \
         the file was truncated or replaced",
        .path.display()
    )]
    EventsTooShort {
        /// The events file.
        path: PathBuf,
        /// Its length, in bytes.
        length: u64,
        /// The checkpoint's place, in bytes.
        byte: u64,
    },
    /// The events file is not the one that the checkpoint was written for.
    #[error(
        "the events file {} is not the one its checkpoint was written for: \
         its content before byte {byte} differs",
        .path.display()
    )]
    EventsDiffer {
        /// The events file.
        path: PathBuf,
        /// The checkpoint's place, in bytes.
        byte: u64,
    },
    /// The place that was acknowledged is not the end of a line.
    #[error(
        "the checkpoint of the events file {} stands at byte {byte}, which is inside line {line}",
        .path.display()
    )]
    NotAtLineEnd {
        /// The events file.
        path: PathBuf,
        /// The checkpoint's place, in bytes.
        byte: u64,
        /// The line that the checkpoint names.
        line: u64,
    },
    /// The checkpoint was written by a consumer with another database.
    #[error(
        "the checkpoint {} belongs to the database with id {theirs:?}, \
         but this one has id {ours:?}",
        .path.display()
    )]
    OtherDatabase {
        /// The checkpoint.
        path: PathBuf,
        /// The id of the database that it belongs to.
        theirs: String,
        /// The id of the database that was given.
        ours: String,
    },
    /// The database lacks the marker of the last acknowledged event.
    #[error(
        "the checkpoint {} says that event {event_id:?} (line {line}) was applied, \
         but the database has no marker of it: it is older than the checkpoint",
        .path.display()
    )]
    MarkerMissing {
        /// The checkpoint.
        path: PathBuf,
        /// The last acknowledged event.
        event_id: String,
        /// Its line.
        line: u64,
    },
    /// The database did not say whether it has the marker of the last acknowledged event.
    #[error("the database could not be asked for the marker of event {event_id:?}")]
    LookUp {
        /// The last acknowledged event.
        event_id: String,
        /// What the database says.
        source: StoreError,
    },
    /// A thread of the source could not be started.
    #[error("a thread that reads events or writes the checkpoint could not be started")]
    Thread {
        /// What the system says.
        source: io::Error,
    },
}

impl OpenError {
    /// What to do next; where there are two ways out, both.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::EventsMissing { .. } => "check the path, or create the file first",
            Self::EventsUnreadable { .. } => {
                "make the file readable for this user, or give another one"
            }
            Self::EventsNotAFile { .. } => {
                "give a regular file, or send the events through standard input, \
                 which keeps no checkpoint"
            }
            Self::CheckpointUnreadable { .. } | Self::CheckpointUnwritable { .. } => {
                "make the checkpoint and its folder readable and writable for this user, \
                 or give the checkpoint another place"
            }
            Self::CheckpointInUse { .. } => {
                "wait until the other consumer has ended, \
                 or give this one a checkpoint and a database of its own"
            }
            Self::CheckpointIsEvents { .. } => "give the checkpoint another place",
            Self::CheckpointDamaged { .. } => {
                "restore the checkpoint, or delete it to deliver everything again \
                 (events already applied are answered already-applied)"
            }
            Self::EventsTooShort { .. } | Self::EventsDiffer { .. } | Self::NotAtLineEnd { .. } => {
                "restore the events file that belongs to the checkpoint, \
                 or delete the checkpoint to deliver this file from its start \
                 (events already applied are answered already-applied)"
            }
            Self::OtherDatabase { .. } | Self::MarkerMissing { .. } => {
                "restore the database that belongs to the checkpoint, \
                 or delete the checkpoint to deliver everything again \
                 (events already applied are answered already-applied)"
            }
            Self::LookUp { .. } => "see to the database, then start again",
            Self::Thread { .. } => "see to the limits of this system, then start again",
        }
    }
}

/// Why a source that had started could not go on. What was not acknowledged comes again.
///
/// It is the same for every later call. The message is one sentence,
/// [`source`](std::error::Error::source) the cause behind it, and
/// [`advice`](SourceError::advice) what to do next.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A line holds no event.
    #[error("{name}, line {line}{}: {problem}", ColumnSuffix(*.column))]
    Line {
        /// The stream, as [`JsonLines::name`](super::JsonLines::name) gives it.
        name: Arc<str>,
        /// The number of the line, from 1.
        line: u64,
        /// The column in characters, from 1, where one character is to blame.
        column: Option<u64>,
        /// What is wrong.
        problem: LineProblem,
    },
    /// Reading failed.
    #[error("{name} cannot be read any further")]
    Read {
        /// The stream.
        name: Arc<str>,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// The events file became shorter than what had been read of it.
    #[error("{name} shrank to {length} bytes after {read} bytes of it had been read")]
    Shrank {
        /// The stream.
        name: Arc<str>,
        /// Its length now, in bytes.
        length: u64,
        /// How much had been read, in bytes.
        read: u64,
    },
    /// The events file was removed, renamed, or replaced by another while it was followed.
    #[error("{name} was removed or replaced while it was followed")]
    Replaced {
        /// The stream.
        name: Arc<str>,
    },
    /// The checkpoint could not be written.
    #[error("the checkpoint {} could not be written", .path.display())]
    Checkpoint {
        /// The checkpoint.
        path: PathBuf,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// A thread of the source ended without a word.
    #[error("the thread that {0} ended unexpectedly")]
    ThreadLost(&'static str),
}

impl SourceError {
    /// What to do next.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Line { .. } => {
                "correct the line or take it out, then start again: \
                 what was acknowledged is not delivered again"
            }
            Self::Read { .. } => "see to the file or the disk, then start again",
            Self::Shrank { .. } | Self::Replaced { .. } => {
                "restore the events file and start again to finish it, \
                 or delete the checkpoint to deliver the new file from its start"
            }
            Self::Checkpoint { .. } => {
                "see to the checkpoint's folder, then start again: events that were applied \
                 and not acknowledged come again and are answered already-applied"
            }
            Self::ThreadLost(_) => "start again: what was not acknowledged comes again",
        }
    }
}

/// The column behind the line's number, where there is one.
struct ColumnSuffix(Option<u64>);

impl std::fmt::Display for ColumnSuffix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |column| write!(f, ", column {column}"))
    }
}
