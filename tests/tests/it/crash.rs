//! Processes that are killed for real: nothing is lost, and nothing happens twice.

use std::time::Duration;

use tests::program::{Desk, eventually, full_pipe, line};

#[test]
fn a_kill_between_commit_and_acknowledgement_ends_in_already_applied() {
    let desk = Desk::default();
    desk.write("e", line("a") + &line("b"));
    // A trace that nobody reads, in a pipe that is full: the program is held where it writes the
    // trace, after the commit and before the acknowledgement.
    let pipe = full_pipe(&desk, "trace");
    let mut child = desk.start("run --events e --database a.db --trace trace");
    eventually("the pair is committed", || desk.path("a.db").exists() && desk.count("a.db") > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(pipe);
    assert!(!desk.path("e.checkpoint").exists(), "nothing was acknowledged");
    let stored = desk.alerts("a.db").len();
    let ran = desk.run("run --events e --database a.db");
    let told = format!("2 events: {} applied, {stored} already applied", 2 - stored);
    assert!(ran.code == Some(0) && ran.stderr.contains(&told), "{told}: {ran:?}");
    assert_eq!(desk.alerts("a.db"), ["a", "b"]);
}

/// The acknowledged line, by the checkpoint.
fn acknowledged(desk: &Desk) -> u64 {
    let Ok(text) = std::fs::read_to_string(desk.path("e.checkpoint")) else { return 0 };
    let checkpoint: serde_json::Value = serde_json::from_str(&text).unwrap();
    checkpoint["line"].as_u64().unwrap()
}

#[test]
fn a_run_that_is_killed_again_and_again_loses_nothing_and_doubles_nothing() {
    let seed: u64 = 0x5eed;
    println!("seed {seed:#x}");
    let mut random = seed;
    let desk = Desk::default();
    // Every fourth line is a redelivery of the line before.
    let ids: Vec<u32> = (0..4_000).map(|n| if n % 4 == 3 { n - 1 } else { n }).collect();
    let text = |ids: &[u32]| ids.iter().map(|n| line(&format!("{n:05}"))).collect::<String>();
    desk.write("e", text(&ids));
    let mut oldest = None;
    for round in 0..40 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut child = desk.start("run --events e --database a.db");
        let moment = Duration::from_micros(random >> 33 & 0x3fff);
        // Not a wait for something: the kill is to come at any moment, the start included.
        std::thread::sleep(moment + Duration::from_millis(10));
        child.kill().unwrap();
        child.wait().unwrap();
        let line = usize::try_from(acknowledged(&desk)).unwrap();
        if line > 0 {
            let stored = desk.alerts("a.db");
            let acknowledged = ids[..line].iter().map(|n| format!("{n:05}"));
            let lost: Vec<_> = acknowledged.filter(|id| !stored.contains(id)).collect();
            assert_eq!(lost, [""; 0], "round {round}: acknowledged and not stored");
            oldest.get_or_insert(std::fs::read(desk.path("e.checkpoint")).unwrap());
        }
    }
    // Losing the newest checkpoint causes redelivery, and nothing else.
    if let Some(oldest) = oldest {
        desk.write("e.checkpoint", oldest);
    }
    let ran = desk.run("run --events e --database a.db");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut expected: Vec<String> = ids.iter().map(|n| format!("{n:05}")).collect();
    expected.dedup();
    assert_eq!(desk.alerts("a.db"), expected);
}
