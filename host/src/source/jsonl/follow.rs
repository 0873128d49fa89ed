//! Waiting at the end of a file until it grows.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use super::error::SourceError;

/// How often a file is looked at that cannot be watched.
const POLL: Duration = Duration::from_millis(250);

/// How often a file is looked at that is watched: some file systems lose notifications, or never
/// give any for what another machine writes.
const SAFETY_POLL: Duration = Duration::from_secs(2);

/// Waits for a file to grow, and tells when it is no longer the file that was opened.
///
/// A file that is cut and at once grows beyond what was read of it cannot be told from one that
/// was only appended to.
pub(super) struct Follow {
    name: Arc<str>,
    path: PathBuf,
    /// The very file that is read, whatever the path leads to by now.
    file: File,
    /// Holds one token once something may have changed since the last wait.
    changes: Receiver<()>,
    waker: SyncSender<()>,
    /// Kept alive to go on watching; `None` where watching is impossible.
    #[cfg_attr(not(test), expect(dead_code, reason = "it watches for as long as it is held"))]
    pub(super) watcher: Option<RecommendedWatcher>,
    /// How long to wait at most before the file is looked at.
    pub(super) poll: Duration,
    /// What was found wrong with the file, told once its rest has been read.
    ended: Option<SourceError>,
}

impl Follow {
    /// Follows `file`, which was opened at `path`; `name` is what messages call it.
    ///
    /// It is to be started before the file is read, so that no change goes unseen.
    pub(super) fn start(name: Arc<str>, path: &Path, file: File) -> Self {
        let (waker, changes) = mpsc::sync_channel(1);
        let watcher = watch(path, waker.clone()).ok();
        let poll = if watcher.is_some() { SAFETY_POLL } else { POLL };
        Self { name, path: path.to_owned(), file, changes, waker, watcher, poll, ended: None }
    }

    /// Sends what ends a wait early.
    pub(super) fn waker(&self) -> SyncSender<()> {
        self.waker.clone()
    }

    /// Called at the end of the file, when `read` bytes of it have been read: returns when there
    /// may be more to read, or when `stopped` says that nobody wants it.
    ///
    /// # Errors
    /// The file shrank, or its path leads to another file or nowhere. A file that was replaced
    /// is read to its end before that is told.
    pub(super) fn wait(
        &mut self,
        read: u64,
        stopped: impl Fn() -> bool,
    ) -> Result<(), SourceError> {
        if let Some(ended) = self.ended.take() {
            return Err(ended);
        }
        while !stopped() {
            let opened = self.file.metadata().map_err(|error| self.unreadable(error))?;
            let name = Arc::clone(&self.name);
            if opened.len() < read {
                return Err(SourceError::Shrank { name, length: opened.len(), read });
            }
            if !self.is_still_there(&opened)? {
                self.ended = Some(SourceError::Replaced { name });
                return Ok(());
            }
            if opened.len() > read {
                return Ok(());
            }
            // Whatever ended the wait, the file tells what happened.
            let _ = self.changes.recv_timeout(self.poll);
        }
        Ok(())
    }

    fn is_still_there(&self, opened: &Metadata) -> Result<bool, SourceError> {
        match fs::metadata(&self.path) {
            Ok(now) => Ok((now.dev(), now.ino()) == (opened.dev(), opened.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.unreadable(error)),
        }
    }

    fn unreadable(&self, error: io::Error) -> SourceError {
        SourceError::Read { name: Arc::clone(&self.name), source: Arc::new(error) }
    }
}

/// Watches for changes of the file at `path` and puts a token into `changes` at each.
///
/// The folder is watched, not the file, so that another file in its place is seen as well.
fn watch(path: &Path, changes: SyncSender<()>) -> notify::Result<RecommendedWatcher> {
    // Behind a symbolic link it is the link's target that grows.
    let path = fs::canonicalize(path)?;
    let folder = path.parent().unwrap_or(&path).to_owned();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // The checkpoint may be written into the same folder many times a second. An error, or an
        // event of no file, may mean that something was missed.
        let ours =
            event.map_or(true, |event| event.paths.is_empty() || event.paths.contains(&path));
        if ours {
            // A full channel has the token already.
            let _ = changes.try_send(());
        }
    })?;
    watcher.watch(&folder, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}
