//! `check` and `explain`.

use std::io::Read;

use serde_json::{Value, json};
use tests::guests::component;
use tests::program::{Desk, Ran};

/// Runs `check` on a guest of this workspace.
fn check(desk: &Desk, guest: &str, options: &str) -> Ran {
    desk.run(&format!("check {} {options}", component(guest).display()))
}

/// The report between the list of the rules and the counts.
fn failures(ran: &Ran) -> &str {
    let (_, rest) = ran.stdout.split_once("nor exceeds its budget\n\n").unwrap();
    rest.split_once("\n\n15,268 of").map_or(rest, |(failures, _)| failures)
}

#[test]
fn a_right_guest_passes_with_the_count_of_what_was_played() {
    let ran = check(&Desk::default(), "process-once.wasm", "");
    let rules: Vec<&str> = ran.stdout.lines().skip(3).take(14).collect();
    assert!(rules.iter().all(|rule| rule.contains(" pass ")), "{ran:?}");
    let told = "
15,268 of 15,268 schedules, each with fresh instances and with one that is kept
848 of 848 schedules over unlikely texts, likewise
a random walk of 4,000 deliveries to one instance, seed 1
note: memory grew by 128 KiB over the walk, to 256 KiB; the budget is 128 MiB
pass: the guest keeps the contract
";
    assert!(ran.stdout.ends_with(told), "{}", ran.stdout);
    assert!(ran.stderr.starts_with("97,702 deliveries in "), "{}", ran.stderr);
    assert_eq!(ran.code, Some(0));
}

#[test]
fn a_wrong_guest_is_shown_beside_a_right_one() {
    let ran = check(&Desk::default(), "tests/wrong/retries_commit.wasm", "--deliveries 0");
    let told = r#"R9 commit was called a second time
  rule      each call is made at most once per delivery, on its one transaction, and never after the transaction's end
  why       Whether and when to try again is for the caller to decide: it delivers again.
  hint      make each call once, in order, and leave trying again to whoever delivers; let no state from an earlier delivery decide
  shortest  --schedule 'fresh A:commit'

  delivery 1 of 1: A, not stored yet; commit fails and has not happened
    as it was                                             | as it should be
    begin -> tx                                           | begin -> tx
    try-mark "Evt-A" -> true                              | try-mark "Evt-A" -> true
    save-alert "Evt-A" "Device-A" "Alert of A" -> ok      | save-alert "Evt-A" "Device-A" "Alert of A" -> ok
    commit -> error 1 (outcome unknown): the store failed | commit -> error 1 (outcome unknown): the store failed
  > commit -> error 2 (misuse): refused                   | rollback
    rollback                                              | return error 1
    return error 2                                        |"#;
    assert_eq!(failures(&ran), told);
    let verdict = "FAIL: the guest breaks R9; unknown, since not reached or left out: R7, R12\n";
    assert!(ran.stdout.ends_with(verdict) && ran.code == Some(1), "{ran:?}");
}

#[test]
fn an_unfinished_guest_is_told_what_to_do_first() {
    let ran = check(&Desk::default(), "tests/wrong/unfinished.wasm", "");
    let told = "R1 unknown was returned, but begin was never called
  rule      when try-mark says true, the alert is saved, the transaction committed, and applied returned
  why       True means that no committed marker exists: a first delivery, or one after a failure. The pair is stored whole, and `applied` is said of nothing else.
  hint      unknown is what an unfinished guest answers: write the way of a new event first, which is begin, try-mark, save-alert, commit, and then return applied
  shortest  --schedule 'fresh A'

  delivery 1 of 1: A, not stored yet; nothing fails
    as it was                          | as it should be
  > return unknown                     | begin -> tx
                                       | try-mark \"Evt-A\" -> true
                                       | save-alert \"Evt-A\" \"Device-A\" \"Alert of A\" -> ok
                                       | commit -> ok
                                       | return applied";
    assert_eq!(failures(&ran), told);
    assert_eq!(ran.code, Some(1));
}

#[test]
fn what_no_call_shows_is_said_below_the_calls() {
    let ran = check(&Desk::default(), "tests/wrong/leaks_tx.wasm", "--schedule kept");
    assert_eq!(ran.code, Some(2), "a schedule without a delivery: {ran:?}");
    let desk = Desk::default();
    let guest = component("tests/wrong/leaks_tx.wasm");
    let mut command = desk.command(&format!("check {}", guest.display()));
    let ran = desk.ran(command.args(["--schedule", "fresh A"]).spawn().unwrap());
    let told = "    return applied                                   | return applied
  > 1 handle was still held when the call returned

one schedule was played
FAIL: the guest breaks R13
";
    assert!(ran.stdout.ends_with(told) && ran.code == Some(1), "{}", ran.stdout);
}

#[test]
fn schedules_that_are_left_out_are_told() {
    let ran = check(&Desk::default(), "tests/wrong/loops.wasm", "");
    let told = "note: schedules were left out in which the guest would use up its budget again\n";
    assert!(ran.stdout.contains(told) && ran.code == Some(1), "{ran:?}");
    let counts = ran.stdout.lines().find(|line| line.contains(" of 15,268 schedules")).unwrap();
    assert!(!counts.starts_with("15,268"), "{counts}");
    assert!(
        ran.stdout.contains(
            "\nFAIL: the guest breaks R14; unknown, since not reached or left out: R1, R2"
        )
    );
}

#[test]
fn one_schedule_can_be_played_again() {
    let desk = Desk::default();
    let guest = component("process-once.wasm");
    let mut command = desk.command(&format!("check {} --store sqlite", guest.display()));
    let ran =
        desk.ran(command.args(["--schedule", "kept +B A:commit-lost! A B*2"]).spawn().unwrap());
    let told = "one schedule was played
pass: this schedule breaks no rule; a whole check says more
";
    assert!(ran.stdout.ends_with(told) && ran.code == Some(0), "{ran:?}");
}

