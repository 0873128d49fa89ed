//! The real program, in a folder of its own.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::TempDir;

/// Where the program is: where this test was built.
///
/// # Panics
/// If it is not there.
#[must_use]
pub fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join("process-once");
    assert!(path.is_file(), "{} is missing; `make test` builds it", path.display());
    path
}

/// A folder, and commands in it.
#[derive(Debug)]
pub struct Desk {
    folder: TempDir,
}

/// What a command came to, with the desk's folder taken out of its texts.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Default for Desk {
    fn default() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }
}

impl Desk {
    /// The path of a file on the desk.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Appends to a file.
    pub fn append(&self, name: &str, text: &str) {
        let mut file = OpenOptions::new().append(true).open(self.path(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// The program with arguments that are separated by blanks, to be run on the desk.
    #[must_use]
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(program());
        command.args(arguments.split_whitespace()).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts the program.
    #[must_use]
    pub fn start(&self, arguments: &str) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    /// Runs the program to its end.
    #[must_use]
    pub fn run(&self, arguments: &str) -> Ran {
        self.ran(self.start(arguments))
    }

    /// Runs the program to its end, with this on its standard input.
    #[must_use]
    pub fn run_with(&self, arguments: &str, stdin: &[u8]) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(stdin).unwrap();
        self.ran(child)
    }

    /// Waits for the end of a program.
    #[must_use]
    pub fn ran(&self, child: Child) -> Ran {
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            text.replace(self.folder.path().to_str().unwrap(), "DESK")
        };
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Ran { code: output.status.code(), stdout, stderr }
    }

    /// How many alerts a database has; none while its tables are being made.
    #[must_use]
    pub fn count(&self, database: &str) -> i64 {
        let connection = Connection::open(self.path(database)).unwrap();
        connection.query_row("SELECT count(*) FROM alerts", [], |row| row.get(0)).unwrap_or(0)
    }

    /// The ids of the alerts in a database, sorted; the markers are the same.
    #[must_use]
    pub fn alerts(&self, database: &str) -> Vec<String> {
        let connection = Connection::open(self.path(database)).unwrap();
        let ids = |query: &str| -> Vec<String> {
            let mut statement = connection.prepare(query).unwrap();
            let rows = statement.query_map([], |row| row.get(0)).unwrap();
            rows.collect::<Result<_, _>>().unwrap()
        };
        let alerts = ids("SELECT source_event_id FROM alerts ORDER BY 1");
        let markers = ids("SELECT event_id FROM processed_reading_events ORDER BY 1");
        assert_eq!(alerts, markers, "every pair is whole");
        alerts
    }
}

/// A pipe that has a reader and no room: whoever writes to it is held until it is dropped.
#[must_use]
pub fn full_pipe(desk: &Desk, name: &str) -> File {
    let path = desk.path(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let nonblocking = 0o4_000;
    let mut options = OpenOptions::new();
    let mut pipe = options.read(true).write(true).custom_flags(nonblocking).open(path).unwrap();
    while pipe.write(b" ").is_ok() {}
    pipe
}

/// One line of events.
#[must_use]
pub fn line(id: &str) -> String {
    format!("{{\"source_event_id\":\"{id}\",\"device_id\":\"d\",\"message\":\"m\"}}\n")
}

/// Waits until something is so.
///
/// # Panics
/// If it is not so after a minute, which is far longer than it takes.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "in vain: {what}");
        std::thread::yield_now();
    }
}

/// Sends a signal to a program.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Whether a program has a handler for SIGTERM, by the kernel's account.
#[must_use]
pub fn catches_sigterm(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    let sigterm = 15;
    u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << (sigterm - 1)) != 0
}

/// How much a program's thread of that name has computed, in the kernel's ticks of 10 ms.
#[must_use]
pub fn ticks(child: &Child, thread: &str) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten();
    let stats = threads.flatten().map(|thread| std::fs::read_to_string(thread.path().join("stat")));
    let name = format!("({thread}) ");
    // A thread may have ended since.
    let stat = stats.flatten().find(|stat| stat.contains(&name)).unwrap_or_default();
    let rest = stat.split_once(&name).map_or("", |(_, rest)| rest);
    // The fields behind the name begin with the third; the fourteenth is the time in user mode.
    rest.split(' ').nth(11).and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

/// The events of the samples.
#[must_use]
pub fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/events.jsonl")
}
