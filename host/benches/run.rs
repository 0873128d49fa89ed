//! `run` beside bare loops that do the same SQL: `make bench`.
//!
//! All read the same file on the same disk, in turns, each on a new database. The program's figure
//! is its own (`--format json`), from the first fetch to the last acknowledgement; a loop's is the
//! time of the loop. What is compared is the ratio within one round, for disks and neighbours have
//! moods. `make bench-short` only shows that the bench runs.
#![allow(clippy::unwrap_used, reason = "a bench that cannot go on has nothing to say")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rusqlite::{Connection, TransactionBehavior};
use serde::Deserialize;

/// Events of the large streams, events where each has a transaction of its own, and rounds.
const WHOLE: (u32, u32, usize) = (1_000_000, 5_000, 5);
/// The same where it is only to be shown that the bench runs.
const SHORT: (u32, u32, usize) = (5_000, 100, 1);

/// How many events share a transaction of a bare loop that batches.
const BATCHES: [u32; 2] = [4_096, 16_384];

/// Makes the random ids: the same in every run.
const SEED: u64 = 7;

fn main() {
    let short = std::env::args().any(|argument| argument == "--short");
    let (many, few, rounds) = if short { SHORT } else { WHOLE };
    // Below target/: a temporary folder is often in memory, where a sync costs nothing.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = folder.path();
    println!("{rounds} rounds, synchronous=FULL");
    println!("fsync of 4 KiB, median: {:.3} ms", 1e3 * fsync_seconds(&folder.join("fsync")));

    let stream = folder.join("few.jsonl");
    write_events(&stream, few, Ids::Sequential);
    println!("\none transaction per event, {few} events");
    let mut single = Rounds::default();
    for _ in 0..rounds {
        single.add("bare loop", few, bare_loop(&stream, &folder.join("bare.db"), 1));
        let (run, _) = run_program(&stream, &folder.join("run.db"), &["--batch", "1"]);
        single.add("run --batch 1", few, run);
    }
    single.print();

    for ids in [Ids::Sequential, Ids::Random] {
        let stream = folder.join("many.jsonl");
        write_events(&stream, many, ids);
        println!("\n{many} events, {ids:?} ids");
        let (mut shared, mut firsts) = (Rounds::default(), Vec::new());
        for _ in 0..rounds {
            let (run, first) = run_program(&stream, &folder.join("run.db"), &[]);
            shared.add("run", many, run);
            firsts.push(first);
            for batch in BATCHES {
                let bare = bare_loop(&stream, &folder.join("bare.db"), batch);
                shared.add(&format!("bare loop, {batch} a transaction"), many, bare);
            }
        }
        shared.print();
        let times = shared.rate() / single.rate();
        println!("  run / one transaction per event: {times:.1} (of the medians)");
        println!("  start to first event, not cached: {:.1} ms", 1e3 * median(&mut firsts));
    }
}

/// What was measured, round after round, in events a second; the first is what the others are compared
/// with.
#[derive(Default)]
struct Rounds(Vec<(String, Vec<f64>)>);

impl Rounds {
    fn add(&mut self, name: &str, events: u32, seconds: f64) {
        let rate = f64::from(events) / seconds;
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, rates)) => rates.push(rate),
            None => self.0.push((name.to_owned(), vec![rate])),
        }
    }

    /// The median of the first.
    fn rate(&self) -> f64 {
        self.0.first().map_or(f64::NAN, |(_, rates)| median(&mut rates.clone()))
    }

    fn print(&self) {
        let Some((first, base)) = self.0.first() else { return };
        for (name, rates) in &self.0 {
            println!("  {name:<32} {:12.0} events/s", median(&mut rates.clone()));
        }
        for (name, rates) in self.0.iter().skip(1) {
            let mut ratios: Vec<f64> = base.iter().zip(rates).map(|(a, b)| a / b).collect();
            println!("  {first} / {name}: {:.2} (median of rounds)", median(&mut ratios));
        }
    }
}

