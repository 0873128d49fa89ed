//! One delivery to a guest, without a database: what the host adds to a bare call of wasmtime.
//!
//! The bare call is of the same component with the same texts, and its five crossings (`begin`,
//! `try-mark`, `save-alert`, `commit`, the drop of the handle) are answered by functions that do
//! nothing. What is compared is the ratio within one round. `--short` only shows that it runs.
#![allow(clippy::unwrap_used, reason = "a bench that cannot go on has nothing to say")]

use std::path::Path;
use std::time::Instant;

use process_once::deadline::Deadline;
use process_once::engine::{Engine, Limits};
use process_once::event::{Alert, Event};
use process_once::processor::{Isolation, Outcome, Processor};
use process_once::store::{Store, StoreError, Tx};
use wasmtime::StoreContextMut;
use wasmtime::component::{
    Component, ComponentType, Lift, Linker, Lower, Resource, ResourceType, TypedFunc, WasmStr,
};

/// Calls a round and rounds of a whole bench, and of one that only shows that it runs.
const WHOLE: (u32, usize) = (200_000, 9);
const SHORT: (u32, usize) = (1_000, 1);

/// The texts of the event.
const TEXTS: [&str; 3] = ["reading-00001234", "sensor-7", "temperature 42.5 above limit"];

fn main() {
    let short = std::env::args().any(|argument| argument == "--short");
    let (calls, rounds) = if short { SHORT } else { WHOLE };
    let [id, device, message] = TEXTS;
    let event = Event::new(Alert::new(id, device, message)).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_process-once"));
    // The reference guest, where `make guests` leaves it.
    let guest = program.parent().unwrap().join("../components/process-once.wasm");

    let mut bare = Bare::new(&guest);
    let load = |engine: Engine| engine.load(&guest).unwrap();
    let kept = load(Engine::new(Limits::default()).unwrap());
    let mut kept = Processor::new(kept, Nothing).unwrap();
    let pooled = load(Engine::pooled(Limits::default(), 1).unwrap());
    let mut fresh = Processor::new(pooled, Nothing).unwrap().isolate(Isolation::Event);

    let (mut of_bare, mut of_kept, mut of_fresh) = (vec![], vec![], vec![]);
    let (mut to_bare, mut to_kept) = (vec![], vec![]);
    for _ in 0..rounds {
        let bare = seconds(calls, || bare.call());
        let kept = seconds(calls, || assert_eq!(kept.process(&event).unwrap(), Outcome::Applied));
        let fresh =
            seconds(calls / 10, || assert_eq!(fresh.process(&event).unwrap(), Outcome::Applied));
        to_bare.push(kept / bare);
        to_kept.push(fresh / kept);
        of_bare.push(bare);
        of_kept.push(kept);
        of_fresh.push(fresh);
    }
    println!("one delivery, a store that does nothing, {calls} calls in each of {rounds} rounds");
    println!("bare call of wasmtime:          {:8.3} us", 1e6 * median(&mut of_bare));
    println!("kept instance:                  {:8.3} us", 1e6 * median(&mut of_kept));
    println!("fresh instance:                 {:8.3} us", 1e6 * median(&mut of_fresh));
    println!("kept / bare, median of rounds:  {:8.3}", median(&mut to_bare));
    println!("fresh / kept, median of rounds: {:8.3}", median(&mut to_kept));
}

