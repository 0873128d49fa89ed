//! Embedding the host: load a guest, give it a store, deliver events.
//!
//! ```text
//! make guests
//! cargo run --release -p process-once --example embed -- target/components/process-once.wasm
//! ```

use process_once::engine::{Engine, Limits};
use process_once::event::{Alert, Event};
use process_once::handle::Handle;
use process_once::processor::{FailureReason, Processor};
use process_once::store::Memory;

type Anything = Box<dyn std::error::Error>;

fn main() -> Result<(), Anything> {
    let guest = std::env::args().nth(1).ok_or("give the path of a guest component")?;
    let engine = Engine::new(Limits::default())?;
    let guest = engine.load(guest)?;
    let event = Event::new(Alert::new("reading-1", "boiler", "too hot"))?;

    // On the caller's thread. `Sqlite::open` gives a store that lasts; any `Store` will do.
    let store = Memory::new();
    let mut processor = Processor::new(guest.clone(), store.clone())?;
    match processor.process(&event) {
        Ok(outcome) => println!("on this thread: {}", outcome.name()),
        Err(failure) => match failure.reason {
            FailureReason::Store(error) => println!("the store's own error: {error:?}"),
            reason => println!("the guest's fault: {reason:?}"),
        },
    }

    // Awaited, on a thread of its own. Dropping the future cancels the delivery.
    let handle = Handle::spawn(Processor::new(guest, store.clone())?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let answer = runtime.block_on(async {
        let answer = handle.process(event).await;
        handle.close().await;
        answer
    });
    println!("awaited: {}", answer?.name());
    println!("{} marker, {} alert", store.markers().len(), store.alerts().len());
    Ok(())
}
