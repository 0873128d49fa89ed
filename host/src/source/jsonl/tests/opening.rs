//! What is refused before the first event is delivered.

use std::os::unix::fs::symlink;

use super::*;
use crate::store::ErrorClass;

/// Opens the folder's events after `change` and compares the error.
#[track_caller]
fn check(folder: &Folder, change: impl FnOnce(&Folder), expected: &str) -> OpenError {
    change(folder);
    let error = folder.try_open(&Options::default()).unwrap_err();
    assert_eq!(folder.message(&error), expected);
    assert!(!expected.contains('\n') && !error.advice().is_empty());
    error
}

/// A file of four events of which two are acknowledged: 122 of 244 bytes.
fn half_done() -> Folder {
    let folder = Folder::new(lines(&["a", "b", "c", "d"]));
    folder.consume(2);
    folder
}

#[test]
fn an_events_file_that_cannot_be_read_is_refused() {
    let remove = |folder: &Folder| fs::remove_file(&folder.events).unwrap();
    check(&Folder::new(""), remove, "there is no events file events.jsonl");
    check(
        &Folder::new(""),
        |folder| {
            remove(folder);
            fs::create_dir(&folder.events).unwrap();
        },
        "the events file events.jsonl is a folder, not a regular file",
    );
    check(
        &Folder::new(""),
        |folder| {
            remove(folder);
            symlink("/dev/null", &folder.events).unwrap();
        },
        "the events file events.jsonl is a pipe or a device, not a regular file",
    );
    let error = check(
        &Folder::new(""),
        |folder| {
            remove(folder);
            symlink("events.jsonl", &folder.events).unwrap();
        },
        "the events file events.jsonl cannot be read",
    );
    assert!(error.source().is_some());
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_refused_before_the_first_event() {
    let folder = Folder::new(lines(&["a"]));
    for place in ["none/checkpoint", "events.jsonl/checkpoint"] {
        let options = Options { checkpoint: Some(folder.path(place)), follow: false };
        let error = folder.try_open(&options).unwrap_err();
        assert_eq!(folder.message(&error), format!("the checkpoint {place} cannot be written"));
        assert!(error.source().is_some());
    }
    check(
        &folder,
        |folder| fs::create_dir(folder.path("events.jsonl.checkpoint.tmp")).unwrap(),
        "the checkpoint events.jsonl.checkpoint cannot be written",
    );
}

#[test]
fn a_checkpoint_that_cannot_be_read_is_refused() {
    let error = check(
        &Folder::new(lines(&["a"])),
        |folder| fs::create_dir(folder.path("events.jsonl.checkpoint")).unwrap(),
        "the checkpoint events.jsonl.checkpoint cannot be read",
    );
    assert!(error.source().is_some());
}

#[test]
fn a_damaged_checkpoint_is_refused_with_both_ways_out() {
    let error = check(
        &half_done(),
        |folder| fs::write(folder.path("events.jsonl.checkpoint"), "{\"version\":7}").unwrap(),
        "the checkpoint events.jsonl.checkpoint is damaged: \
         it has version 7; this program reads version 1",
    );
    assert_eq!(
        error.advice(),
        "restore the checkpoint, or delete it to deliver everything again \
         (events already applied are answered already-applied)",
    );
}

#[test]
fn a_checkpoint_that_is_in_use_is_refused() {
    let folder = half_done();
    let first = folder.open();
    check(&folder, |_| (), "the checkpoint events.jsonl.checkpoint is in use by another consumer");
    drop(first);
    folder.open();
}

/// Following the advice to delete a damaged checkpoint would delete the events.
#[test]
fn the_events_file_is_refused_as_its_own_checkpoint() {
    let folder = Folder::new(lines(&["a"]));
    symlink("events.jsonl", folder.path("link")).unwrap();
    for place in ["events.jsonl", "link"] {
        let options = Options { checkpoint: Some(folder.path(place)), follow: false };
        let error = folder.try_open(&options).unwrap_err();
        assert_eq!(
            folder.message(&error),
            "events.jsonl is given as the events file and as the checkpoint",
        );
    }
}

#[test]
fn an_events_file_other_than_the_checkpoints_is_refused_with_both_ways_out() {
    let cut = check(
        &half_done(),
        |folder| fs::write(&folder.events, lines(&["a"])).unwrap(),
        "the events file events.jsonl has 61 bytes, but its checkpoint stands at byte 122: \
         the file was truncated or replaced",
    );
    let replaced = check(
        &half_done(),
        |folder| fs::write(&folder.events, lines(&["a", "x", "c"])).unwrap(),
        "the events file events.jsonl is not the one its checkpoint was written for: \
         its content before byte 122 differs",
    );
    for error in [cut, replaced] {
        assert_eq!(
            error.advice(),
            "restore the events file that belongs to the checkpoint, \
             or delete the checkpoint to deliver this file from its start \
             (events already applied are answered already-applied)",
        );
    }
}

#[test]
fn a_checkpoint_inside_a_line_is_refused() {
    let folder = Folder::new(lines(&["a"]) + &event("b"));
    folder.consume(2);
    check(
        &folder,
        |folder| folder.append(event("c")),
        "the checkpoint of the events file events.jsonl stands at byte 121, \
         which is inside line 2",
    );
}

#[test]
fn a_checkpoint_of_another_or_an_older_database_is_refused_with_both_ways_out() {
    let folder = half_done();
    let open = |id: &str, is_marked: &mut dyn FnMut(&str) -> Result<bool, StoreError>| {
        JsonLines::open(&folder.events, &Options::default(), Database { id, is_marked })
    };
    let other = open("database-2", &mut |_| Ok(true)).unwrap_err();
    assert_eq!(
        folder.message(&other),
        "the checkpoint events.jsonl.checkpoint belongs to the database with id \"database-1\", \
         but this one has id \"database-2\"",
    );
    let mut asked = Vec::new();
    let older = open("database-1", &mut |id| {
        asked.push(id.to_owned());
        Ok(false)
    });
    let older = older.unwrap_err();
    assert_eq!(
        folder.message(&older),
        "the checkpoint events.jsonl.checkpoint says that event \"b\" (line 2) was applied, \
         but the database has no marker of it: it is older than the checkpoint",
    );
    assert_eq!(asked, ["b"]);
    for error in [other, older] {
        assert_eq!(
            error.advice(),
            "restore the database that belongs to the checkpoint, \
             or delete the checkpoint to deliver everything again \
             (events already applied are answered already-applied)",
        );
    }
    // Nothing of that has touched the checkpoint.
    assert_eq!(take(&mut open("database-1", &mut |_| Ok(true)).unwrap(), 2), ["c", "d"]);
}

#[test]
fn a_database_that_does_not_answer_is_told_with_its_own_error() {
    let folder = half_done();
    let busy = StoreError::new(ErrorClass::Busy, "the database is locked");
    let given = busy.clone();
    let is_marked = &mut move |_: &str| Err(given.clone());
    let database = Database { id: "database-1", is_marked };
    let error = JsonLines::open(&folder.events, &Options::default(), database).unwrap_err();
    assert_eq!(error.to_string(), "the database could not be asked for the marker of event \"b\"",);
    assert!(error.source().unwrap().downcast_ref::<StoreError>().unwrap().is(&busy));
}

#[test]
fn without_a_checkpoint_the_database_is_not_asked() {
    let folder = Folder::new(lines(&["a"]));
    let is_marked = &mut |_: &str| panic!("asked");
    let database = Database { id: "database-1", is_marked };
    let mut source = JsonLines::open(&folder.events, &Options::default(), database).unwrap();
    assert_eq!(take(&mut source, 1), ["a"]);
}
