//! Streams, ways and trouble made up from a seed.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tests::stores::{MemoryLab, SqliteLab};

use crate::check;
use crate::plan::Plan;
use crate::shaky::BulkLab;

/// How often a plan is played to see whether it still fails: threads decide as well.
const TRIES: usize = 5;

/// How many streams are played; `STREAMS` and, to play the same again, `SEED` say otherwise.
fn numbers(streams: u64) -> (u64, u64) {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    (number("SEED").unwrap_or(now * 1_000_000), number("STREAMS").unwrap_or(streams))
}

fn play_many<L: BulkLab>(streams: u64, new_lab: impl Fn() -> L) {
    let (first, streams) = numbers(streams);
    println!("SEED={first} STREAMS={streams}");
    for seed in first..first + streams {
        let plan = Plan::random(seed);
        if let Err(why) = check(&new_lab(), &plan) {
            let (plan, why) = shrink(plan, why, &new_lab);
            panic!("SEED={seed} STREAMS=1, shrunk: {plan:?}\n{why}");
        }
    }
}

/// The simplest plan on the way from this one that fails as well.
fn shrink<L: BulkLab>(mut plan: Plan, mut why: String, new_lab: &impl Fn() -> L) -> (Plan, String) {
    let fails = |plan: &Plan| (0..TRIES).find_map(|_| check(&new_lab(), plan).err());
    while let Some((simpler, still)) =
        plan.simpler().into_iter().find_map(|simpler| Some((simpler.clone(), fails(&simpler)?)))
    {
        (plan, why) = (simpler, still);
    }
    (plan, why)
}

#[test]
fn random_streams_in_memory_are_what_the_plain_way_could_have_made() {
    play_many(2_000, || Arc::new(MemoryLab::default()));
}

#[test]
fn random_streams_on_sqlite_are_what_the_plain_way_could_have_made() {
    play_many(100, || Arc::new(SqliteLab::new()));
}