/// How the ids of a stream are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    Sequential,
    Random,
}

fn write_events(path: &Path, events: u32, ids: Ids) {
    let mut file = std::io::BufWriter::new(File::create(path).unwrap());
    let mut random = fastrand::Rng::with_seed(SEED);
    for number in 0..events {
        let id = match ids {
            Ids::Sequential => format!("reading-{number:08}"),
            Ids::Random => format!("{:032x}", random.u128(..)),
        };
        writeln!(
            file,
            r#"{{"source_event_id":"{id}","device_id":"sensor-{}","message":"temperature {}.5 above limit"}}"#,
            number % 17,
            20 + number % 60,
        )
        .unwrap();
    }
    file.flush().unwrap();
}

/// What the disk takes to make a small write durable.
fn fsync_seconds(path: &Path) -> f64 {
    let mut file = File::create(path).unwrap();
    let mut times: Vec<f64> = (0..101)
        .map(|_| {
            let began = Instant::now();
            file.write_all(&[0; 4096]).unwrap();
            file.sync_data().unwrap();
            began.elapsed().as_secs_f64()
        })
        .collect();
    median(&mut times)
}

#[derive(Deserialize)]
struct Line {
    source_event_id: String,
    device_id: String,
    message: String,
}

/// What one would write without process-once: the same statements, so many events a transaction.
fn bare_loop(events: &Path, database: &Path, batch: u32) -> f64 {
    let connection = Connection::open(database).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
             CREATE TABLE processed_reading_events (event_id TEXT NOT NULL PRIMARY KEY)
                 STRICT, WITHOUT ROWID;
             CREATE TABLE alerts (
                 source_event_id TEXT NOT NULL PRIMARY KEY
                     REFERENCES processed_reading_events (event_id),
                 device_id TEXT NOT NULL,
                 message TEXT NOT NULL) STRICT, WITHOUT ROWID;",
        )
        .unwrap();
    let began = Instant::now();
    let mut lines = BufReader::new(File::open(events).unwrap()).lines().peekable();
    while lines.peek().is_some() {
        let behavior = TransactionBehavior::Immediate;
        let tx = rusqlite::Transaction::new_unchecked(&connection, behavior).unwrap();
        for line in lines.by_ref().take(batch as usize) {
            apply(&tx, &serde_json::from_str(&line.unwrap()).unwrap());
        }
        tx.commit().unwrap();
    }
    let seconds = began.elapsed().as_secs_f64();
    drop(connection);
    fs::remove_file(database).unwrap();
    seconds
}

fn apply(connection: &Connection, line: &Line) {
    let marked = connection
        .prepare_cached(
            "INSERT INTO processed_reading_events VALUES (?1) ON CONFLICT (event_id) DO NOTHING",
        )
        .unwrap()
        .execute([&line.source_event_id])
        .unwrap();
    if marked == 1 {
        connection
            .prepare_cached("INSERT INTO alerts VALUES (?1, ?2, ?3)")
            .unwrap()
            .execute([&line.source_event_id, &line.device_id, &line.message])
            .unwrap();
    }
}

/// The program's own seconds, and those from its start to its first event.
fn run_program(events: &Path, database: &Path, options: &[&str]) -> (f64, f64) {
    let checkpoint = database.with_extension("checkpoint");
    let output = Command::new(env!("CARGO_BIN_EXE_process-once"))
        .args(["run", "--format", "json", "--guest"])
        .arg(guest())
        .args([Path::new("--events"), events, Path::new("--database"), database])
        .args([Path::new("--checkpoint"), &checkpoint])
        .args(options)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    fs::remove_file(database).unwrap();
    fs::remove_file(checkpoint).unwrap();
    let seconds = |name: &str| summary[name].as_f64().unwrap();
    (seconds("seconds"), seconds("first_event_seconds"))
}

/// The reference guest, where `make guests` leaves it: beside the program's folder.
fn guest() -> std::path::PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_process-once"));
    program.parent().unwrap().join("../components/process-once.wasm")
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
