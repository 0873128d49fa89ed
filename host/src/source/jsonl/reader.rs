//! The thread that reads a stream and hands its events on.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;

use tokio::sync::mpsc;

use super::error::SourceError;
use super::follow::Follow;
use super::lines::{BadLine, Lines, Parsed};
use crate::source::Received;

/// How much is read at once, and so how much a chunk of events comes from, in bytes. No event is
/// made of fewer than 50 bytes, so this bounds the number of events in a chunk as well.
const READ_BYTES: usize = 64 << 10;

/// How many chunks may wait between the reader and the consumer.
const CHUNKS: usize = 4;

/// What the reader hands on.
#[derive(Debug)]
pub(super) enum Chunk {
    /// Events in the order of the stream.
    Events(Vec<Received>),
    /// Nothing comes behind this: the stream ended, or cannot be read on.
    End(Result<(), SourceError>),
}

/// What to read.
pub(super) struct Stream<R> {
    /// What messages call it.
    pub(super) name: Arc<str>,
    pub(super) input: R,
    /// Where in the stream `input` stands.
    pub(super) lines: Lines,
    /// Waits for more at the end; without it the stream ends there.
    pub(super) follow: Option<Follow>,
}

/// The consumer's side of a reader. Dropping it stops the thread, unless that is blocked in a
/// read, and then as soon as the read returns.
#[derive(Debug)]
pub(super) struct Reader {
    chunks: mpsc::Receiver<Chunk>,
    /// Wakes a thread that waits for the file to grow.
    wake: Option<SyncSender<()>>,
}

impl Reader {
    /// Starts a thread that reads `stream` to its end.
    ///
    /// # Errors
    /// The system gave no thread.
    pub(super) fn start<R: Read + Send + 'static>(stream: Stream<R>) -> io::Result<Self> {
        let (sender, chunks) = mpsc::channel(CHUNKS);
        let wake = stream.follow.as_ref().map(Follow::waker);
        thread::Builder::new().name("events".to_owned()).spawn(move || read(stream, &sender))?;
        Ok(Self { chunks, wake })
    }

    /// The next chunk, or `None` if the thread ended without a last word. Dropping the future
    /// loses nothing.
    pub(super) async fn chunk(&mut self) -> Option<Chunk> {
        self.chunks.recv().await
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // Closed first, so that the thread finds it closed when it wakes.
        self.chunks.close();
        if let Some(wake) = &self.wake {
            // A full channel has woken the thread already.
            let _ = wake.try_send(());
        }
    }
}

/// Reads to the end of the stream, or until nobody listens.
fn read<R: Read>(mut stream: Stream<R>, sender: &mpsc::Sender<Chunk>) {
    let mut piece = vec![0; READ_BYTES];
    loop {
        let mut events = Parsed::default();
        let end = step(&mut stream, &mut piece, &mut events, sender);
        let events = events.into_received();
        // Each piece's events go out before the next read, which may block for long.
        let events_sent = events.is_empty() || sender.blocking_send(Chunk::Events(events)).is_ok();
        if let Some(end) = end {
            // Whoever does not listen any more need not know.
            let _ = sender.blocking_send(Chunk::End(end));
            return;
        }
        if !events_sent || sender.is_closed() {
            return;
        }
    }
}

/// Reads one piece; at the end of the file waits for another. Some result ends the stream.
fn step<R: Read>(
    stream: &mut Stream<R>,
    piece: &mut [u8],
    events: &mut Parsed,
    sender: &mpsc::Sender<Chunk>,
) -> Option<Result<(), SourceError>> {
    let Stream { name, input, lines, follow } = stream;
    let bad_line = |BadLine { line, flaw }: BadLine| SourceError::Line {
        name: Arc::clone(name),
        line,
        column: flaw.column,
        problem: flaw.problem,
    };
    match (input.read(piece), follow) {
        (Ok(0), None) => Some(lines.finish(events).map_err(bad_line)),
        (Ok(0), Some(follow)) => follow.wait(lines.read(), || sender.is_closed()).err().map(Err),
        (Ok(count), _) => lines.feed(&piece[..count], events).map_err(bad_line).err().map(Err),
        (Err(error), _) if error.kind() == ErrorKind::Interrupted => None,
        (Err(error), _) => {
            Some(Err(SourceError::Read { name: Arc::clone(name), source: Arc::new(error) }))
        }
    }
}
