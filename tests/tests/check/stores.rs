//! The judge on SQLite says what it says in memory.

use libtest_mimic::{Failed, Trial};
use process_once::check::{Check, Report, StoreKind};
use tests::guests::REFERENCE;

use crate::judge::{broken, fail, judge};

pub(crate) fn trials() -> Vec<Trial> {
    let whole = Check::default();
    let short = Check { depth: 2, deliveries: 300, ..Check::default() };
    let mut trials = vec![same(REFERENCE, whole)];
    for name in [
        "keeps_error",
        "retries_commit",
        "claims_commit_in_doubt",
        "alters_id",
        "traps_after_commit",
    ] {
        trials.push(same(&format!("tests/wrong/{name}.wasm"), short.clone()));
    }
    trials.push(same("tests/odd/std.wasm", short));
    trials
}

fn same(name: &str, check: Check) -> Trial {
    let name = name.to_owned();
    Trial::test(format!("SQLite sees of {name} what memory sees"), move || compare(&name, &check))
}

fn compare(name: &str, check: &Check) -> Result<(), Failed> {
    let seen = |store| {
        let report = judge(&Check { store, ..check.clone() }, name);
        let verdicts: Vec<_> =
            report.rules.iter().map(|rule| (rule.verdict, rule.exercised, rule.broken)).collect();
        let Report { traces, deliveries, .. } = &report;
        (traces.clone(), *deliveries, verdicts, broken(&report))
    };
    let (memory, sqlite) = (seen(StoreKind::Memory), seen(StoreKind::Sqlite));
    if memory == sqlite {
        Ok(())
    } else {
        fail(format!("memory: {memory:#?}\nsqlite: {sqlite:#?}"))
    }
}
