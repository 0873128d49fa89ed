//! The contract of `Store` and `Tx`, clause by clause, on every store.
//!
//! A new store joins with one line in [`main`]; a new clause with one line in its list.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod contract;
mod faults;
mod texts;
mod waiting;

use libtest_mimic::{Arguments, Trial};
use tests::stores::{FaultyLab, Lab, MemoryLab, SqliteLab, TracedLab};

/// A sentence, and the check that it is true.
type Clause<L> = (&'static str, fn(&L));

fn main() {
    let mut trials = Vec::new();
    trials.extend(suite("memory", MemoryLab::default));
    trials.extend(suite("sqlite", SqliteLab::new));
    trials.extend(suite("traced memory", TracedLab::<MemoryLab>::default));
    trials.extend(suite("traced sqlite", TracedLab::<SqliteLab>::default));
    trials.extend(suite("faulty memory", FaultyLab::<MemoryLab>::default));
    trials.extend(suite("faulty sqlite", FaultyLab::<SqliteLab>::default));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Every clause on that store, each on fresh data.
fn suite<L: Lab>(name: &str, new_lab: fn() -> L) -> Vec<Trial> {
    let lists = [contract::clauses(), waiting::clauses(), texts::clauses(), faults::clauses()];
    let clauses: Vec<Clause<L>> = lists.concat();
    let trial = |(sentence, check): Clause<L>| {
        Trial::test(format!("{name}: {sentence}"), move || {
            check(&new_lab());
            Ok(())
        })
    };
    clauses.into_iter().map(trial).collect()
}
