//! Cancelling a delivery, and its deadlines: at each call, waited for or not.

use std::sync::mpsc;
use std::time::Duration;

use process_once::contract::Stored as Known;
use process_once::deadline::Deadline;
use process_once::engine::Limits;
use process_once::event::Alert;
use process_once::handle::Handle;
use process_once::processor::{FailureReason, Outcome, Processor};
use process_once::store::{ErrorClass, Memory, Store, StoreError, Tx};
use tests::guests::{REFERENCE, event, load, patient};
use tests::stores::alert;

/// The calls of a new event, in order.
const CALLS: [&str; 4] = ["begin", "try-mark", "save-alert", "commit"];

/// What happens inside of a call.
type Inside = Box<dyn FnMut(&'static str, &Deadline) + Send>;

/// A store in memory that does something inside of each call, before it answers.
struct Eventful {
    inner: Memory,
    inside: std::sync::Arc<std::sync::Mutex<Inside>>,
}

struct EventfulTx {
    inner: <Memory as Store>::Tx,
    inside: std::sync::Arc<std::sync::Mutex<Inside>>,
    deadline: Deadline,
}

impl Eventful {
    fn new(inner: Memory, inside: impl FnMut(&'static str, &Deadline) + Send + 'static) -> Self {
        let inside: Inside = Box::new(inside);
        Self { inner, inside: std::sync::Arc::new(std::sync::Mutex::new(inside)) }
    }
}

impl Store for Eventful {
    type Tx = EventfulTx;

    fn begin(&mut self, deadline: &Deadline) -> Result<EventfulTx, StoreError> {
        (self.inside.lock().unwrap())("begin", deadline);
        let inner = self.inner.begin(deadline)?;
        Ok(EventfulTx { inner, inside: self.inside.clone(), deadline: deadline.clone() })
    }
}

impl EventfulTx {
    fn inside(&self, call: &'static str) {
        (self.inside.lock().unwrap())(call, &self.deadline);
    }
}

impl Tx for EventfulTx {
    fn try_mark(&mut self, event_id: &str) -> Result<bool, StoreError> {
        self.inside("try-mark");
        self.inner.try_mark(event_id)
    }

    fn save_alert(&mut self, alert: &Alert) -> Result<(), StoreError> {
        self.inside("save-alert");
        self.inner.save_alert(alert)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        // The commit is under way: it is carried out whatever happens meanwhile.
        let committed = self.inner.commit();
        self.inside("commit");
        committed
    }

    fn rollback(&mut self) {
        self.inner.rollback();
    }
}

/// Ends a delivery inside of `call` by `end`, and looks at what comes of it.
fn check(call: &'static str, limits: Limits, end: fn(&Deadline), class: ErrorClass) {
    let memory = Memory::new();
    let store = Eventful::new(memory.clone(), move |called, deadline| {
        if called == call {
            end(deadline);
        }
    });
    let mut processor = Processor::new(load(REFERENCE, limits), store).unwrap();
    let failure = processor.process(&event("e")).unwrap_err();
    let FailureReason::Store(error) = failure.reason else { panic!("{call}: {failure:?}") };
    if call == "commit" {
        assert_eq!((error.class(), failure.stored), (ErrorClass::OutcomeUnknown, Known::Unknown));
        assert_eq!(memory.alerts(), [alert("e")], "it had happened all the same");
    } else {
        assert_eq!((error.class(), failure.stored), (class, Known::No), "{call}");
        assert_eq!(memory.markers(), [""; 0], "{call}: what was staged is undone");
    }
    // The next delivery is not disturbed: another store finds the data free at once.
    let mut processor = Processor::new(load(REFERENCE, patient()), memory.clone()).unwrap();
    let expected = if call == "commit" { Outcome::AlreadyApplied } else { Outcome::Applied };
    assert_eq!(processor.process(&event("e")).unwrap(), expected, "{call}");
}

#[test]
fn a_delivery_that_is_cancelled_in_a_call_is_undone_and_in_a_commit_unknown() {
    for call in CALLS {
        check(call, patient(), Deadline::cancel, ErrorClass::Cancelled);
    }
}

/// Lets the time of the delivery, or of the transaction, run out.
fn run_out(deadline: &Deadline) {
    deadline.wait(Duration::from_secs(60)).unwrap_err();
}

#[test]
fn a_delivery_whose_deadline_passes_in_a_call_is_undone_and_in_a_commit_unknown() {
    let limits = Limits { delivery: Duration::from_millis(100), ..patient() };
    for call in CALLS {
        check(call, limits.clone(), run_out, ErrorClass::Deadline);
    }
}

#[test]
fn a_transaction_has_a_deadline_of_its_own() {
    let limits = Limits { transaction: Duration::from_millis(100), ..patient() };
    for call in &CALLS[1..] {
        check(call, limits.clone(), run_out, ErrorClass::Deadline);
    }
}

/// Drops an awaited `process` while the guest is inside of `call`.
fn check_dropped(call: &'static str) {
    let memory = Memory::new();
    let (entered, inside) = mpsc::channel();
    let store = Eventful::new(memory.clone(), move |called, deadline| {
        if called == call && entered.send(()).is_ok() {
            deadline.wait(Duration::from_secs(60)).unwrap_err();
        }
    });
    let processor = Processor::new(load(REFERENCE, patient()), store).unwrap();
    let handle = Handle::spawn(processor).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        {
            let mut delivery = std::pin::pin!(handle.process(event("e")));
            // The job is sent at the first poll; the guest is then inside of the call.
            let polled = poll_once(delivery.as_mut()).await;
            assert!(polled.is_none(), "{call}");
            inside.recv().unwrap();
        }
        // The receiver is gone, so the next delivery runs through.
        drop(inside);
        let expected = if call == "commit" { Outcome::AlreadyApplied } else { Outcome::Applied };
        assert_eq!(handle.process(event("e")).await.unwrap(), expected, "{call}");
        handle.close().await;
    });
    assert_eq!(memory.alerts(), [alert("e")], "{call}");
}

/// Polls a future once; its value if it is ready.
async fn poll_once<F: Future>(mut future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    std::future::poll_fn(move |context| match future.as_mut().poll(context) {
        std::task::Poll::Ready(value) => std::task::Poll::Ready(Some(value)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}

#[test]
fn a_dropped_process_is_undone_and_the_next_event_is_right() {
    for call in CALLS {
        check_dropped(call);
    }
}
