//! What cannot start: code 2, what is wrong, and the ways out; nothing is touched.

use tests::program::{Desk, Ran, line};

/// Runs on a desk that has events, and checks code 2 and the message.
fn check(desk: &Desk, arguments: &str, told: &str) {
    let Ran { code, stdout, stderr } = desk.run(arguments);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments}: {stderr}");
    assert!(stderr.contains(told), "{arguments}:\n{stderr}\nand not\n{told}");
}

fn desk() -> Desk {
    let desk = Desk::default();
    desk.write("e", line("a") + &line("b"));
    desk.write("text", "hello, this is no database and no component, only a text of some length\n");
    desk
}

#[test]
fn arguments_that_are_missing_or_contradict_are_refused() {
    let desk = desk();
    for (arguments, told) in [
        ("", "Usage:"),
        ("run", "--events"),
        ("run --events e --deadline 0", "1..=3600000"),
        ("run --events e --busy-timeout 3600001", "0..=3600000"),
        ("run --events - --checkpoint c", "--checkpoint needs an events file"),
        ("run --events - --follow", "--follow needs an events file"),
        ("run --events e --trace - --format json", "both write to standard output"),
        ("run --events e --database a.db --trace no/t", "the trace no/t cannot be made"),
    ] {
        check(&desk, arguments, told);
    }
}

#[test]
fn a_file_that_is_not_what_it_should_be_is_refused() {
    let desk = desk();
    for (arguments, told) in [
        ("run --events no --database a.db", "next: check the path, or create the file first"),
        ("run --events . --database a.db", "next: give a regular file"),
        ("run --events e --guest no.wasm", "the guest no.wasm cannot be read"),
        ("run --events e --guest .", ". is a folder; a guest is a file"),
        ("run --events e --guest text", "text is not a guest: it is not WebAssembly"),
        ("run --events e --database .", "is a folder; give the path of a file"),
        ("run --events e --database no/a.db", "create \"DESK/no\" first"),
        ("run --events e --database text", "is not a SQLite database; give another path"),
        ("run --events e --database a.db --checkpoint no/c", "checkpoint"),
        (
            "run --events e --database a.db --checkpoint e",
            "e is given as the events file and as the checkpoint",
        ),
    ] {
        check(&desk, arguments, told);
    }
    assert_eq!(
        std::fs::read(desk.path("text")).unwrap().len(),
        72,
        "what is refused is left alone"
    );
}

#[test]
fn a_database_with_another_schema_or_another_holder_is_refused() {
    let desk = desk();
    let other = rusqlite::Connection::open(desk.path("a.db")).unwrap();
    other
        .execute_batch("CREATE TABLE alerts (source_event_id text PRIMARY KEY, note text)")
        .unwrap();
    check(&desk, "run --events e --database a.db", "holds a table of another shape: ");

    let holder = rusqlite::Connection::open(desk.path("b.db")).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE; CREATE TABLE t (x)").unwrap();
    check(
        &desk,
        "run --events e --database b.db --busy-timeout 20",
        "is locked by another process for longer than the busy timeout",
    );
}

#[test]
fn a_checkpoint_that_does_not_belong_is_refused_with_the_ways_out() {
    let desk = desk();
    assert_eq!(desk.run("run --events e --database a.db").code, Some(0));
    let good = std::fs::read(desk.path("e.checkpoint")).unwrap();
    let mended = |text: &str| desk.write("e", text);
    let events = line("a") + &line("b");
    let run = "run --events e --database a.db";
    let restore_events = "next: restore the events file that belongs to the checkpoint, or delete";
    let restore_database = "next: restore the database that belongs to the checkpoint, or delete";

    desk.write("e.checkpoint", "{");
    check(&desk, run, "next: restore the checkpoint, or delete it to deliver everything again");
    desk.write("e.checkpoint", &good);
    mended(&line("a"));
    check(&desk, run, restore_events);
    mended(&(line("x") + &line("y")));
    check(&desk, run, restore_events);
    mended(&events);
    check(&desk, "run --events e --database other.db", restore_database);

    // An older state of the database: it is the same one, and misses what was acknowledged since.
    let database = rusqlite::Connection::open(desk.path("a.db")).unwrap();
    let forget = "DELETE FROM alerts WHERE source_event_id = 'b';
                  DELETE FROM processed_reading_events WHERE event_id = 'b'";
    database.execute_batch(forget).unwrap();
    check(&desk, run, restore_database);

    // The other way out: everything comes again, and only what is missing is applied.
    std::fs::remove_file(desk.path("e.checkpoint")).unwrap();
    let ran = desk.run(run);
    assert!(ran.stderr.contains("1 applied, 1 already applied"), "{ran:?}");
}

#[test]
fn a_second_consumer_of_one_checkpoint_is_refused() {
    let desk = desk();
    let mut first = desk.start("run --events e --database a.db --follow --trace -");
    // Its first event is traced only after it holds the checkpoint.
    let mut trace = std::io::BufReader::new(first.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut trace, &mut String::new()).unwrap();
    check(&desk, "run --events e --database a.db", "next: wait until the other consumer has ended");
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(desk.run("run --events e --database a.db").code, Some(0), "a kill frees it");
}

// `--trace` made its file anew before anything else had looked at it: a slip of the hand emptied the
// events.
#[test]
fn one_file_for_two_uses_is_refused_before_anything_is_written_to_it() {
    let desk = desk();
    let before = std::fs::read(desk.path("e")).unwrap();
    for (arguments, told) in [
        (
            "run --events e --database a.db --trace e",
            "e is given as the events file and as the trace",
        ),
        ("run --events e --database e", "e is given as the events file and as the database"),
        (
            "run --events e --database a.db --trace a.db",
            "a.db is given as the database and as the trace",
        ),
        (
            "run --events e --database a.db --trace ./e.checkpoint",
            "./e.checkpoint is given as the checkpoint and as the trace",
        ),
    ] {
        check(&desk, arguments, told);
        check(&desk, arguments, "next: give each a file of its own");
        assert_eq!(std::fs::read(desk.path("e")).unwrap(), before, "{arguments}");
    }
}
