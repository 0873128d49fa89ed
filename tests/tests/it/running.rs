//! `run` where nothing goes wrong, or only the guest does.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use tests::guests::component;
use tests::program::{Desk, line, samples};

const TRACE: &str = r#"event "a"
  begin -> tx
  try-mark "a" -> true
  save-alert "a" "d" "m" -> ok
  commit -> ok
  return applied
event "a"
  begin -> tx
  try-mark "a" -> false
  rollback
  return already-applied
"#;

#[test]
fn the_samples_are_applied_once_and_a_second_run_goes_on_behind_them() {
    let desk = Desk::default();
    std::fs::copy(samples(), desk.path("events.jsonl")).unwrap();
    let ran = desk.run("run --events events.jsonl");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let counts = "1,200 events: 1,026 applied, 174 already applied";
    assert!(ran.stderr.contains(counts), "{}", ran.stderr);
    assert_eq!(desk.alerts("process-once.db").len(), 1_026);

    let ran = desk.run("run --events events.jsonl");
    let again = "resumed behind line 1,200, by the checkpoint\n0 events";
    assert!(ran.code == Some(0) && ran.stderr.starts_with(again), "{ran:?}");

    // Without its checkpoint everything comes again, and nothing happens twice.
    std::fs::remove_file(desk.path("events.jsonl.checkpoint")).unwrap();
    let ran = desk.run("run --events events.jsonl");
    assert!(ran.stderr.contains("1,200 events: 0 applied, 1,200 already applied"), "{ran:?}");
    assert_eq!(desk.alerts("process-once.db").len(), 1_026);
}

#[test]
fn a_trace_is_written_to_a_file_or_to_standard_output() {
    let desk = Desk::default();
    let events = line("a") + &line("a");
    let ran = desk.run_with("run --events - --database a.db --trace -", events.as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), TRACE), "{ran:?}");
    let ran = desk.run_with("run --events - --database b.db --trace t", events.as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(std::fs::read_to_string(desk.path("t")).unwrap(), TRACE);
}

#[test]
fn another_right_guest_gives_the_same_trace_and_its_stderr_goes_to_the_log() {
    for (guest, logged) in
        [("second", None), ("std", Some(" INFO guest: a: alert 1 of its device"))]
    {
        let desk = Desk::default();
        let guest = component(&format!("tests/odd/{guest}.wasm"));
        let arguments =
            format!("run --events - --database a.db --trace - --guest {}", guest.display());
        let ran = desk.run_with(&arguments, (line("a") + &line("a")).as_bytes());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), TRACE), "{ran:?}");
        assert!(logged.is_none_or(|logged| ran.stderr.contains(logged)), "{}", ran.stderr);
    }
}

#[test]
fn lines_may_end_in_crlf_or_not_at_all_and_blank_ones_are_skipped() {
    let desk = Desk::default();
    let crlf = line("a").replace('\n', "\r\n");
    desk.write("e", format!("\u{feff}{crlf}\n  \n{}", line("b").trim_end()));
    let ran = desk.run("run --events e --database a.db --format json");
    let summary: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&summary["version"], &summary["applied"]), (&1.into(), &2.into()), "{summary}");
    assert_eq!((&summary["ended"], &summary["failure"]), (&"end-of-stream".into(), &().into()));
    assert_eq!(desk.alerts("a.db"), ["a", "b"]);
}

#[test]
fn a_wrong_guest_stops_the_run_and_nothing_is_acknowledged() {
    let desk = Desk::default();
    desk.write("e", line("a") + &line("b"));
    let guest = component("tests/wrong/rolls_back_after_commit.wasm");
    let arguments = format!("run --events e --database a.db --guest {}", guest.display());
    let ran = desk.run(&arguments);
    let told = "process-once: event \"a\" (e, line 1) was not handled
  because: the guest broke the contract, R2: rollback was called after commit had succeeded
  stored: yes, but the event is not acknowledged; a redelivery is already-applied
  next: mend the guest, or use another with --guest, then start again: the event comes again
";
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.ends_with(told), "{}", ran.stderr);
    assert!(!desk.path("e.checkpoint").exists(), "nothing was acknowledged");
    // The redelivery goes another way, which this guest has right; then it stops at the next event.
    let ran = desk.run(&(arguments + " --format json"));
    let summary: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let failure = &summary["failure"];
    assert_eq!((ran.code, &summary["already_applied"]), (Some(1), &1.into()), "{ran:?}");
    assert_eq!((&failure["event_id"], &failure["line"]), (&"b".into(), &2.into()));
    assert_eq!((&failure["stored"], &summary["ended"]), (&"yes".into(), &"failed".into()));
}

#[test]
fn a_database_that_gets_locked_stops_the_run_unacknowledged() {
    let desk = Desk::default();
    desk.write("e", line("a"));
    let mut child =
        desk.start("run --events e --database a.db --busy-timeout 20 --follow --trace -");
    let mut trace = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(trace.any(|line| line == "  return applied"));
    let other = rusqlite::Connection::open(desk.path("a.db")).unwrap();
    other.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    desk.append("e", &line("b"));
    let ran = desk.ran(child);
    let told = "process-once: event \"b\" (e, line 2) was not handled\n";
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains(told) && ran.stderr.contains("class: busy, code 5"), "{ran:?}");
    other.execute_batch("ROLLBACK").unwrap();
    let ran = desk.run("run --events e --database a.db");
    assert_eq!((ran.code, desk.alerts("a.db")), (Some(0), vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn two_runs_on_one_database_apply_each_event_once() {
    let desk = Desk::default();
    let ids = |range: std::ops::Range<u32>| range.map(|n| line(&n.to_string())).collect::<String>();
    desk.write("e", ids(0..300));
    desk.write("f", ids(100..400));
    let runs =
        ["e", "f"].map(|e| desk.start(&format!("run --events {e} --database a.db --format json")));
    let mut applied = 0;
    for run in runs {
        let ran = desk.ran(run);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let summary: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        applied += summary["applied"].as_u64().unwrap();
    }
    assert_eq!((applied, desk.alerts("a.db").len()), (400, 400));
}

#[test]
fn a_closed_standard_output_ends_the_program_quietly() {
    let desk = Desk::default();
    desk.write("e", (0..2_000).map(|n| line(&n.to_string())).collect::<String>());
    for arguments in [
        "run --events e --database a.db --trace -".to_owned(),
        "run --events e --database b.db --checkpoint c --format json".to_owned(),
        format!("inspect {}", component("process-once.wasm").display()),
        "completions bash".to_owned(),
    ] {
        let mut child = desk.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran = desk.ran(child);
        assert_eq!(ran.code, Some(0), "{arguments}: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{arguments}: {ran:?}");
    }
}
