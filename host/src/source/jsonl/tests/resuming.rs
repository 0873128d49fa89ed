//! What is acknowledged stays so, and what is not comes again.

use super::*;

/// A byte-order mark, both line ends, blank lines, and a last line without its end.
fn mixed() -> String {
    let [a, b, c, d] = ["a", "b", "c", "d"].map(event);
    format!("\u{feff}\r\n{a}\r\n\n{b}\n \t\n{c}\r\n{d}")
}

#[test]
fn a_checkpoint_behind_any_event_resumes_exactly_there() {
    let mut whole = Vec::new();
    let mut source = Folder::new(mixed()).open();
    while let Some(received) = next(&mut source).unwrap() {
        whole.push(received);
    }
    assert_eq!(whole.iter().map(|received| received.offset.line).collect::<Vec<_>>(), [2, 4, 6, 7]);

    for count in 0..=whole.len() {
        let folder = Folder::new(mixed());
        folder.consume(count);
        let mut source = folder.open();
        let resumed = count.checked_sub(1).map(|last| whole[last].offset);
        assert_eq!(source.resumed(), resumed);
        for expected in &whole[count..] {
            assert_eq!(next(&mut source).unwrap().as_ref(), Some(expected));
        }
        assert_eq!(next(&mut source).unwrap(), None);
    }
}

#[test]
fn without_an_acknowledgement_nothing_is_left_beside_the_events() {
    let folder = Folder::new(lines(&["a"]));
    let mut source = folder.open();
    assert_eq!(folder.names(), ["events.jsonl", "events.jsonl.checkpoint.lock"]);
    assert_eq!(take(&mut source, 1), ["a"]);
    run(source.flush()).unwrap();
    drop(source);
    assert_eq!(folder.names(), ["events.jsonl"]);

    folder.consume(1);
    assert_eq!(folder.names(), ["events.jsonl", "events.jsonl.checkpoint"]);
}

/// A crash may lose the newest checkpoint: the one before it counts again.
#[test]
fn a_stale_checkpoint_delivers_again_and_skips_nothing() {
    let folder = Folder::new(lines(&["a", "b", "c", "d"]));
    let checkpoint = folder.path("events.jsonl.checkpoint");
    folder.consume(1);
    let stale = fs::read(&checkpoint).unwrap();
    folder.consume(2);
    assert_eq!(take(&mut folder.open(), 1), ["d"]);

    fs::write(&checkpoint, stale).unwrap();
    // What the crash may have left of the newer one is not read.
    fs::write(folder.path("events.jsonl.checkpoint.tmp"), "{\"version\":1,").unwrap();
    assert_eq!(take(&mut folder.open(), 3), ["b", "c", "d"]);

    fs::remove_file(&checkpoint).unwrap();
    assert_eq!(take(&mut folder.open(), 4), ["a", "b", "c", "d"]);
}

#[test]
fn what_was_delivered_and_not_acknowledged_comes_again() {
    let folder = Folder::new(lines(&["a", "b", "c"]));
    let mut source = folder.open();
    let first = next(&mut source).unwrap().unwrap();
    assert_eq!(take(&mut source, 2), ["b", "c"]);
    run(source.ack(&first)).unwrap();
    run(source.flush()).unwrap();
    drop(source);
    assert_eq!(take(&mut folder.open(), 2), ["b", "c"]);
}

#[test]
fn a_file_that_was_appended_to_is_read_on() {
    let folder = Folder::new(lines(&["a"]));
    folder.consume(1);
    folder.append(lines(&["b"]));
    folder.consume(1);
    folder.append("\r\n\r\n".to_owned() + &event("c"));
    let mut source = folder.open();
    let received = next(&mut source).unwrap().unwrap();
    assert_eq!((received.event.id(), received.offset.line), ("c", 5));
    assert_eq!(next(&mut source).unwrap(), None);
}

