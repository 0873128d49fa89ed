//! What the judge says of guests.

use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use process_once::check::{Check, Report, Schedule, Verdict, engine};
use process_once::contract::Rule;
use process_once::engine::{Engine, Guest, Limits};
use tests::guests::{Header, REFERENCE, component};

pub(crate) fn load(name: &str) -> Guest {
    engine().unwrap().load(component(name)).unwrap()
}

pub(crate) fn judge(check: &Check, name: &str) -> Report {
    check.judge(&load(name), &|_, _| {}).unwrap()
}

/// The rules that a report names as broken, and what it says of each.
pub(crate) fn broken(report: &Report) -> Vec<(Rule, String)> {
    report.broken().map(|(rule, failing)| (rule, failing.violation.what.clone())).collect()
}

pub(crate) fn fail<T>(what: String) -> Result<T, Failed> {
    Err(Failed::from(what))
}

/// The guest breaks the rules of its header, in its words, and no other; and each schedule that is said
/// to break a rule does so again when it is played alone.
pub(crate) fn breaks(name: &str, header: &Header) -> Result<(), Failed> {
    let guest = load(&format!("tests/wrong/{name}.wasm"));
    let check = Check::default();
    let report = check.judge(&guest, &|_, _| {}).map_err(|error| error.to_string())?;
    if broken(&report) != header.expected {
        return fail(format!("{:#?}\ninstead of {:#?}", broken(&report), header.expected));
    }
    if report.verdict() != Verdict::Fail {
        return fail(format!("the verdict is {:?}", report.verdict()));
    }
    for (rule, failing) in report.broken() {
        let text = failing.schedule.to_string();
        let schedule: Schedule = text.parse().map_err(|error| format!("{text}: {error}"))?;
        let again = check.replay(&guest, &schedule).map_err(|error| error.to_string())?;
        if !broken(&again).contains(&(rule, failing.violation.what.clone())) {
            return fail(format!("`{text}` does not break {rule} again: {:?}", broken(&again)));
        }
    }
    Ok(())
}

pub(crate) fn passes(name: &str) -> Result<(), Failed> {
    let report = judge(&Check::default(), name);
    let unknown = |rule: &&process_once::check::RuleReport| rule.verdict == Verdict::Unknown;
    let unknown: Vec<Rule> = report.rules.iter().filter(unknown).map(|rule| rule.rule).collect();
    if report.verdict() == Verdict::Pass {
        Ok(())
    } else {
        fail(format!("{:?}, unknown: {unknown:?}", broken(&report)))
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("the reference passes", || passes(REFERENCE)),
        Trial::test("two checks of one guest see the same", sees_the_same),
        Trial::test("the shortest schedule comes first", shortest_first),
        Trial::test("a failure far into a life is shrunk to what it takes", shrunk),
        Trial::test("a rule that was not reached is unknown, and no pass", not_reached),
        Trial::test("time that runs out makes rules unknown, never failed", out_of_time),
        Trial::test("a delivery that the clock ends says nothing", out_of_a_deliverys_time),
        Trial::test("a guest that exhausts its budget ends the check soon", exhausts),
        Trial::test("one engine serves several checks at once", at_once),
    ]
}

fn sees_the_same() -> Result<(), Failed> {
    for name in
        [REFERENCE, "tests/wrong/keeps_error.wasm", "tests/wrong/loops_when_commit_fails.wasm"]
    {
        let check = Check { deliveries: 500, ..Check::default() };
        let [one, other] = [judge(&check, name), judge(&check, name)];
        let seen = |report: &Report| {
            let counts: Vec<_> = report
                .rules
                .iter()
                .map(|rule| (rule.verdict, rule.exercised, rule.broken))
                .collect();
            (report.traces.clone(), report.deliveries, report.schedules, counts, broken(report))
        };
        if seen(&one) != seen(&other) {
            return fail(format!("{name}: {:?}\n{:?}", seen(&one), seen(&other)));
        }
    }
    Ok(())
}

