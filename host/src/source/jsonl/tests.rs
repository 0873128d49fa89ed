#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod following;
mod opening;
mod resuming;

use std::error::Error;
use std::fs;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;

use super::*;

/// How long a test waits for what is bound to come; only a failure takes so long.
const GUARD: Duration = Duration::from_secs(60);

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(GUARD, future).await }).unwrap()
}

fn event(id: &str) -> String {
    format!(r#"{{"source_event_id":"{id}","device_id":"d","message":"é \"m\""}}"#)
}

fn lines(ids: &[&str]) -> String {
    ids.iter().map(|id| event(id) + "\n").collect()
}

fn next(source: &mut JsonLines) -> Result<Option<Received>, SourceError> {
    run(source.next())
}

/// The ids of the next `count` events.
fn take(source: &mut JsonLines, count: usize) -> Vec<String> {
    (0..count).map(|_| next(source).unwrap().unwrap().event.id().to_owned()).collect()
}

/// The ids of all events up to the end, and the error that stands there, if one does.
fn rest(source: &mut JsonLines) -> (Vec<String>, Option<String>) {
    let mut ids = Vec::new();
    loop {
        match next(source) {
            Ok(Some(received)) => ids.push(received.event.id().to_owned()),
            Ok(None) => return (ids, None),
            Err(error) => return (ids, Some(error.to_string())),
        }
    }
}

fn read(input: impl Read + Send + 'static) -> JsonLines {
    JsonLines::from_reader("events.jsonl", input).unwrap()
}

/// An events file in a folder of its own.
struct Folder {
    folder: TempDir,
    events: PathBuf,
}

impl Folder {
    fn new(content: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let events = folder.path().join("events.jsonl");
        fs::write(&events, content).unwrap();
        Self { folder, events }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn append(&self, text: impl AsRef<[u8]>) {
        let mut file = fs::File::options().append(true).open(&self.events).unwrap();
        io::Write::write_all(&mut file, text.as_ref()).unwrap();
    }

    fn try_open(&self, options: &Options) -> Result<JsonLines, OpenError> {
        let database = Database { id: "database-1", is_marked: &mut |_| Ok(true) };
        JsonLines::open(&self.events, options, database)
    }

    fn open(&self) -> JsonLines {
        self.try_open(&Options::default()).unwrap()
    }

    fn follow(&self) -> JsonLines {
        self.try_open(&Options { follow: true, ..Options::default() }).unwrap()
    }

    /// Consumes and acknowledges the next `count` events, as a consumer does that then ends.
    fn consume(&self, count: usize) {
        let mut source = self.open();
        for _ in 0..count {
            let received = next(&mut source).unwrap().unwrap();
            run(source.ack(&received)).unwrap();
        }
        run(source.flush()).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// An error's message without the path of the folder.
    fn message(&self, error: &dyn Error) -> String {
        error.to_string().replace(&format!("{}/", self.folder.path().display()), "")
    }
}

/// A stream whose pieces a test sends when it likes; it ends when the sender is dropped.
struct Pipe(mpsc::Receiver<Vec<u8>>);

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let piece = self.0.recv().unwrap_or_default();
        buffer[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

#[test]
fn events_come_in_order_and_then_the_end_for_ever() {
    let mut source = read(io::Cursor::new(lines(&["a", "b", "a"])));
    assert_eq!(take(&mut source, 3), ["a", "b", "a"]);
    for _ in 0..3 {
        assert_eq!(next(&mut source).unwrap(), None);
    }
    assert_eq!(rest(&mut read(io::empty())), (vec![], None));
}

#[test]
fn an_error_stands_behind_the_good_events_and_stays() {
    #[track_caller]
    fn check(line: impl AsRef<[u8]>, expected: &str) {
        let mut text = lines(&["a", "b"]).into_bytes();
        for part in [b"\n", line.as_ref(), b"\n", event("c").as_bytes()] {
            text.extend_from_slice(part);
        }
        let mut source = read(io::Cursor::new(text));
        assert_eq!(take(&mut source, 2), ["a", "b"]);
        for _ in 0..2 {
            let error = next(&mut source).unwrap_err();
            assert_eq!(error.to_string(), expected);
            assert!(!expected.contains('\n') && !error.advice().is_empty());
        }
    }

    check("{", "events.jsonl, line 4, column 1: is not JSON: EOF while parsing an object");
    check("[]", "events.jsonl, line 4: is an array, not a JSON object");
    check("{}", "events.jsonl, line 4: member \"source_event_id\" is missing");
    check(
        r#"{"source_event_id":"a","device_id":"b"}"#,
        "events.jsonl, line 4: member \"message\" is missing",
    );
    check(
        r#"{"source_event_id":"a","device_id":5,"message":""}"#,
        "events.jsonl, line 4: member \"device_id\" is a number, not a string",
    );
    check(
        r#"{"source_event_id":"a","source_event_id":"a","device_id":"b","message":"c"}"#,
        "events.jsonl, line 4: member \"source_event_id\" is given twice",
    );
    check(event(""), "events.jsonl, line 4: source_event_id is empty; an event needs an id");
    check(
        event(&"i".repeat(1_025)),
        "events.jsonl, line 4: source_event_id has 1025 bytes; at most 1024 are allowed",
    );
    check(
        event("a").replace("\"d\"", &format!("\"{}\"", "d".repeat(1_025))),
        "events.jsonl, line 4: device_id has 1025 bytes; at most 1024 are allowed",
    );
    check(
        event("a").replace("é", &"é".repeat(32_768)),
        "events.jsonl, line 4: message has 65540 bytes; at most 65536 are allowed",
    );
    check(
        event("a\\u0000"),
        "events.jsonl, line 4: source_event_id holds a NUL character, which not every store can keep",
    );
    check(
        event("a\0"),
        "events.jsonl, line 4, column 22: is not JSON: \
         control character (\\u0000-\\u001F) found while parsing a string",
    );
    check(b"{\"x\xff", "events.jsonl, line 4, column 4: is not UTF-8");
    check("x".repeat(2 << 20), "events.jsonl, line 4: is longer than 1048576 bytes");
}

#[test]
fn a_bad_first_line_is_an_error_of_the_stream_and_not_of_opening() {
    let folder = Folder::new("bad\n");
    let error = next(&mut folder.open()).unwrap_err();
    assert_eq!(
        folder.message(&error),
        "events.jsonl, line 1, column 1: is not JSON: expected value"
    );
}

#[test]
fn a_stream_that_cannot_be_read_on_says_why() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the cable is cut"))
        }
    }

    let start = lines(&["a"]) + "{\"source_event_id\"";
    let mut source = read(io::Cursor::new(start).chain(Broken));
    assert_eq!(take(&mut source, 1), ["a"]);
    for _ in 0..2 {
        let error = next(&mut source).unwrap_err();
        assert_eq!(error.to_string(), "events.jsonl cannot be read any further");
        assert_eq!(error.source().unwrap().to_string(), "the cable is cut");
    }
}

#[test]
fn a_read_that_a_signal_interrupts_is_made_again() {
    struct Interrupted(bool, io::Cursor<String>);
    impl Read for Interrupted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 = !self.0;
            if self.0 { Err(ErrorKind::Interrupted.into()) } else { self.1.read(buffer) }
        }
    }

    let source = Interrupted(false, io::Cursor::new(lines(&["a", "b"])));
    assert_eq!(rest(&mut read(source)), (vec!["a".to_owned(), "b".to_owned()], None));
}