#[test]
fn a_malformed_schedule_is_told_with_its_place() {
    let desk = Desk::default();
    let mut command = desk.command("check guest.wasm");
    let ran = desk.ran(command.args(["--schedule", "fresh A:comit"]).spawn().unwrap());
    let told = "at character 9 of the schedule one of `begin`, `try-mark`, `save-alert`, `commit`, \
                `commit-lost` is expected, not `comit`";
    assert!(ran.stderr.contains(told) && ran.code == Some(2), "{ran:?}");
}

#[test]
fn the_report_for_machines_has_every_rule() {
    let desk = Desk::default();
    let ran =
        check(&desk, "tests/wrong/trims_message.wasm", "--format json --deliveries 100 --seed 7");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let inspected = desk.run(&format!(
        "inspect --format json {}",
        component("tests/wrong/trims_message.wasm").display()
    ));
    let inspected: Value = serde_json::from_str(&inspected.stdout).unwrap();
    for (member, value) in [
        ("version", json!(1)),
        ("program", json!(env!("CARGO_PKG_VERSION"))),
        ("verdict", json!("fail")),
        ("sha256", inspected["sha256"].clone()),
        ("bytes", inspected["bytes"].clone()),
        ("store", json!("memory")),
        ("schedules", json!({ "played": 30_536, "all": 30_536 })),
        ("out_of_time", json!(false)),
    ] {
        assert_eq!(report[member], value, "{member}");
    }
    assert_eq!((&report["walk"]["seed"], &report["walk"]["deliveries"]), (&json!(7), &json!(100)));
    let rules = report["rules"].as_array().unwrap();
    let names: Vec<&str> = rules.iter().map(|rule| rule["rule"].as_str().unwrap()).collect();
    assert_eq!(names.join(" "), "R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 R14");
    let failure = &rules[9]["failure"];
    assert_eq!(failure["schedule"], "fresh A/newline");
    assert!(
        failure["last_delivery"]["as_it_was"].to_string().contains("refused, R10"),
        "{failure}"
    );
    assert_eq!(ran.code, Some(1));
}

#[test]
fn the_report_for_build_servers_has_a_test_case_a_rule() {
    let ran = check(&Desk::default(), "tests/wrong/retries_commit.wasm", "--format junit");
    let suite = r#"tests="14" skipped="0" errors="2" failures="1""#;
    assert!(ran.stdout.contains(suite) && ran.code == Some(1), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("<testcase ").count(), 14);
    for told in [
        r#"<failure message="commit was called a second time" type="R9">"#,
        r#"<error message="nothing has put this rule to the test" type="unknown"/>"#,
        "--schedule &apos;fresh A:commit&apos;",
    ] {
        assert!(ran.stdout.contains(told), "{told} in {}", ran.stdout);
    }
}

#[test]
fn what_is_no_guest_is_code_2_with_the_sentence_of_inspect() {
    let desk = Desk::default();
    desk.write("text", "hello");
    desk.write("module.wasm", b"\0asm\x01\0\0\0");
    desk.write("other.wasm", wat::parse_str("(component)").unwrap());
    std::fs::create_dir(desk.path("folder")).unwrap();
    for (guest, told) in [
        ("missing", "process-once: the guest missing cannot be read\n"),
        (
            "folder",
            "process-once: folder is a folder; a guest is a file, most often named *.wasm\n",
        ),
        ("text", "process-once: text is not a guest: it is not WebAssembly; "),
        ("module.wasm", "process-once: module.wasm is not a guest: it is a core module, "),
        (
            "other.wasm",
            "process-once: other.wasm is not a guest: it does not export \
             process-once:alerts/processor@0.1.0\n",
        ),
    ] {
        let ran = desk.run(&format!("check {guest}"));
        assert!(ran.stderr.starts_with(told), "{ran:?}");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{guest}");
    }
}

#[test]
fn a_rule_is_explained_with_a_trace_that_breaks_it() {
    let desk = Desk::default();
    let ran = desk.run("explain r7");
    let told = r#"R7  when commit fails, the transaction is rolled back and the error returned

why   The pair may be stored or not, and nobody may claim either.
hint  when commit fails, call rollback once, then return the error that commit gave; do not decide what the outcome was

A delivery that breaks it (A, not stored yet; commit fails although it has happened):

  as it was                                             | as it should be
  begin -> tx                                           | begin -> tx
  try-mark "Evt-A" -> true                              | try-mark "Evt-A" -> true
  save-alert "Evt-A" "Device-A" "Alert of A" -> ok      | save-alert "Evt-A" "Device-A" "Alert of A" -> ok
  commit -> error 1 (outcome unknown): the store failed | commit -> error 1 (outcome unknown): the store failed
  rollback                                              | rollback
> return applied                                        | return error 1

The judge says: applied was returned after commit failed
"#;
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), told));
    let all = desk.run("explain");
    assert_eq!((all.code, all.stdout.lines().count()), (Some(0), 14));
    let none = desk.run("explain R15");
    assert!(
        none.code == Some(2) && none.stderr.contains("there are the rules R1 to R14"),
        "{none:?}"
    );
}

#[test]
fn a_closed_standard_output_ends_a_check_quietly() {
    let desk = Desk::default();
    let guest = component("process-once.wasm");
    let mut child = desk.start(&format!("check {} --depth 1", guest.display()));
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(child.wait().unwrap().code() == Some(0) && !stderr.contains("panic"), "{stderr}");
}
