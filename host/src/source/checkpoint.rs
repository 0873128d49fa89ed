//! The checkpoint: a small file that says how much of an events file has been acknowledged.
//!
//! *Acknowledged means: the checkpoint says so.* It is written a little after the fact, so a crash
//! may lose the newest one. The one before it then counts, and the events since come again; their
//! markers answer `already-applied`. No event is ever skipped, because the checkpoint never stands
//! behind an event that was not acknowledged.
//!
//! It is a JSON object with these members, none of them optional:
//!
//! - `version`: 1.
//! - `byte`, `line`: the place just behind the last acknowledged event, as in [`Offset`].
//! - `event_id`: the id of that event.
//! - `database`: the identity of the database that the events were applied to.
//! - `first`, `last`: SHA-256 of the first and of the last 4 KiB of the events file before `byte`,
//!   or of all of it where it is shorter. They never reach beyond `byte`, so a file that has only
//!   been appended to is still the same file.
//!
//! It is replaced as a whole and durably: a temporary file beside it (its name with `.tmp`) is
//! written, synced and renamed over it, and the folder is synced. A temporary file that a crash
//! left is not read and is overwritten. While a consumer runs, a lock file (its name with `.lock`)
//! keeps others away.

mod lock;
mod writer;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{Offset, Received};
pub(super) use lock::Lock;
pub(super) use writer::{NotWritten, Writer};

/// The version of the format that is written and read.
const VERSION: u64 = 1;

/// How much is hashed at each end of the acknowledged part of an events file, in bytes.
const FINGERPRINT_BYTES: u64 = 4 << 10;

/// What is read of a checkpoint at most, in bytes; the texts in one are far shorter.
const MAX_BYTES: u64 = 64 << 10;

/// What a checkpoint says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Checkpoint {
    version: u64,
    byte: u64,
    line: u64,
    /// The id of the last acknowledged event.
    pub(super) event_id: String,
    /// The identity of the database that the events were applied to.
    pub(super) database: String,
    first: String,
    last: String,
}

/// Why there is no telling what a checkpoint says.
#[derive(Debug)]
pub(super) enum LoadError {
    Unreadable(io::Error),
    /// What is wrong with it; goes on behind "it".
    Damaged(String),
}

impl Checkpoint {
    /// The checkpoint just behind the event `last` of `events`, for the database with id `database`.
    ///
    /// # Errors
    /// The events file cannot be read, or has become shorter than that.
    pub(super) fn new(events: &File, last: &Received, database: String) -> io::Result<Self> {
        let Offset { byte, line } = last.offset;
        let event_id = last.event.id().to_owned();
        let (first, last) = fingerprint(events, byte)?;
        Ok(Self { version: VERSION, byte, line, event_id, database, first, last })
    }

    /// The checkpoint at `path`, or `None` if there is none.
    pub(super) fn load(path: &Path) -> Result<Option<Self>, LoadError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LoadError::Unreadable(error)),
        };
        let mut text = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut text).map_err(LoadError::Unreadable)?;
        parse(&text).map(Some).map_err(LoadError::Damaged)
    }

    /// The place just behind the last acknowledged event.
    pub(super) fn offset(&self) -> Offset {
        Offset { byte: self.byte, line: self.line }
    }

    /// Whether `events` is the file that the checkpoint was made for, as far as can be told. The
    /// file must not be shorter than the checkpoint's place.
    ///
    /// # Errors
    /// The events file cannot be read.
    pub(super) fn fits(&self, events: &File) -> io::Result<bool> {
        let (first, last) = fingerprint(events, self.byte)?;
        Ok((&first, &last) == (&self.first, &self.last))
    }
}

fn parse(text: &[u8]) -> Result<Checkpoint, String> {
    if text.len() as u64 > MAX_BYTES {
        return Err(format!("is longer than {MAX_BYTES} bytes"));
    }
    let unparsed = |error| format!("cannot be parsed: {error}");
    let members: Map<String, Value> = serde_json::from_slice(text).map_err(unparsed)?;
    // The version first: another one may have other members.
    match members.get("version") {
        Some(version) if *version == VERSION => {}
        Some(version) => {
            return Err(format!("has version {version}; this program reads version {VERSION}"));
        }
        None => return Err("has no version".to_owned()),
    }
    let checkpoint: Checkpoint =
        serde_json::from_value(Value::Object(members)).map_err(unparsed)?;
    let Checkpoint { byte, line, .. } = checkpoint;
    if line == 0 || line > byte {
        return Err(format!("has {line} lines in {byte} bytes"));
    }
    Ok(checkpoint)
}

/// The hashes of the first and of the last 4 KiB before `byte`, in hexadecimal.
fn fingerprint(events: &File, byte: u64) -> io::Result<(String, String)> {
    let length = byte.min(FINGERPRINT_BYTES);
    Ok((hash(events, 0, length)?, hash(events, byte - length, length)?))
}

fn hash(file: &File, from: u64, length: u64) -> io::Result<String> {
    // It is at most 4 KiB.
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, from)?;
    Ok(Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Where a checkpoint is kept.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    temporary: PathBuf,
    /// The folder of both, synced to make a rename durable.
    folder: File,
}

impl Place {
    /// The place `path`, once writing there has been tried.
    ///
    /// # Errors
    /// No checkpoint can be written there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let place = Self {
            path: path.to_owned(),
            temporary: beside(path, ".tmp"),
            folder: File::open(folder)?,
        };
        place.write_temporary(b"\n")?;
        fs::remove_file(&place.temporary)?;
        place.folder.sync_all()?;
        Ok(place)
    }

    /// Makes `checkpoint` the one that counts, durably.
    ///
    /// # Errors
    /// The one before it may still count.
    pub(super) fn save(&self, checkpoint: &Checkpoint) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(checkpoint)?;
        text.push(b'\n');
        self.write_temporary(&text)?;
        fs::rename(&self.temporary, &self.path)?;
        self.folder.sync_all()
    }

    fn write_temporary(&self, text: &[u8]) -> io::Result<()> {
        let mut file = File::create(&self.temporary)?;
        file.write_all(text)?;
        file.sync_all()
    }
}

/// The path with `suffix` behind its name.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests;
