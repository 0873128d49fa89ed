//! The judge on the reference guest: how many schedules and deliveries, how fast, in how much memory.
//! `make bench` prints it; `--short` only shows that it runs.
#![allow(clippy::unwrap_used, reason = "a bench that cannot go on has nothing to say")]

use std::path::Path;
use std::time::Instant;

use process_once::check::{Check, Report, StoreKind, Verdict, engine};
use process_once::engine::Guest;
use process_once::numbers::grouped;

fn main() {
    let short = std::env::args().any(|argument| argument == "--short");
    let (depth, rounds) = if short { (1, 1) } else { (3, 7) };
    let began = Instant::now();
    let program = Path::new(env!("CARGO_BIN_EXE_process-once"));
    // The reference guest, where `make guests` leaves it.
    let guest = program.parent().unwrap().join("../components/process-once.wasm");
    let guest = engine().unwrap().load(guest).unwrap();
    println!("check of the reference guest, depth {depth}, {rounds} rounds");
    println!("engine and compiling:   {:8.1} ms", 1e3 * began.elapsed().as_secs_f64());
    // The whole check, and without the walk: the schedules within the bound and over texts.
    let whole = Check { depth, ..Check::default() };
    for (name, check) in [
        ("in memory, all of it", whole.clone()),
        ("in memory, no walk", Check { deliveries: 0, ..whole.clone() }),
        ("on SQLite, all of it", Check { store: StoreKind::Sqlite, ..whole }),
    ] {
        measure(name, &check, &guest, rounds);
    }
    println!("most memory at a time:  {:8.1} MiB", peak_memory_bytes() / f64::from(1 << 20));
}

fn measure(name: &str, check: &Check, guest: &Guest, rounds: usize) {
    let mut reports: Vec<Report> =
        (0..rounds).map(|_| check.judge(guest, &|_, _| {}).unwrap()).collect();
    assert!(reports.iter().all(|report| report.verdict() == Verdict::Pass));
    reports.sort_by_key(|report| report.elapsed);
    let median = &reports[rounds / 2];
    let seconds = median.elapsed.as_secs_f64();
    println!(
        "{name}:   {seconds:8.3} s for {} schedules, {} deliveries, {:.0} a second",
        grouped((median.schedules.played + median.texts.played) as u64 / 2),
        grouped(median.deliveries),
        median.deliveries as f64 / seconds
    );
}

/// The most memory that this process has had, by the kernel's account; not a number elsewhere.
fn peak_memory_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib * 1024.0)
}
