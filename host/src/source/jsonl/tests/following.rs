//! Waiting for more of a file.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::thread;

use super::super::follow::Follow;
use super::*;

/// Reads an open file, and tells each time its end is met. The thread that reads has ended once
/// nobody is left to tell it.
struct Told {
    file: File,
    ends: mpsc::Sender<()>,
}

impl Read for Told {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        if count == 0 {
            let _ = self.ends.send(());
        }
        Ok(count)
    }
}

/// What ends the wait at the end of a file: the one never stands in for the other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Watching,
    Polling,
    /// Neither: only being woken does.
    Waking,
}

/// Follows the folder's events without a checkpoint.
fn follow(folder: &Folder, by: By) -> (JsonLines, mpsc::Receiver<()>) {
    let (ends, met) = mpsc::channel();
    let file = File::open(&folder.events).unwrap();
    let name: Arc<str> = "events.jsonl".into();
    let mut follow = Follow::start(Arc::clone(&name), &folder.events, file.try_clone().unwrap());
    assert!(follow.watcher.is_some(), "temporary folders can be watched");
    if by != By::Watching {
        follow.watcher = None;
    }
    follow.poll = if by == By::Polling { Duration::from_millis(1) } else { 10 * GUARD };
    let stream =
        Stream { name, input: Told { file, ends }, lines: Lines::default(), follow: Some(follow) };
    (JsonLines::start(stream, None, None).unwrap(), met)
}

/// Waits until the thread that reads has ended.
#[track_caller]
fn ended(met: &mpsc::Receiver<()>) {
    let mut next = Ok(());
    while next.is_ok() {
        next = met.recv_timeout(GUARD);
    }
    assert_eq!(next, Err(mpsc::RecvTimeoutError::Disconnected));
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
    let (mut source, _) = follow(&folder, By::Polling);
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
    run(source.ack(&received)).unwrap();
    run(source.flush()).unwrap();
    drop(source);
    assert_eq!(folder.open().resumed(), Some(received.offset));
}

#[test]
fn a_file_behind_a_link_is_followed() {
    let folder = Folder::new(lines(&["a"]));
    fs::create_dir(folder.path("elsewhere")).unwrap();
    fs::rename(&folder.events, folder.path("elsewhere/data")).unwrap();
    symlink("elsewhere/data", &folder.events).unwrap();
    let (mut source, _) = follow(&folder, By::Watching);
    for id in ["b", "c"] {
        assert_eq!(take(&mut source, 1).len(), 1);
        folder.append(lines(&[id]));
    }
    assert_eq!(take(&mut source, 1), ["c"]);
}

/// Changes a file that has been read to its end and compares what comes of it.
#[track_caller]
fn check(change: impl Fn(&Folder), ids: &[&str], expected: &str) {
    for by in [By::Watching, By::Polling] {
        let folder = Folder::new(lines(&["a", "b"]));
        let (mut source, met) = follow(&folder, by);
        assert_eq!(take(&mut source, 2), ["a", "b"]);
        change(&folder);
        assert_eq!(take(&mut source, ids.len()), ids);
        for _ in 0..2 {
            let error = next(&mut source).unwrap_err();
            assert_eq!(error.to_string(), expected);
            assert!(!error.advice().is_empty());
        }
        ended(&met);
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
    let folder = Folder::new(lines(&["a"]));
    // At many a moment before and in its wait.
    for moment in 0..200 {
        let (source, met) = follow(&folder, By::Waking);
        met.recv_timeout(GUARD).unwrap();
        for _ in 0..moment {
            thread::yield_now();
        }
        drop(source);
        ended(&met);
    }
}
