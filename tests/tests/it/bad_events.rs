//! Lines that hold no event: a clear error wherever they stand, and nothing lost.

use tests::program::{Desk, line};

fn nul() -> String {
    line("a").replace("\"m\"", "\"\\u0000\"")
}

/// Bad lines, and what is told of each behind `events.jsonl, line N`.
fn lines() -> Vec<(Vec<u8>, &'static str)> {
    let text = |line: &str| format!("{line}\n").into_bytes();
    let long = |member: &str, length: usize| {
        let ok = line("a").replace("\"d\"", "\"\"");
        let long = "x".repeat(length);
        let (from, to) = match member {
            "id" => ("\"a\"", format!("\"{long}\"")),
            "device" => ("\"\"", format!("\"{long}\"")),
            _ => ("\"m\"", format!("\"{long}\"")),
        };
        ok.replace(from, &to).into_bytes()
    };
    vec![
        (text("hello"), ", column 1: is not JSON: expected value"),
        (text("[1]"), ": is an array, not a JSON object"),
        (text("{}"), ": member \"source_event_id\" is missing"),
        (text(r#"{"source_event_id":"a","device_id":"d"}"#), ": member \"message\" is missing"),
        (
            text(r#"{"source_event_id":1,"device_id":"d","message":"m"}"#),
            ": member \"source_event_id\" is a number, not a string",
        ),
        (
            text(r#"{"source_event_id":"a","device_id":"d","message":"m","message":"m"}"#),
            ": member \"message\" is given twice",
        ),
        (line("").into_bytes(), ": source_event_id is empty; an event needs an id"),
        (long("id", 1_025), ": source_event_id has 1025 bytes; at most 1024 are allowed"),
        (long("device", 1_025), ": device_id has 1025 bytes; at most 1024 are allowed"),
        (long("message", 65_537), ": message has 65537 bytes; at most 65536 are allowed"),
        (nul().into_bytes(), ": message holds a NUL character, which not every store can keep"),
        (
            b"{\"source_event_id\":\"\xff\",\"device_id\":\"d\",\"message\":\"m\"}\n".to_vec(),
            ", column 21: is not UTF-8",
        ),
        (vec![b' '; 2 << 20], ": is longer than 1048576 bytes"),
    ]
}

fn check(before: &[&str], bad: &[u8], told: &str) {
    let desk = Desk::default();
    let good: String = before.iter().map(|id| line(id)).collect();
    let mut bytes = good.clone().into_bytes();
    bytes.extend_from_slice(bad);
    bytes.extend_from_slice(line("z").as_bytes());
    desk.write("events.jsonl", &bytes);
    let ran = desk.run("run --events events.jsonl --database a.db");
    let number = before.len() + 1;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let expected = format!("process-once: events.jsonl, line {number}{told}\n");
    assert!(ran.stderr.contains(&expected), "{expected}{}", ran.stderr);
    assert!(ran.stderr.contains("\n  next: correct the line or take it out"), "{}", ran.stderr);
    assert_eq!(desk.alerts("a.db"), before, "all before it and nothing from it on");

    // Mended, the rest comes, and what was acknowledged does not come again.
    desk.write("events.jsonl", good + &line("y") + &line("z"));
    let ran = desk.run("run --events events.jsonl --database a.db");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("2 events: 2 applied, 0 already applied"), "{}", ran.stderr);
}

#[test]
fn a_line_that_holds_no_event_stops_the_run_wherever_it_stands_and_nothing_is_lost() {
    for (bad, told) in lines() {
        check(&[], &bad, told);
        check(&["a", "b"], &bad, told);
    }
}
