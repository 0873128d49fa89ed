//! Waiting for more of a file.

use std::fs::File;
use std::os::unix::fs::symlink;

use super::super::follow::Follow;
use super::*;

/// Reads an open file, and tells when the thread that does has ended.
struct Told {
    file: File,
    _ended: mpsc::Sender<()>,
}

impl Read for Told {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

/// Follows the folder's events without a checkpoint, watching them or only polling.
fn follow(folder: &Folder, watched: bool) -> (JsonLines, mpsc::Receiver<()>) {
    let (ended, end) = mpsc::channel();
    let file = File::open(&folder.events).unwrap();
    let name: Arc<str> = "events.jsonl".into();
    let mut follow = Follow::start(Arc::clone(&name), &folder.events, file.try_clone().unwrap());
    assert!(follow.watcher.is_some(), "temporary folders can be watched");
    if !watched {
        follow.watcher = None;
    }
    let input = Told { file, _ended: ended };
    let stream = Stream { name, input, lines: Lines::default(), follow: Some(follow) };
    (JsonLines::start(stream, None, None).unwrap(), end)
}

#[test]
fn lines_come_whole_in_whatever_pieces_they_are_written() {
    let folder = Folder::new("\u{feff}\r\n");
    let mut source = folder.follow();
    let line = event("x") + "\r\n";
    for cut in 0..line.len() {
        let (start, end) = line.as_bytes().split_at(cut);
        folder.append(start);
        folder.append(end);
        assert_eq!(take(&mut source, 1), ["x"], "cut at {cut}");
    }
    for byte in line.bytes() {
        folder.append([byte]);
    }
    let received = next(&mut source).unwrap().unwrap();
    assert_eq!(received.offset.line, 2 + line.len() as u64);
    assert_eq!(received.offset.byte, fs::metadata(&folder.events).unwrap().len());
}

#[test]
fn a_file_that_cannot_be_watched_is_followed_by_polling() {
    let folder = Folder::new(lines(&["a"]));
    let (mut source, _end) = follow(&folder, false);
    for id in ["b", "c"] {
        assert_eq!(take(&mut source, 1).len(), 1);
        folder.append(event(id));
        folder.append("\n");
    }
    assert_eq!(take(&mut source, 1), ["c"]);
}

#[test]
fn a_last_line_without_its_end_is_not_yet_an_event() {
    let folder = Folder::new(lines(&["a"]) + &event("b"));
    let mut source = folder.follow();
    assert_eq!(take(&mut source, 1), ["a"]);
    run(async {
        tokio::select! {
            biased;
            received = source.next() => panic!("{received:?}"),
            () = tokio::task::yield_now() => {}
        }
    });
    folder.append("  \n");
    let received = next(&mut source).unwrap().unwrap();
    assert_eq!(received.offset.byte, fs::metadata(&folder.events).unwrap().len());
}

#[test]
fn following_resumes_behind_an_event_whose_line_end_is_still_to_come() {
    let folder = Folder::new(lines(&["a"]) + &event("b"));
    folder.consume(2);
    let mut source = folder.follow();
    for piece in ["\r", "\n", &event("c"), "\n"] {
        folder.append(piece);
    }
    let received = next(&mut source).unwrap().unwrap();
    assert_eq!((received.event.id(), received.offset.line), ("c", 3));
    run(source.ack(&received.offset)).unwrap();
    run(source.flush()).unwrap();
    drop(source);
    assert_eq!(folder.open().resumed(), Some(&received.offset));
}

#[test]
fn a_file_behind_a_link_is_followed() {
    let folder = Folder::new(lines(&["a"]));
    fs::create_dir(folder.path("elsewhere")).unwrap();
    fs::rename(&folder.events, folder.path("elsewhere/data")).unwrap();
    symlink("elsewhere/data", &folder.events).unwrap();
    let mut source = folder.follow();
    assert_eq!(take(&mut source, 1), ["a"]);
    folder.append(lines(&["b"]));
    assert_eq!(take(&mut source, 1), ["b"]);
}

/// Changes a file that has been read to its end and compares what comes of it.
#[track_caller]
fn check(change: impl Fn(&Folder), ids: &[&str], expected: &str) {
    for watched in [true, false] {
        let folder = Folder::new(lines(&["a", "b"]));
        let (mut source, end) = follow(&folder, watched);
        assert_eq!(take(&mut source, 2), ["a", "b"]);
        change(&folder);
        assert_eq!(take(&mut source, ids.len()), ids);
        for _ in 0..2 {
            let error = next(&mut source).unwrap_err();
            assert_eq!(error.to_string(), expected);
            assert!(!error.advice().is_empty());
        }
        assert_eq!(end.recv_timeout(GUARD), Err(mpsc::RecvTimeoutError::Disconnected));
    }
}

#[test]
fn a_file_that_shrinks_is_not_read_on() {
    check(
        |folder| File::options().write(true).open(&folder.events).unwrap().set_len(61).unwrap(),
        &[],
        "events.jsonl shrank to 61 bytes after 122 bytes of it had been read",
    );
}

#[test]
fn a_file_that_is_replaced_is_read_to_its_end_and_no_further() {
    check(
        |folder| {
            folder.append(lines(&["c"]));
            fs::write(folder.path("new"), lines(&["a", "b", "c", "d"])).unwrap();
            fs::rename(folder.path("new"), &folder.events).unwrap();
        },
        &["c"],
        "events.jsonl was removed or replaced while it was followed",
    );
}

#[test]
fn a_file_that_is_removed_or_renamed_is_read_to_its_end() {
    check(
        |folder| {
            folder.append(lines(&["c"]));
            fs::rename(&folder.events, folder.path("events.jsonl.1")).unwrap();
        },
        &["c"],
        "events.jsonl was removed or replaced while it was followed",
    );
    check(
        |folder| fs::remove_file(&folder.events).unwrap(),
        &[],
        "events.jsonl was removed or replaced while it was followed",
    );
}

#[test]
fn dropping_the_source_ends_the_thread_that_waits() {
    for watched in [true, false] {
        let folder = Folder::new(lines(&["a"]));
        let (mut source, end) = follow(&folder, watched);
        assert_eq!(take(&mut source, 1), ["a"]);
        drop(source);
        assert_eq!(end.recv_timeout(GUARD), Err(mpsc::RecvTimeoutError::Disconnected));
    }
}