#[test]
fn an_event_comes_as_soon_as_its_line_is_whole() {
    let (sender, pieces) = mpsc::channel();
    let mut source = read(Pipe(pieces));
    for id in ["a", "b"] {
        let (start, end) = (event(id), "\n");
        sender.send(start.into_bytes()).unwrap();
        sender.send(end.into()).unwrap();
        assert_eq!(take(&mut source, 1), [id]);
    }
    sender.send(event("c").into_bytes()).unwrap();
    drop(sender);
    assert_eq!(rest(&mut source), (vec!["c".to_owned()], None));
}

#[test]
fn dropping_next_loses_no_event() {
    let (sender, pieces) = mpsc::channel();
    let mut source = read(Pipe(pieces));
    let mut ids = Vec::new();
    for id in ["a", "b", "c"] {
        run(async {
            // Polled once, with nothing to give, and dropped.
            tokio::select! {
                biased;
                received = source.next() => panic!("{received:?}"),
                () = std::future::ready(()) => {}
            }
        });
        sender.send(lines(&[id]).into_bytes()).unwrap();
        // Dropped at once again and again, until the event has come.
        while ids.last().is_none_or(|last| last != id) {
            let received = run(async {
                tokio::select! {
                    biased;
                    received = source.next() => Some(received),
                    () = tokio::task::yield_now() => None,
                }
            });
            ids.extend(received.map(|received| received.unwrap().unwrap().event.id().to_owned()));
        }
    }
    assert_eq!(ids, ["a", "b", "c"]);
}

/// A stream without end that counts what is read of it, and tells when it is dropped.
struct Endless {
    line: Vec<u8>,
    read: Arc<AtomicUsize>,
    _dropped: mpsc::Sender<()>,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len() / self.line.len() * self.line.len();
        for slot in buffer[..count].chunks_exact_mut(self.line.len()) {
            slot.copy_from_slice(&self.line);
        }
        self.read.fetch_add(count, Ordering::SeqCst);
        Ok(count)
    }
}

#[test]
fn the_reader_runs_ahead_of_the_consumer_by_a_bounded_number_of_bytes() {
    let read_bytes = Arc::new(AtomicUsize::new(0));
    let (dropped, gone) = mpsc::channel();
    let line = lines(&["a"]).into_bytes();
    let mut source = read(Endless { line, read: Arc::clone(&read_bytes), _dropped: dropped });
    for _ in 0..20_000 {
        let byte = usize::try_from(next(&mut source).unwrap().unwrap().offset.byte).unwrap();
        let ahead = read_bytes.load(Ordering::SeqCst) - byte;
        assert!(ahead <= 512 << 10, "{ahead} bytes ahead");
    }
    // Nobody takes the rest: the thread ends and lets go of its stream.
    drop(source);
    assert_eq!(gone.recv_timeout(GUARD), Err(mpsc::RecvTimeoutError::Disconnected));
}

#[test]
fn a_stream_without_a_checkpoint_accepts_and_forgets_acknowledgements() {
    let mut source = read(io::Cursor::new(lines(&["a"])));
    let received = next(&mut source).unwrap().unwrap();
    run(source.ack(&received)).unwrap();
    run(source.flush()).unwrap();
    assert_eq!(
        (source.name(), source.checkpoint(), source.resumed()),
        ("events.jsonl", None, None)
    );
}

/// The counts stand in the README beside the file, and others rely on them.
#[test]
fn the_sample_events_are_as_many_as_their_readme_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/events.jsonl");
    let (ids, error) = rest(&mut read(fs::File::open(path).unwrap()));
    let distinct: std::collections::HashSet<&String> = ids.iter().collect();
    assert_eq!((ids.len(), distinct.len(), error), (1_200, 1_026, None));
}