/// What a call takes.
fn seconds(calls: u32, mut call: impl FnMut()) -> f64 {
    let began = Instant::now();
    for _ in 0..calls {
        call();
    }
    began.elapsed().as_secs_f64() / f64::from(calls)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A store whose every event is new.
struct Nothing;

impl Store for Nothing {
    type Tx = Self;

    fn begin(&mut self, _: &Deadline) -> Result<Self, StoreError> {
        Ok(Self)
    }
}

impl Tx for Nothing {
    fn try_mark(&mut self, _: &str) -> Result<bool, StoreError> {
        Ok(true)
    }

    fn save_alert(&mut self, _: &Alert) -> Result<(), StoreError> {
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn rollback(&mut self) {}
}

/// The guest under wasmtime alone.
struct Bare {
    store: wasmtime::Store<()>,
    process_once: TypedFunc<(&'static str, AlertHere), (Answer,)>,
}

impl Bare {
    fn new(guest: &Path) -> Self {
        let engine = wasmtime::Engine::default();
        let component = Component::from_file(&engine, guest).unwrap();
        let mut linker = Linker::<()>::new(&engine);
        linker.instance("process-once:alerts/types@0.1.0").unwrap();
        let mut there = linker.instance("process-once:alerts/store@0.1.0").unwrap();
        there.resource("error", ResourceType::host::<Failed>(), |_, _| Ok(())).unwrap();
        there.resource("tx", ResourceType::host::<Open>(), |_, _| Ok(())).unwrap();
        let begin = |_: Caller<'_>, ()| Ok((Ok::<_, Failure>(Resource::<Open>::new_own(0)),));
        there.func_wrap("begin", begin).unwrap();
        let try_mark =
            |_: Caller<'_>, (_, _): (Resource<Open>, WasmStr)| Ok((Ok::<_, Failure>(true),));
        there.func_wrap("[method]tx.try-mark", try_mark).unwrap();
        let save_alert =
            |_: Caller<'_>, (_, _): (Resource<Open>, AlertThere)| Ok((Ok::<_, Failure>(()),));
        there.func_wrap("[method]tx.save-alert", save_alert).unwrap();
        let commit = |_: Caller<'_>, (_,): (Resource<Open>,)| Ok((Ok::<_, Failure>(()),));
        there.func_wrap("[method]tx.commit", commit).unwrap();
        let rollback = |_: Caller<'_>, (_,): (Resource<Open>,)| Ok(());
        there.func_wrap("[method]tx.rollback", rollback).unwrap();
        let message = |_: Caller<'_>, (_,): (Failure,)| Ok((String::new(),));
        there.func_wrap("[method]error.message", message).unwrap();

        let mut store = wasmtime::Store::new(&engine, ());
        let instance = linker.instantiate(&mut store, &component).unwrap();
        let processor = "process-once:alerts/processor@0.1.0";
        let processor = instance.get_export_index(&mut store, None, processor).unwrap();
        let function =
            instance.get_export_index(&mut store, Some(&processor), "process-once").unwrap();
        let process_once = instance.get_typed_func(&mut store, function).unwrap();
        Self { store, process_once }
    }

    fn call(&mut self) {
        let [source_event_id, device_id, message] = TEXTS;
        let alert = AlertHere { source_event_id, device_id, message };
        let answer = self.process_once.call(&mut self.store, (source_event_id, alert));
        assert!(matches!(answer, Ok((Ok(Answered::Applied),))));
    }
}

type Caller<'a> = StoreContextMut<'a, ()>;

type Failure = Resource<Failed>;
type Answer = Result<Answered, Failure>;

enum Open {}
enum Failed {}

#[derive(ComponentType, Lower)]
#[component(record)]
struct AlertHere {
    #[component(name = "source-event-id")]
    source_event_id: &'static str,
    #[component(name = "device-id")]
    device_id: &'static str,
    message: &'static str,
}

#[derive(ComponentType, Lift)]
#[component(record)]
struct AlertThere {
    #[component(name = "source-event-id")]
    _source_event_id: WasmStr,
    #[component(name = "device-id")]
    _device_id: WasmStr,
    #[component(name = "message")]
    _message: WasmStr,
}

#[derive(ComponentType, Lift, Debug, PartialEq, Eq)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "wasmtime makes them of what the guest returns")]
enum Answered {
    #[component(name = "unknown")]
    Unknown,
    #[component(name = "applied")]
    Applied,
    #[component(name = "already-applied")]
    AlreadyApplied,
}