fn shortest_first() -> Result<(), Failed> {
    for (name, rule, expected) in [
        ("unfinished", Rule::R1, "fresh A"),
        ("retries_commit", Rule::R9, "fresh A:commit"),
        ("uses_no_rollback_on_duplicate", Rule::R3, "fresh +A A"),
        ("claims_duplicates_of_its_own", Rule::R11, "kept A*2"),
        ("claims_commit_in_doubt", Rule::R12, "kept A:commit-lost A"),
        ("trims_message", Rule::R10, "fresh A/newline"),
    ] {
        let check = Check { deliveries: 0, ..Check::default() };
        let report = judge(&check, &format!("tests/wrong/{name}.wasm"));
        let found = report.broken().find(|(broken, _)| *broken == rule);
        let found = found.map(|(_, failing)| failing.schedule.to_string());
        if found.as_deref() != Some(expected) {
            return fail(format!("{name}: {found:?} instead of {expected:?}"));
        }
    }
    Ok(())
}

/// What only the walk finds is told by a schedule that can be read.
fn shrunk() -> Result<(), Failed> {
    for (name, rule, expected) in [
        ("traps_in_its_thousandth_delivery", Rule::R14, "kept A*1000"),
        ("traps_after_five_failures", Rule::R14, "kept A:commit*5 A"),
        ("leaks_memory", Rule::R14, "kept A*"),
    ] {
        let report = judge(&Check::default(), &format!("tests/wrong/{name}.wasm"));
        let found = report.broken().find(|(broken, _)| *broken == rule);
        let found = found.map(|(_, failing)| failing.schedule.to_string()).unwrap_or_default();
        if !found.starts_with(expected) || found.len() > 40 {
            return fail(format!("{name}: {found} instead of {expected}"));
        }
    }
    Ok(())
}

fn not_reached() -> Result<(), Failed> {
    // Without the walk and with one delivery each, there is no redelivery but of unlikely texts.
    let report = judge(&Check { deliveries: 0, ..Check::default() }, "tests/wrong/unfinished.wasm");
    let verdicts: Vec<Verdict> = report.rules.iter().map(|rule| rule.verdict).collect();
    if verdicts[0] != Verdict::Fail
        || verdicts[1..].iter().any(|verdict| *verdict != Verdict::Unknown)
    {
        return fail(format!("{verdicts:?}"));
    }
    Ok(())
}

fn out_of_time() -> Result<(), Failed> {
    let report = judge(&Check { time: Duration::ZERO, ..Check::default() }, REFERENCE);
    let unknown = report.rules.iter().all(|rule| rule.verdict == Verdict::Unknown);
    if unknown && report.verdict() == Verdict::Unknown && report.out_of_time {
        Ok(())
    } else {
        fail(format!("{:?}", report.rules))
    }
}

/// A machine can be so busy that a delivery takes longer than it may; the guest is not to blame.
fn out_of_a_deliverys_time() -> Result<(), Failed> {
    let limits = Limits { delivery: Duration::ZERO, ..Limits::budget() };
    let guest = Engine::pooled(limits, 4).unwrap().load(component(REFERENCE)).unwrap();
    let check = Check { depth: 1, deliveries: 50, ..Check::default() };
    let report = check.judge(&guest, &|_, _| {}).unwrap();
    let unknown = report.rules.iter().all(|rule| rule.verdict == Verdict::Unknown);
    if unknown { Ok(()) } else { fail(format!("{:?}", report.rules)) }
}

fn exhausts() -> Result<(), Failed> {
    for name in
        ["loops", "loops_at_start", "eats_memory", "recurses_in_locals", "writes_without_end"]
    {
        let report = judge(&Check::default(), &format!("tests/wrong/{name}.wasm"));
        if report.deliveries > 100 {
            return fail(format!("{name}: {} deliveries", report.deliveries));
        }
    }
    Ok(())
}

/// An engine's pool has as many instances as there are cores. Two checks at once needed more, and the
/// guest was blamed for it.
fn at_once() -> Result<(), Failed> {
    let engine = engine().unwrap();
    let guest = engine.load(component(REFERENCE)).unwrap();
    let check = Check { depth: 2, deliveries: 200, ..Check::default() };
    let verdicts: Vec<Verdict> = std::thread::scope(|scope| {
        let judge = || check.judge(&guest, &|_, _| {}).unwrap().verdict();
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(judge)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    if verdicts == [Verdict::Pass; 6] { Ok(()) } else { fail(format!("{verdicts:?}")) }
}
