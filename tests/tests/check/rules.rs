//! The judge's own tests tested: each rule is left out in turn, and the suite has to notice.

use libtest_mimic::{Failed, Trial};
use process_once::check::{Check, RuleReport, Verdict};
use process_once::contract::{Rule, RuleSet};
use tests::guests::{Header, sources};

use crate::judge::{broken, fail, judge};

pub(crate) fn trials() -> Vec<Trial> {
    Rule::ALL
        .map(|rule| {
            let title = format!("a judge that does not ask for {rule} is noticed");
            Trial::test(title, move || is_noticed(rule))
        })
        .into()
}

/// With the rule left out, a guest that breaks no other passes.
///
/// R8 is the exception: in one delivery the store hands out one error, so a guest that returns another
/// has kept it from before, which breaks R13 and the rule of the call that failed then. There it has to
/// show that the guest's own expectation is not met.
fn is_noticed(rule: Rule) -> Result<(), Failed> {
    let check = Check { rules: RuleSet::all().without(rule), ..Check::default() };
    let mut tried = Vec::new();
    for name in sources("wrong") {
        let header = Header::of(&name);
        let breaks: Vec<Rule> = header.expected.iter().map(|(rule, _)| *rule).collect();
        let fits = if rule == Rule::R8 { breaks.contains(&rule) } else { breaks == [rule] };
        if !fits {
            continue;
        }
        let report = judge(&check, &format!("tests/wrong/{name}.wasm"));
        let others_pass = |other: &RuleReport| other.rule == rule || other.verdict == Verdict::Pass;
        let noticed = if rule == Rule::R8 {
            broken(&report) != header.expected
        } else {
            report.rules.iter().all(others_pass)
        };
        if noticed {
            return Ok(());
        }
        tried.push((name, broken(&report)));
    }
    fail(format!("no wrong guest shows that {rule} is missing: {tried:#?}"))
}