#[test]
fn a_last_line_may_get_its_end_after_its_event_was_acknowledged() {
    for end in ["\n", "\r\n"] {
        let folder = Folder::new(lines(&["a"]) + &event("b"));
        folder.consume(2);
        folder.append(end.to_owned() + &lines(&["c"]));
        let received = next(&mut folder.open()).unwrap().unwrap();
        assert_eq!((received.event.id(), received.offset.line), ("c", 3));
    }
}

#[test]
fn a_last_line_may_not_go_on_after_its_event_was_acknowledged() {
    let folder = Folder::new(lines(&["a"]) + &event("b"));
    folder.consume(2);
    folder.append(" \t".to_owned() + &lines(&["c"]));
    let error = next(&mut folder.open()).unwrap_err();
    assert_eq!(
        folder.message(&error),
        "events.jsonl, line 2: goes on behind the event that was delivered from it",
    );
}

#[test]
fn a_bad_line_is_told_with_its_number_after_resuming_and_may_be_corrected() {
    let folder = Folder::new(lines(&["a", "b"]) + "\nbad\n" + &lines(&["c"]));
    folder.consume(2);
    let error = next(&mut folder.open()).unwrap_err();
    assert_eq!(
        folder.message(&error),
        "events.jsonl, line 4, column 1: is not JSON: expected value"
    );
    fs::write(&folder.events, lines(&["a", "b"]) + "\n" + &lines(&["x", "c"])).unwrap();
    assert_eq!(rest(&mut folder.open()), (vec!["x".to_owned(), "c".to_owned()], None));
}

#[test]
fn a_checkpoint_may_be_kept_elsewhere_and_behind_a_link() {
    let folder = Folder::new(lines(&["a", "b"]));
    fs::create_dir(folder.path("state")).unwrap();
    fs::write(folder.path("state/checkpoint"), "").unwrap();
    std::os::unix::fs::symlink("state/checkpoint", folder.path("link")).unwrap();
    fs::remove_file(folder.path("state/checkpoint")).unwrap();

    let at = |name: &str| Options { checkpoint: Some(folder.path(name)), follow: false };
    let mut source = folder.try_open(&at("state/checkpoint")).unwrap();
    assert_eq!(source.checkpoint(), Some(folder.path("state/checkpoint").as_path()));
    let received = next(&mut source).unwrap().unwrap();
    run(source.ack(&received)).unwrap();
    run(source.flush()).unwrap();
    drop(source);

    let mut source = folder.try_open(&at("link")).unwrap();
    let received = next(&mut source).unwrap().unwrap();
    assert_eq!(received.event.id(), "b");
    run(source.ack(&received)).unwrap();
    run(source.flush()).unwrap();
    drop(source);
    assert_eq!(rest(&mut folder.try_open(&at("state/checkpoint")).unwrap()), (vec![], None));
    assert!(folder.path("link").is_symlink());
    assert_eq!(folder.names(), ["events.jsonl", "link", "state"]);
}

#[test]
fn a_checkpoint_that_cannot_be_written_any_more_is_told_at_every_acknowledgement() {
    let folder = Folder::new(lines(&["a", "b"]));
    let mut source = folder.open();
    fs::create_dir(folder.path("events.jsonl.checkpoint.tmp")).unwrap();
    let received = next(&mut source).unwrap().unwrap();
    run(source.ack(&received)).unwrap();
    for _ in 0..2 {
        for answer in [run(source.flush()), run(source.ack(&received))] {
            let error = answer.unwrap_err();
            assert_eq!(
                folder.message(&error),
                "the checkpoint events.jsonl.checkpoint could not be written",
            );
            let SourceError::Checkpoint { source, .. } = error else { panic!("{error:?}") };
            assert_eq!(source.kind(), ErrorKind::IsADirectory);
        }
    }
}

#[test]
fn an_events_file_that_was_cut_while_it_was_read_is_not_acknowledged() {
    let folder = Folder::new(lines(&["a", "b"]));
    let mut source = folder.open();
    let received = next(&mut source).unwrap().unwrap();
    fs::write(&folder.events, "").unwrap();
    run(source.ack(&received)).unwrap();
    assert!(run(source.flush()).is_err());
    drop(source);
    assert_eq!(folder.open().resumed(), None);
}
