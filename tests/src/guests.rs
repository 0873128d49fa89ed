//! The guests that tests run, and processors of them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use process_once::contract::Rule;
use process_once::engine::{Engine, Guest, Limits};
use process_once::event::Event;
use process_once::processor::{Delivery, Processor};
use process_once::store::{Faults, Faulty, Store, Traced};

use crate::stores::{LONG, Lab, alert};

/// The reference guest, as `make guests` leaves it.
pub const REFERENCE: &str = "process-once.wasm";

/// Where the components are: below cargo's target folder, where this test was built.
///
/// # Panics
/// If it is not there: a test without its guest fails and does not pass for want of it.
#[must_use]
pub fn component(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    // target/release/deps/test
    let target = test.ancestors().nth(3).unwrap();
    let path = target.join("components").join(name);
    assert!(path.is_file(), "{} is missing; `make test` builds it", path.display());
    path
}

/// The source of a guest of the tests, by its path below `tests/guests`.
#[must_use]
pub fn sources(kind: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests").join(kind);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let sources = entries.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let mut names: Vec<String> =
        sources.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// What the file of a wrong guest says of it: the first lines are
///
/// ```text
/// //! Breaks R9: it commits again after a commit that failed.
/// //!
/// //! Expected:
/// //! - R9: commit was called a second time
/// ```
#[derive(Debug)]
pub struct Header {
    /// The rules that it breaks, in order, each with what the judge says.
    pub expected: Vec<(Rule, String)>,
}

impl Header {
    /// Reads the header of a guest below `tests/guests/wrong`.
    ///
    /// # Panics
    /// If there is none, or its parts disagree.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let lines = documentation("wrong", name);
        let (title, rest) = lines.split_first().unwrap();
        let rules = title.strip_prefix("Breaks ").and_then(|title| title.split_once(": "));
        let (rules, _) = rules.unwrap_or_else(|| panic!("{name} does not say what it breaks"));
        let mut expected: Vec<(Rule, String)> = Vec::new();
        for line in rest.iter().skip_while(|line| *line != "Expected:").skip(1) {
            match line.strip_prefix("- ").and_then(|line| line.split_once(": ")) {
                Some((rule, what)) => expected.push((rule.parse().unwrap(), what.to_owned())),
                // A long one goes on in the next line.
                None => expected.last_mut().unwrap().1 += &format!(" {}", line.trim()),
            }
        }
        let header = Self { expected };
        assert_eq!(header.names(), rules.replace(" and ", ", "), "{name}: its parts disagree");
        header
    }

    /// The rules by name.
    #[must_use]
    pub fn names(&self) -> String {
        self.expected.iter().map(|(rule, _)| rule.to_string()).collect::<Vec<_>>().join(", ")
    }
}

/// What is unusual about a guest below `tests/guests/odd`, by its own words.
///
/// # Panics
/// If it does not say.
#[must_use]
pub fn oddity(name: &str) -> String {
    let text = documentation("odd", name).join(" ");
    let oddity = text.strip_prefix("Right, and odd: ");
    oddity.unwrap_or_else(|| panic!("{name} does not say what is odd about it")).to_owned()
}

/// The lines of the documentation at the top of a guest's file, up to the first that is empty after a
/// list.
fn documentation(kind: &str, name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests").join(kind).join(name);
    let source = std::fs::read_to_string(path.with_extension("rs")).unwrap();
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.trim_start_matches(' ').to_owned()).collect()
}

/// Limits that no right guest reaches, however slow the machine.
#[must_use]
pub fn patient() -> Limits {
    Limits { delivery: LONG, transaction: LONG, ..Limits::default() }
}

/// Limits that a guest which never returns reaches soon.
#[must_use]
pub fn impatient() -> Limits {
    let soon = Duration::from_millis(200);
    Limits {
        delivery: soon,
        transaction: soon,
        grace: Duration::from_millis(50),
        ..Limits::default()
    }
}

/// Loads a component within limits.
#[must_use]
pub fn load(name: &str, limits: Limits) -> Guest {
    Engine::new(limits).unwrap().load(component(name)).unwrap()
}

/// A processor that records, on a store that can be made to fail.
#[must_use]
pub fn faulty_processor<L: Lab>(lab: &L, guest: &Guest) -> (Processor<Faulty<L::Store>>, Faults) {
    let store = Faulty::new(lab.open(LONG));
    let faults = store.faults();
    (recording(guest, store), faults)
}

/// A processor that records, on any store.
#[must_use]
pub fn recording<S: Store>(guest: &Guest, store: S) -> Processor<S> {
    Processor::new(guest.clone(), store).unwrap().record_calls(true)
}

/// A processor that records, on a store that records as well.
#[must_use]
pub fn traced_processor<S: Store>(
    guest: &Guest,
    store: S,
) -> (Processor<Traced<S>>, process_once::store::CallLog) {
    let store = Traced::new(store);
    let log = store.log();
    (recording(guest, store), log)
}

/// The event of the alert that [`alert`] makes for an id.
#[must_use]
pub fn event(id: &str) -> Event {
    Event::new(alert(id)).unwrap()
}

/// The trace of a delivery in its text form.
#[must_use]
pub fn text(delivery: &Delivery) -> String {
    delivery.trace.as_ref().unwrap().to_string()
}
