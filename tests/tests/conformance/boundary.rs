//! The consumer: what is acknowledged, against what was answered, for every fault at every event.

use std::convert::Infallible;
use std::io;

use process_once::engine::Guest;
use process_once::handle::Handle;
use process_once::processor::{Outcome, Processor};
use process_once::run::{Seen, Stop, consume};
use process_once::source::{Offset, Received, Source};
use process_once::store::{ErrorClass, Fault, Faulty, Memory, StoreError};
use tests::guests::{REFERENCE, event, load, patient};
use tests::stores::alert;

/// A short stream with redeliveries.
const STREAM: [&str; 6] = ["a", "b", "a", "c", "c", "d"];

/// A source in memory that can be started again behind its last acknowledgement.
#[derive(Default)]
struct Remembered {
    next: usize,
    acknowledged: usize,
    flushed: bool,
}

impl Source for Remembered {
    type Error = Infallible;

    async fn next(&mut self) -> Result<Option<Received>, Infallible> {
        let Some(id) = STREAM.get(self.next) else { return Ok(None) };
        self.next += 1;
        let line = self.next as u64;
        let offset = Offset { byte: line, line };
        Ok(Some(Received { event: event(id), offset }))
    }

    async fn ack(&mut self, received: &Received) -> Result<(), Infallible> {
        let line = usize::try_from(received.offset.line).unwrap();
        assert_eq!(line, self.acknowledged + 1, "acknowledgements keep the delivery order");
        self.acknowledged = line;
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), Infallible> {
        self.flushed = true;
        Ok(())
    }
}

/// Consumes until the end or a failure; what was answered, in order, and how it stopped.
fn run(
    source: &mut Remembered,
    guest: &Guest,
    store: Faulty<Memory>,
    mut watch: impl FnMut(&Received) -> io::Result<()>,
) -> (Vec<Option<Outcome>>, Result<(), Stop<Infallible>>) {
    let handle = Handle::spawn(Processor::new(guest.clone(), store).unwrap()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut answers = Vec::new();
    let (counts, ended) = runtime.block_on(async {
        let mut watch = |seen: Seen<'_>| {
            answers.push(seen.answer.ok());
            watch(seen.received)
        };
        let done = consume(source, &handle, std::future::pending(), &mut watch).await;
        handle.close().await;
        done
    });
    assert!(source.flushed, "what was acknowledged is made durable, however it ends");
    let said = |outcome| answers.iter().filter(|answer| **answer == Some(outcome)).count() as u64;
    if ended.is_ok() || matches!(ended, Err(Stop::Delivery { .. })) {
        assert_eq!(counts.applied, said(Outcome::Applied));
        assert_eq!(counts.already_applied, said(Outcome::AlreadyApplied));
    }
    (answers, ended)
}

/// The distinct ids of the first `count` events, in order.
fn distinct(count: usize) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for id in &STREAM[..count] {
        if !ids.iter().any(|seen| seen == id) {
            ids.push((*id).to_owned());
        }
    }
    ids
}

fn check(guest: &Guest, fault: Fault, nth: usize) {
    let context = format!("{fault:?}, call {nth}");
    let memory = Memory::new();
    let store = Faulty::new(memory.clone());
    let error = StoreError::new(ErrorClass::OutcomeUnknown, "no luck");
    store.faults().arm(fault, nth, error.clone());
    let mut source = Remembered::default();
    let (answers, ended) = run(&mut source, guest, store, |_| Ok(()));
    let Err(Stop::Delivery { offset, source: failure, .. }) = ended else { panic!("{context}") };
    let process_once::processor::FailureReason::Store(told) = failure.reason else {
        panic!("{context}: {failure:?}")
    };
    assert!(told.is(&error), "{context}: the very error");
    let failed = usize::try_from(offset.line).unwrap();
    assert_eq!(source.acknowledged, failed - 1, "{context}: all before it, nothing from it on");
    assert_eq!(answers.len(), failed, "{context}: nothing was delivered after it");
    assert!(answers[..failed - 1].iter().all(Option::is_some), "{context}");
    let kept = failed - usize::from(fault != Fault::CommitReplyLost);
    assert_eq!(memory.markers(), distinct(kept), "{context}: what is stored is a prefix");

    // After a restart the rest comes, and the pairs are right.
    let mut source =
        Remembered { next: source.acknowledged, acknowledged: source.acknowledged, flushed: false };
    let (_, ended) = run(&mut source, guest, Faulty::new(memory.clone()), |_| Ok(()));
    assert!(ended.is_ok(), "{context}");
    assert_eq!(source.acknowledged, STREAM.len(), "{context}");
    assert_eq!(memory.markers(), distinct(STREAM.len()), "{context}");
    assert_eq!(
        memory.alerts(),
        distinct(STREAM.len()).iter().map(|id| alert(id)).collect::<Vec<_>>()
    );
}

#[test]
fn an_event_is_acknowledged_exactly_if_it_and_all_before_it_were_handled() {
    let guest = load(REFERENCE, patient());
    for nth in 1..=STREAM.len() {
        check(&guest, Fault::Begin, nth);
        check(&guest, Fault::TryMark, nth);
    }
    for nth in 1..=distinct(STREAM.len()).len() {
        for fault in [Fault::SaveAlert, Fault::CommitNotApplied, Fault::CommitReplyLost] {
            check(&guest, fault, nth);
        }
    }
}

#[test]
fn an_event_that_could_not_be_shown_is_not_acknowledged() {
    let guest = load(REFERENCE, patient());
    let mut source = Remembered::default();
    let (_, ended) = run(&mut source, &guest, Faulty::new(Memory::new()), |received| {
        if received.offset.line == 3 { Err(io::Error::other("no room")) } else { Ok(()) }
    });
    let Err(Stop::Watch { offset, .. }) = ended else { panic!("{ended:?}") };
    assert_eq!((offset.line, source.acknowledged), (3, 2));
}

#[test]
fn a_drain_before_the_first_event_takes_none() {
    let handle = Processor::new(load(REFERENCE, patient()), Memory::new()).unwrap();
    let handle = Handle::spawn(handle).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut source = Remembered::default();
    let (counts, ended) = runtime.block_on(async {
        consume(&mut source, &handle, std::future::ready(()), &mut |_: Seen<'_>| Ok(())).await
    });
    assert!(ended.is_ok());
    assert_eq!((counts.events(), source.next, source.flushed), (0, 0, true));
}
