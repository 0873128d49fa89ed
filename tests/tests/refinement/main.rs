//! Nobody can tell that deliveries share a commit: whatever is observed, the plain way could have made.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod model;
mod plan;
mod play;
mod scenarios;
mod shaky;
mod sqlite;
mod streams;
mod world;

use std::sync::{Arc, LazyLock};

use process_once::engine::{Engine, Guest, Limits};
use tests::guests::{component, patient};
use tests::stores::MemoryLab;

use self::model::decide;
use self::plan::{Plan, Way};
use self::play::{Ended, History, play, prepare};
use self::shaky::BulkLab;

/// The guest that does what its events say. Fuel ends its loops, so that no clock decides.
static GUEST: LazyLock<Guest> = LazyLock::new(|| {
    let limits = Limits { fuel: Some(2_000_000), ..patient() };
    Engine::new(limits).unwrap().load(component("tests/scripted/obeys.wasm")).unwrap()
});

/// Plays a plan, restarts behind what was acknowledged with a guest that no longer fails, and lets the
/// model decide about both. Gives the first history.
fn check<L: BulkLab>(lab: &L, plan: &Plan) -> Result<History, String> {
    prepare(lab, plan);
    let history = play(lab, &GUEST, plan);
    let decided = decide(&GUEST, plan, &history);
    decided.map_err(|why| format!("{why}\n{plan:#?}\n{history:#?}"))?;
    restart(lab, plan, &history)?;
    Ok(history)
}

/// Plays the rest of a plan without trouble: in the end every event has its pair.
fn restart<L: BulkLab>(lab: &L, plan: &Plan, history: &History) -> Result<(), String> {
    let acknowledged = usize::try_from(history.counts.events()).unwrap();
    let mut rest = Plan { trouble: Vec::new(), ..plan.clone() };
    rest.events.drain(..acknowledged);
    for event in rest.events.iter_mut().filter(|event| event.script != "write") {
        event.script = "apply";
    }
    let again = play(lab, &GUEST, &rest);
    let decided = decide(&GUEST, &rest, &again).and_then(|()| match again.ended {
        Ended::Well if again.counts.events() as usize == rest.events.len() => Ok(()),
        _ => Err("it did not come to its end".to_owned()),
    });
    decided.map_err(|why| format!("after a restart: {why}\n{plan:#?}\n{history:#?}\n{again:#?}"))
}

/// As [`check`], in memory.
///
/// # Panics
/// If the plain way could not have done that.
fn holds(plan: &Plan) -> History {
    match check(&Arc::new(MemoryLab::default()), plan) {
        Ok(history) => history,
        Err(why) => panic!("{why}"),
    }
}

/// Everything is ready at once, so that batches have just so many events.
fn batches(events: usize) -> Way {
    Way::Batches { events, queue: 1_000, chunk: 1_000 }
}
