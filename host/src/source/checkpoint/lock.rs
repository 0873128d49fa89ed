//! Keeps a second consumer away from a checkpoint.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::beside;

/// The exclusive right to a checkpoint, for as long as it is kept.
///
/// It is an advisory lock on a file of its own: the checkpoint is replaced at each write, so a
/// lock on it would not last. The system frees it when the process ends, however it ends; the
/// empty lock file that a crash leaves means nothing.
#[derive(Debug)]
pub(in crate::source) struct Lock {
    path: PathBuf,
    /// Holds the lock until it is closed.
    _file: File,
}

impl Lock {
    /// Takes the lock of `checkpoint`, or gives `None` if another has it.
    ///
    /// # Errors
    /// The lock file cannot be made or locked.
    pub(in crate::source) fn take(checkpoint: &Path) -> io::Result<Option<Self>> {
        let path = beside(checkpoint, ".lock");
        loop {
            let file = File::options().create(true).truncate(false).write(true).open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // Whoever had the lock may have removed the file since it was opened here. A third
            // could then make and lock a new one, so only the file that is there counts.
            if is_at(&file, &path)? {
                return Ok(Some(Self { path, _file: file }));
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Still locked, so that nobody else's file is removed. If it stays, it does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let opened = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::thread;

    use super::*;

    #[test]
    fn one_has_the_lock_until_it_is_dropped_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = folder.path().join("checkpoint");
        let lock = Lock::take(&checkpoint).unwrap();
        assert!(lock.is_some());
        assert!(Lock::take(&checkpoint).unwrap().is_none());
        drop(lock);
        assert!(Lock::take(&checkpoint).unwrap().is_some());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_lock_file_left_by_a_crash_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = folder.path().join("checkpoint");
        fs::write(beside(&checkpoint, ".lock"), "").unwrap();
        assert!(Lock::take(&checkpoint).unwrap().is_some());
    }

    /// Takers race with owners that remove the file as they let go.
    #[test]
    fn never_do_two_have_the_lock_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = folder.path().join("checkpoint");
        let held = std::sync::Mutex::new(());
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        if let Some(lock) = Lock::take(&checkpoint).unwrap() {
                            let alone = held.try_lock();
                            assert!(alone.is_ok());
                            thread::yield_now();
                            drop(alone);
                            drop(lock);
                        }
                    }
                });
            }
        });
    }
}
