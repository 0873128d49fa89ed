//! `run`, one transaction per event, beside a bare loop that does the same SQL: `make bench`.
//!
//! Both read the same file on the same disk, in turns, each on a new database. The program's figure
//! is its own (`--format json`), from the first fetch to the last acknowledgement; the loop's is the
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

/// Events and rounds of a whole bench, and of one that only shows that it runs.
const WHOLE: (u32, usize) = (10_000, 7);
const SHORT: (u32, usize) = (100, 1);

fn main() {
    let short = std::env::args().any(|argument| argument == "--short");
    let (events, rounds) = if short { SHORT } else { WHOLE };
    // Below target/: a temporary folder is often in memory, where a sync costs nothing.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = folder.path();
    let stream = folder.join("events.jsonl");
    write_events(&stream, events);

    println!("{events} events, {rounds} rounds, one transaction per event, synchronous=FULL");
    println!("fsync of 4 KiB, median: {:.3} ms", 1e3 * fsync_seconds(&folder.join("fsync")));
    let (mut loops, mut runs, mut firsts, mut ratios) = (vec![], vec![], vec![], vec![]);
    for round in 0..rounds {
        let bare = bare_loop(&stream, &folder.join(format!("bare-{round}.db")));
        let (run, first) = run_program(&stream, &folder.join(format!("run-{round}.db")));
        loops.push(bare / f64::from(events));
        runs.push(run / f64::from(events));
        firsts.push(first);
        ratios.push(run / bare);
    }
    println!("bare loop, per event:              {:8.1} us", 1e6 * median(&mut loops));
    println!("run, per event:                    {:8.1} us", 1e6 * median(&mut runs));
    println!("run / bare loop, median of rounds: {:8.3}", median(&mut ratios));
    println!("start to first event, not cached:  {:8.1} ms", 1e3 * median(&mut firsts));
}

fn write_events(path: &Path, events: u32) {
    let mut file = std::io::BufWriter::new(File::create(path).unwrap());
    for number in 0..events {
        writeln!(
            file,
            r#"{{"source_event_id":"reading-{number:08}","device_id":"sensor-{}","message":"temperature {}.5 above limit"}}"#,
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

/// What one would write without process-once: the same statements, one transaction per event.
fn bare_loop(events: &Path, database: &Path) -> f64 {
    let mut connection = Connection::open(database).unwrap();
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
    for line in BufReader::new(File::open(events).unwrap()).lines() {
        let line: Line = serde_json::from_str(&line.unwrap()).unwrap();
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        let marked = tx
            .prepare_cached(
                "INSERT INTO processed_reading_events VALUES (?1) ON CONFLICT (event_id) DO NOTHING",
            )
            .unwrap()
            .execute([&line.source_event_id])
            .unwrap();
        if marked == 1 {
            tx.prepare_cached("INSERT INTO alerts VALUES (?1, ?2, ?3)")
                .unwrap()
                .execute([&line.source_event_id, &line.device_id, &line.message])
                .unwrap();
            tx.commit().unwrap();
        }
    }
    began.elapsed().as_secs_f64()
}

/// The program's own seconds, and those from its start to its first event.
fn run_program(events: &Path, database: &Path) -> (f64, f64) {
    let checkpoint = database.with_extension("checkpoint");
    let output = Command::new(env!("CARGO_BIN_EXE_process-once"))
        .args(["run", "--format", "json", "--guest"])
        .arg(guest())
        .args([Path::new("--events"), events, Path::new("--database"), database])
        .args([Path::new("--checkpoint"), &checkpoint])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    fs::remove_file(database).unwrap();
    (summary["seconds"].as_f64().unwrap(), summary["first_event_seconds"].as_f64().unwrap())
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
