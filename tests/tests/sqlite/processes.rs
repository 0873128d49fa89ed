//! Other processes: at the same database, and without the right to write.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use process_once::store::SqliteBulk;
use tests::stores::{LONG, Lab, SqliteLab, Stored, alert, deliver};

fn contender(program: impl AsRef<Path>, arguments: &[&str]) -> Command {
    let mut command = Command::new(program.as_ref());
    command.args(arguments).stdout(Stdio::piped());
    command
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_contender");

#[test]
fn two_processes_store_each_event_once() {
    const EVENTS: u32 = 200;
    let lab = SqliteLab::new();
    let path = lab.path();
    let arguments = ["apply", path.to_str().unwrap(), &EVENTS.to_string()];
    let processes = [(); 2].map(|()| contender(PROGRAM, &arguments).spawn().unwrap());
    let applied = processes.map(|process| {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        text.strip_suffix(" new\n").unwrap().parse::<u32>().unwrap()
    });
    assert_eq!(applied.iter().sum::<u32>(), EVENTS);
    let alerts: Vec<_> = (0..EVENTS).map(|n| alert(&n.to_string())).collect();
    assert_eq!(lab.stored(), Stored::pairs(&alerts));
}

/// The operating system refuses to let the write-ahead log grow: the failure comes in COMMIT itself,
/// which ends the transaction, and the code does not say how it ended.
#[test]
fn a_commit_that_ended_the_transaction_with_an_error_is_of_unknown_outcome() {
    let lab = SqliteLab::altered("");
    let path = lab.path();
    let limited = "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\"";
    let arguments = ["-c", limited, PROGRAM, "apply", path.to_str().unwrap(), "1000"];
    let output = contender("sh", &arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (failed, error) = text.split_once(": ").unwrap();
    assert_eq!(
        error,
        "outcome unknown, Some(778)\n\
         commit: it is unknown whether it was applied: disk I/O error\n\
         Error code 778: disk I/O error\n"
    );
    // Whichever it was, a redelivery ends with one pair, and all events before were applied.
    let failed: u32 = failed.parse().unwrap();
    let mut store = lab.open(LONG);
    let alerts: Vec<_> = (0..=failed).map(|n| alert(&n.to_string())).collect();
    let (last, before) = alerts.split_last().unwrap();
    assert!(!before.is_empty());
    assert!(before.iter().all(|alert| deliver(&mut store, alert) == Ok(false)));
    deliver(&mut store, last).unwrap();
    assert_eq!(lab.stored(), Stored::pairs(&alerts));
}

/// Opens the database in a process that is bound by the permissions of files, as root is not.
fn open_unprivileged(lab: &SqliteLab) -> String {
    let path = lab.path();
    // The process needs to reach the program and the database, wherever this repository lies.
    let tools = tempfile::tempdir().unwrap();
    fs::set_permissions(tools.path(), Permissions::from_mode(0o755)).unwrap();
    let program = tools.path().join("contender");
    // Not by this process: a child of another test could hold the copy open for writing just when
    // it is to be run.
    let copied = Command::new("cp").arg(PROGRAM).arg(&program).status().unwrap();
    assert!(copied.success());
    let mut command = contender(&program, &["open", path.to_str().unwrap()]);
    if fs::metadata(tools.path()).unwrap().uid() == 0 {
        command.uid(65_534).gid(65_534);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.replace(&format!("{path:?}"), "DB")
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_read_only_database_is_refused() {
    let lab = SqliteLab::altered("");
    set_mode(&lab.path(), 0o444);
    set_mode(lab.folder(), 0o777);
    assert_eq!(
        open_unprivileged(&lab),
        "database DB cannot be written; make the file and its folder writable, SQLite keeps two \
         more files there\n"
    );
}

#[test]
fn a_database_in_a_read_only_folder_is_refused() {
    let lab = SqliteLab::altered("");
    set_mode(&lab.path(), 0o666);
    set_mode(lab.folder(), 0o555);
    let text = open_unprivileged(&lab);
    set_mode(lab.folder(), 0o755);
    assert_eq!(
        text,
        "database DB cannot be written; make the file and its folder writable, SQLite keeps two \
         more files there\n\
         attempt to write a readonly database\n\
         Error code 1544: attempt to write a readonly database\n"
    );
}

#[test]
fn a_database_that_cannot_be_created_is_refused() {
    let lab = SqliteLab::new();
    set_mode(lab.folder(), 0o555);
    let text = open_unprivileged(&lab);
    set_mode(lab.folder(), 0o755);
    assert!(text.starts_with("database DB cannot be opened or created; make the file"), "{text}");
}

#[test]
fn a_file_that_may_not_be_read_is_refused() {
    let lab = SqliteLab::altered("");
    set_mode(&lab.path(), 0o000);
    set_mode(lab.folder(), 0o777);
    let text = open_unprivileged(&lab);
    assert!(text.starts_with("database DB cannot be opened or created; make the file"), "{text}");
}

#[test]
fn the_unprivileged_process_opens_what_it_may_write() {
    let lab = SqliteLab::altered("");
    set_mode(&lab.path(), 0o666);
    set_mode(lab.folder(), 0o777);
    assert_eq!(open_unprivileged(&lab), "opened\n");
    assert_eq!(deliver(&mut lab.open(LONG), &alert("e")), Ok(true));
}

/// Two runs that were started at once: the connections for batches were opened without waiting, and the
/// second run could not start while the first one wrote.
#[test]
fn a_connection_for_batches_waits_for_another_writer() {
    let lab = SqliteLab::new();
    let store = lab.open(LONG);
    let other = lab.connection();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (opened, answer) = mpsc::channel();
    let waiting = thread::spawn(move || opened.send(SqliteBulk::new(&store).map(drop)));
    // Whoever does not wait has answered by then.
    let early = answer.recv_timeout(Duration::from_millis(50));
    assert!(early.is_err(), "it did not wait: {early:?}");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(answer.recv().unwrap(), Ok(()));
    waiting.join().unwrap().unwrap();
}
