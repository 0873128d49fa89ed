#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use crate::event::{Alert, Event};

fn last(byte: u64) -> Received {
    let event = Event::new(Alert::new("réading \"1\"", "", "")).unwrap();
    Received { event, offset: Offset { byte, line: 7 } }
}

/// A file in a folder of its own.
fn file(content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    fs::write(&path, content).unwrap();
    (folder, path)
}

fn checkpoint(content: &[u8], byte: u64) -> Checkpoint {
    let (_folder, path) = file(content);
    Checkpoint::new(&File::open(path).unwrap(), &last(byte), "database-1".to_owned()).unwrap()
}

fn names(folder: &Path) -> Vec<OsString> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn what_is_saved_is_loaded_and_nothing_else_is_left() {
    let (folder, path) = file(b"");
    let saved = checkpoint(b"0123456789", 8);
    let place = Place::open(&path).unwrap();
    for _ in 0..2 {
        place.save(&saved).unwrap();
        assert_eq!(Checkpoint::load(&path).unwrap(), Some(saved.clone()));
        assert_eq!(names(folder.path()), ["events.jsonl"]);
    }
    assert_eq!((saved.offset(), saved.event_id.as_str()), (last(8).offset, last(8).event.id()));
    assert_eq!(saved.database, "database-1");
}

#[test]
fn the_format_is_the_documented_one() {
    // The hashes are those that `sha256sum` gives for the same bytes.
    let digest = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882";
    assert_eq!(
        serde_json::to_value(checkpoint(b"0123456789later", 10)).unwrap(),
        serde_json::json!({
            "version": 1,
            "byte": 10,
            "line": 7,
            "event_id": "réading \"1\"",
            "database": "database-1",
            "first": digest,
            "last": digest,
        }),
    );
}

#[test]
fn trying_a_place_leaves_the_checkpoint_that_is_there() {
    let (folder, path) = file(b"the one before");
    fs::write(beside(&path, ".tmp"), "half of one, left by a cra").unwrap();
    Place::open(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"the one before");
    assert_eq!(names(folder.path()), ["events.jsonl"]);
}

#[test]
fn a_crash_before_the_rename_leaves_the_checkpoint_before() {
    let (_folder, path) = file(b"");
    let (before, after) = (checkpoint(b"0123456789", 7), checkpoint(b"0123456789", 8));
    let place = Place::open(&path).unwrap();
    place.save(&before).unwrap();
    // As far as a crash may let a write come without its rename.
    let text = serde_json::to_vec_pretty(&after).unwrap();
    for written in [0, text.len() / 2, text.len()] {
        fs::write(&place.temporary, &text[..written]).unwrap();
        assert_eq!(Checkpoint::load(&path).unwrap(), Some(before.clone()));
    }
    Place::open(&path).unwrap().save(&after).unwrap();
    assert_eq!(Checkpoint::load(&path).unwrap(), Some(after));
}

#[test]
fn a_place_that_cannot_be_written_is_refused() {
    let (folder, path) = file(b"");
    for place in [folder.path().join("none/checkpoint"), path.join("checkpoint")] {
        assert!(Place::open(&place).is_err(), "{}", place.display());
    }
    fs::create_dir(beside(&path, ".tmp")).unwrap();
    assert!(Place::open(&path).is_err());
}

/// Compares a checkpoint at `byte` of `made` with the file `found`.
#[track_caller]
fn check_fits(made: &[u8], byte: u64, found: &[u8], expected: bool) {
    let (_folder, path) = file(found);
    let fits = checkpoint(made, byte).fits(&File::open(path).unwrap()).unwrap();
    assert_eq!(fits, expected);
}

#[test]
fn a_file_fits_as_long_as_its_acknowledged_ends_are_the_same() {
    let made: Vec<u8> = (0..20_000_u32).map(|index| (index % 251) as u8).collect();
    let changed = |at: usize| {
        let mut found = made.clone();
        found[at] ^= 1;
        found
    };
    let appended = [&made[..], b"more"].concat();
    for byte in [1, 100, 4_095, 4_096, 4_097, 8_192, 10_000, 20_000] {
        let end = usize::try_from(byte).unwrap();
        check_fits(&made, byte, &made, true);
        check_fits(&made, byte, &appended, true);
        check_fits(&made, byte, &made[..end], true);
        check_fits(&made, byte, &changed(0), false);
        check_fits(&made, byte, &changed(end.min(4_096) - 1), false);
        check_fits(&made, byte, &changed(end.saturating_sub(4_096)), false);
        check_fits(&made, byte, &changed(end - 1), false);
        if end < made.len() {
            check_fits(&made, byte, &changed(end), true);
        }
    }
}

#[test]
fn a_file_that_has_become_too_short_gives_no_checkpoint() {
    let (_folder, path) = file(b"0123");
    let file = File::open(path).unwrap();
    assert!(Checkpoint::new(&file, &last(5), String::new()).is_err());
    assert!(checkpoint(b"0123456789", 5).fits(&file).is_err());
}

#[test]
fn a_damaged_checkpoint_says_what_is_wrong_with_it() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let (_folder, path) = file(text.as_bytes());
        let error = Checkpoint::load(&path).unwrap_err();
        let LoadError::Damaged(problem) = error else { panic!("{error:?}") };
        assert_eq!(problem, expected, "{text}");
    }

    let good = serde_json::to_string(&checkpoint(b"0123456789", 10)).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from));
        good.replace(from, to)
    };
    check("", "cannot be parsed: EOF while parsing a value at line 1 column 0");
    check("hello", "cannot be parsed: expected value at line 1 column 1");
    check(&good[..20], "cannot be parsed: EOF while parsing a value at line 1 column 20");
    check("[]", "cannot be parsed: invalid type: sequence, expected a map at line 1 column 0");
    check(
        &changed("\"version\":1", "\"version\":2"),
        "has version 2; this program reads version 1",
    );
    check("{\"version\":2}", "has version 2; this program reads version 1");
    check("{\"version\":\"1\"}", "has version \"1\"; this program reads version 1");
    check("{\"byte\":2}", "has no version");
    check("{\"version\":1}", "cannot be parsed: missing field `byte`");
    check(
        &changed("\"version\":1", "\"version\":1,\"x\":2"),
        "cannot be parsed: unknown field `x`, expected one of `version`, `byte`, `line`, \
         `event_id`, `database`, `first`, `last`",
    );
    check(&changed("\"line\":7", "\"line\":0"), "has 0 lines in 10 bytes");
    check(&changed("\"line\":7", "\"line\":11"), "has 11 lines in 10 bytes");
    check(&changed("\"byte\":10", "\"byte\":0"), "has 7 lines in 0 bytes");
    check(&" ".repeat(65_537), "is longer than 65536 bytes");
}
