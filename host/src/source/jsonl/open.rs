//! Opening a file of events: everything that is checked before the first one is delivered.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::OpenError;
use super::follow::Follow;
use super::lines::Lines;
use super::reader::Stream;
use super::{Acknowledgements, Database, JsonLines, Options};
use crate::source::Offset;
use crate::source::checkpoint::{Checkpoint, LoadError, Lock, Place, Writer, beside};

/// See [`JsonLines::open`].
pub(super) fn open(
    path: &Path,
    options: &Options,
    mut database: Database<'_>,
) -> Result<JsonLines, OpenError> {
    let unreadable = |source| OpenError::EventsUnreadable { path: path.to_owned(), source };
    let mut file = open_events(path)?;
    let checkpoint_path = checkpoint_path(path, options);
    refuse_one_file_as_both(&file, path, &checkpoint_path)?;
    let lock = lock(&checkpoint_path)?;

    let (resumed, lines) = match load(&checkpoint_path)? {
        Some(checkpoint) => {
            let offset = checkpoint.offset();
            let line_ended = check_events(path, &file, &checkpoint)?;
            check_database(&checkpoint_path, &checkpoint, &mut database)?;
            let lines = Lines::behind(offset, line_ended);
            (Some(offset), lines)
        }
        None => (None, Lines::default()),
    };

    let start = resumed.as_ref().map_or(0, |offset| offset.byte);
    file.seek(SeekFrom::Start(start)).map_err(unreadable)?;
    let place = Place::open(&checkpoint_path).map_err(|source| {
        OpenError::CheckpointUnwritable { path: checkpoint_path.clone(), source }
    })?;
    let written_from = file.try_clone().map_err(unreadable)?;
    let database_id = database.id.to_owned();
    let writer = Writer::start(move |last| {
        let _held = &lock;
        place.save(&Checkpoint::new(&written_from, last, database_id.clone())?)
    })
    .map_err(|source| OpenError::Thread { source })?;

    let name: Arc<str> = path.display().to_string().into();
    let follow = if options.follow {
        let followed = file.try_clone().map_err(unreadable)?;
        Some(Follow::start(Arc::clone(&name), path, followed))
    } else {
        None
    };
    let checkpoint = Acknowledgements { path: checkpoint_path, writer };
    JsonLines::start(Stream { name, input: file, lines, follow }, resumed, Some(checkpoint))
}

fn open_events(path: &Path) -> Result<File, OpenError> {
    let error = |source: io::Error| {
        let path = path.to_owned();
        if source.kind() == ErrorKind::NotFound {
            OpenError::EventsMissing { path }
        } else {
            OpenError::EventsUnreadable { path, source }
        }
    };
    // Looked at before it is opened: opening a pipe would wait for its writer.
    let metadata = fs::metadata(path).map_err(error)?;
    if !metadata.is_file() {
        let kind = if metadata.is_dir() { "a folder" } else { "a pipe or a device" };
        return Err(OpenError::EventsNotAFile { path: path.to_owned(), kind });
    }
    File::open(path).map_err(error)
}

/// Where the checkpoint of an events file is kept unless another place is given: beside it, under
/// its name with `.checkpoint` behind it.
#[must_use]
pub fn default_checkpoint(events: &Path) -> PathBuf {
    beside(events, ".checkpoint")
}

fn checkpoint_path(events: &Path, options: &Options) -> PathBuf {
    let path = options.checkpoint.clone().unwrap_or_else(|| default_checkpoint(events));
    // A link stays a link: what it leads to is replaced, and locked under one name.
    if path.is_symlink() { fs::canonicalize(&path).unwrap_or(path) } else { path }
}

/// Advice to delete a damaged checkpoint must never be about the events.
fn refuse_one_file_as_both(file: &File, events: &Path, checkpoint: &Path) -> Result<(), OpenError> {
    if let (Ok(events_data), Ok(checkpoint)) = (file.metadata(), fs::metadata(checkpoint))
        && (events_data.dev(), events_data.ino()) == (checkpoint.dev(), checkpoint.ino())
    {
        return Err(OpenError::CheckpointIsEvents { path: events.to_owned() });
    }
    Ok(())
}

fn lock(checkpoint: &Path) -> Result<Lock, OpenError> {
    let path = || checkpoint.to_owned();
    match Lock::take(checkpoint) {
        Ok(Some(lock)) => Ok(lock),
        Ok(None) => Err(OpenError::CheckpointInUse { path: path() }),
        Err(source) => Err(OpenError::CheckpointUnwritable { path: path(), source }),
    }
}

fn load(path: &Path) -> Result<Option<Checkpoint>, OpenError> {
    Checkpoint::load(path).map_err(|error| match error {
        LoadError::Unreadable(source) => {
            OpenError::CheckpointUnreadable { path: path.to_owned(), source }
        }
        LoadError::Damaged(problem) => {
            OpenError::CheckpointDamaged { path: path.to_owned(), problem }
        }
    })
}

/// Checks that `events` is the checkpoint's file, and says whether a line end stands right before
/// the checkpoint's place.
fn check_events(path: &Path, events: &File, checkpoint: &Checkpoint) -> Result<bool, OpenError> {
    let unreadable = |source| OpenError::EventsUnreadable { path: path.to_owned(), source };
    let path = path.to_owned();
    let Offset { byte, line } = checkpoint.offset();
    let length = events.metadata().map_err(unreadable)?.len();
    if length < byte {
        return Err(OpenError::EventsTooShort { path, length, byte });
    }
    if !checkpoint.fits(events).map_err(unreadable)? {
        return Err(OpenError::EventsDiffer { path, byte });
    }
    let mut before = [0];
    events.read_exact_at(&mut before, byte - 1).map_err(unreadable)?;
    let line_ended = before == *b"\n";
    // An event may have been the last of the file, without a line end. Only that may have come
    // since; the rest of what stands in its line is looked at when it is read.
    let mut after = [b'\n'];
    events.read_at(&mut after, byte).map_err(unreadable)?;
    if !line_ended && !after[0].is_ascii_whitespace() {
        return Err(OpenError::NotAtLineEnd { path, byte, line });
    }
    Ok(line_ended)
}

fn check_database(
    path: &Path,
    checkpoint: &Checkpoint,
    database: &mut Database<'_>,
) -> Result<(), OpenError> {
    let path = path.to_owned();
    if checkpoint.database != database.id {
        let (theirs, ours) = (checkpoint.database.clone(), database.id.to_owned());
        return Err(OpenError::OtherDatabase { path, theirs, ours });
    }
    let (line, event_id) = (checkpoint.offset().line, checkpoint.event_id.clone());
    match (database.is_marked)(&event_id) {
        Ok(true) => Ok(()),
        Ok(false) => Err(OpenError::MarkerMissing { path, event_id, line }),
        Err(source) => Err(OpenError::LookUp { event_id, source }),
    }
}
