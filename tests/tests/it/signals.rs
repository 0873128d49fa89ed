//! Following a file, and being told to stop.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::time::Duration;

use tests::guests::component;
use tests::program::{Desk, catches_sigterm, eventually, full_pipe, line, signal, ticks};

/// Starts following `e` and gives the lines of its trace as they come.
fn follow(desk: &Desk, more: &str) -> (Child, impl Iterator<Item = String>) {
    let mut child =
        desk.start(&format!("run --events e --database a.db --follow --trace - {more}"));
    let trace = BufReader::new(child.stdout.take().unwrap());
    (child, trace.lines().map(Result::unwrap))
}

#[test]
fn a_followed_file_gives_what_is_appended_and_a_signal_drains() {
    for name in ["TERM", "INT"] {
        let desk = Desk::default();
        desk.write("e", line("a"));
        let (child, mut trace) = follow(&desk, "");
        assert!(trace.any(|line| line == "  return applied"), "a");
        // A line that comes in pieces counts once its end has come.
        let (first, rest) = (&line("b")[..20], &line("b")[20..]);
        desk.append("e", first);
        desk.append("e", rest);
        assert!(trace.any(|line| line == "  return applied"), "b");
        signal(&child, name);
        let ran = desk.ran(child);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("2 events: 2 applied"), "{}", ran.stderr);
        assert!(ran.stderr.contains("stopped by a signal"), "{}", ran.stderr);
        // What was done is acknowledged: nothing of it comes again.
        let ran = desk.run("run --events e --database a.db");
        assert!(ran.stderr.contains("\n0 events"), "{}", ran.stderr);
    }
}

#[test]
fn a_long_stream_that_is_drained_goes_on_with_the_next_run() {
    let desk = Desk::default();
    let count = 20_000;
    desk.write("e", (0..count).map(|n| line(&n.to_string())).collect::<String>());
    let mut child = desk.start("run --events e --database a.db --format json --trace t");
    eventually("something is traced", || {
        assert!(child.try_wait().unwrap().is_none(), "it is not over yet");
        std::fs::metadata(desk.path("t")).is_ok_and(|trace| trace.len() > 0)
    });
    signal(&child, "INT");
    let ran = desk.ran(child);
    let summary: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &summary["ended"]), (Some(0), &"drained".into()), "{ran:?}");
    let done = summary["events"].as_u64().unwrap();
    assert!(done < count, "it was stopped on the way");
    assert_eq!(desk.alerts("a.db").len() as u64, done, "what was done is what is stored");
    let ran = desk.run("run --events e --database a.db --format json");
    let summary: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(summary["applied"], count - done, "{ran:?}");
    assert_eq!(summary["already_applied"], 0, "all that was done had been acknowledged");
}

// Signals went unheard once the last event had been fetched, so that nothing but SIGKILL ended a
// program whose guest hung in it.
#[test]
fn a_second_signal_leaves_at_once_also_after_the_last_event_was_fetched() {
    let desk = Desk::default();
    desk.write("e", line("a"));
    let guest = component("tests/wrong/loops.wasm");
    let arguments = format!(
        "run --events e --database a.db --batch 1 --deadline 3600000 --guest {}",
        guest.display()
    );
    let mut child = desk.start(&arguments);
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    // Whatever holds the database for that long is the guest in its transaction, and by then the
    // program listens for signals.
    eventually("the guest is in its transaction", || {
        rusqlite::Connection::open(desk.path("a.db")).is_ok_and(|other| {
            other.busy_timeout(Duration::from_millis(500)).unwrap();
            let tables = "SELECT * FROM processed_reading_events, alerts";
            other.execute_batch(tables).is_ok() && other.execute_batch("BEGIN IMMEDIATE").is_err()
        })
    });
    signal(&child, "TERM");
    assert!(log.any(|line| line.contains("a second signal leaves at once")));
    signal(&child, "TERM");
    assert_eq!(desk.ran(child).code, Some(1));
}

#[test]
fn a_second_signal_leaves_at_once_where_the_guest_hangs_in_a_batch() {
    let desk = Desk::default();
    desk.write("e", line("a"));
    let guest = component("tests/wrong/loops.wasm");
    let arguments =
        format!("run --events e --database a.db --deadline 3600000 --guest {}", guest.display());
    let mut child = desk.start(&arguments);
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    // Before its turn an event is simply left for the next run. What a right guest's thread needs for one
    // is far less than that.
    eventually("the guest hangs", || catches_sigterm(&child) && ticks(&child, "guest") >= 20);
    signal(&child, "TERM");
    assert!(log.any(|line| line.contains("a second signal leaves at once")));
    signal(&child, "TERM");
    assert_eq!(desk.ran(child).code, Some(1));
}

// The second signal was awaited where the trace is written: a trace that nobody read held it up.
#[test]
fn a_second_signal_leaves_at_once_also_where_the_trace_is_held_up() {
    let desk = Desk::default();
    desk.write("e", (0..9).map(|n| line(&n.to_string())).collect::<String>());
    let pipe = full_pipe(&desk, "trace");
    let child = desk.start("run --events e --database a.db --trace trace");
    eventually("a pair is committed", || desk.path("a.db").exists() && desk.count("a.db") > 0);
    signal(&child, "TERM");
    // Two signals of one kind that come together count as one, so the second is of the other.
    signal(&child, "INT");
    assert_eq!(desk.ran(child).code, Some(1));
    drop(pipe);
}
