//! One instance of a guest, and one delivery to it: what is common to running guests and judging them.

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wasmtime::component::Linker;
use wasmtime::{PoolConcurrencyLimitError, StoreContextMut, UpdateDeadline};

use crate::bindings::GuestPre;
use crate::bindings::process_once::alerts::types;
use crate::contract::{Returned, RuleSet};
use crate::deadline::Deadline;
use crate::engine::Guest;
use crate::event::Event;
use crate::imports::{self, Backend, Context, ErrorHandle, GraceOver, GuestFault, Left};
use crate::store::Memory;

/// How soon a full pool is asked again.
const RETRY: Duration = Duration::from_millis(1);

/// A guest whose imports are linked to the host: instances are made of it.
pub(crate) struct Linked<B: Backend> {
    guest: Guest,
    pre: GuestPre<Context<B>>,
}

impl<B: Backend> Linked<B> {
    /// Links a guest's imports to the host, and finds its export.
    ///
    /// # Errors
    /// The imports or the exports have the right names and other types.
    pub(crate) fn new(guest: Guest) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let mut linker = Linker::new(&guest.engine.wasmtime);
        let linked = imports::link_store(&mut linker)
            .and_then(|()| imports::link_wasi(&mut linker, &guest.component))
            .and_then(|()| linker.instantiate_pre(&guest.component))
            .and_then(GuestPre::new);
        match linked {
            Ok(pre) => Ok(Self { guest, pre }),
            Err(error) => Err(error.into_boxed_dyn_error()),
        }
    }

    pub(crate) fn guest(&self) -> &Guest {
        &self.guest
    }
}

/// Whether a component's imports and exports have the types of the interface.
pub(crate) fn check(guest: &Guest) -> Result<(), Box<dyn Error + Send + Sync>> {
    Linked::<Memory>::new(guest.clone()).map(|_| ())
}

/// A guest that has started.
pub(crate) struct Instance<B: Backend> {
    wasm: wasmtime::Store<Context<B>>,
    exports: crate::bindings::Guest,
    /// What the guest wrote in start-up, until its first delivery takes it.
    output: Vec<String>,
}

/// A guest that failed in start-up.
pub(crate) struct Stillborn {
    /// Its own fault, or the rule that it broke there.
    pub(crate) fault: GuestFault,
    /// The lines that it wrote.
    pub(crate) output: Vec<String>,
}

/// What one delivery came to, before anybody judges it.
pub(crate) struct Called {
    /// What the guest returned, or how it ended otherwise.
    pub(crate) returned: Result<Answer, GuestFault>,
    pub(crate) left: Left,
}

/// What a guest returned.
pub(crate) enum Answer {
    Unknown,
    Applied,
    AlreadyApplied,
    Error(ErrorHandle),
}

impl Answer {
    /// The answer as the contract's model knows it.
    pub(crate) fn returned(&self) -> Returned {
        match self {
            Self::Unknown => Returned::Unknown,
            Self::Applied => Returned::Applied,
            Self::AlreadyApplied => Returned::AlreadyApplied,
            Self::Error(handle) => Returned::Error(handle.id),
        }
    }
}

impl<B: Backend> Instance<B> {
    /// Starts a guest on `store`, within `deadline`; the model will ask it for `rules`. Without a
    /// deadline the guest may take as long as a delivery, by the epoch.
    ///
    /// # Errors
    /// It failed in start-up.
    pub(crate) fn start(
        linked: &Linked<B>,
        store: &Arc<Mutex<B>>,
        deadline: Option<&Deadline>,
        rules: RuleSet,
    ) -> Result<Self, Stillborn> {
        let engine = &linked.guest.engine;
        let grace = engine.limits().grace;
        let mut context = Context::new(Arc::clone(store), engine, rules);
        context.watch(deadline);
        let mut wasm = wasmtime::Store::new(&engine.wasmtime, context);
        wasm.limiter(|context| &mut context.limiter);
        wasm.epoch_deadline_callback(move |context: StoreContextMut<'_, Context<B>>| match context
            .data()
            .overdue()
        {
            Some(late) if late >= grace => Err(GraceOver.into()),
            _ => Ok(UpdateDeadline::Continue(1)),
        });
        refill(&mut wasm, deadline);
        let started = instantiate(linked, &mut wasm, deadline)
            .map_err(|error| imports::classify(&error, &wasm.data().limiter));
        let Left { violation, output, .. } = wasm.data_mut().finish();
        match (started, violation) {
            (Ok(exports), None) => Ok(Self { wasm, exports, output }),
            (Err(fault), _) => Err(Stillborn { fault, output }),
            (Ok(_), Some(violation)) => {
                Err(Stillborn { fault: GuestFault::Contract(violation), output })
            }
        }
    }

    /// Delivers `event` within `deadline`, as for [`start`](Self::start); `record` says whether the
    /// calls are recorded.
    pub(crate) fn call(
        &mut self,
        event: &Event,
        deadline: Option<&Deadline>,
        record: bool,
    ) -> Called {
        self.wasm.data_mut().start(event, deadline, record);
        refill(&mut self.wasm, deadline);
        let [source_event_id, device_id, message] = event.alert().texts();
        let alert = types::AlertParam { source_event_id, device_id, message };
        let processor = self.exports.process_once_alerts_processor();
        let called = processor.call_process_once(&mut self.wasm, event.id(), alert);
        let context = self.wasm.data_mut();
        let returned = called.and_then(|answer| match answer {
            Ok(types::Outcome::Unknown) => Ok(Answer::Unknown),
            Ok(types::Outcome::Applied) => Ok(Answer::Applied),
            Ok(types::Outcome::AlreadyApplied) => Ok(Answer::AlreadyApplied),
            Err(error) => Ok(Answer::Error(context.take_error(error.rep())?)),
        });
        let returned = returned.map_err(|error| imports::classify(&error, &context.limiter));
        let mut left = context.finish();
        left.output.splice(0..0, self.output.drain(..));
        Called { returned, left }
    }

    /// How much memory the instance has by now, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.wasm.data().limiter.memory_bytes()
    }
}

/// Makes an instance. Where the engine's pool is used up by others, it waits for one of theirs to end.
fn instantiate<B: Backend>(
    linked: &Linked<B>,
    wasm: &mut wasmtime::Store<Context<B>>,
    deadline: Option<&Deadline>,
) -> wasmtime::Result<crate::bindings::Guest> {
    let limits = linked.guest.engine.limits();
    let own = Deadline::new(limits.delivery, limits.transaction);
    own.start();
    let deadline = deadline.unwrap_or(&own);
    loop {
        match linked.pre.instantiate(&mut *wasm) {
            Err(error) if error.is::<PoolConcurrencyLimitError>() => {
                // The guest has no part in it, so that time is all that it can run out of.
                deadline.wait(RETRY).map_err(|_| GraceOver)?;
            }
            made => return made,
        }
    }
}

/// Gives start-up or a delivery its own fuel and its first look at the clock.
fn refill<B: Backend>(wasm: &mut wasmtime::Store<Context<B>>, deadline: Option<&Deadline>) {
    let epochs = if deadline.is_some() { 1 } else { wasm.data().limiter.epochs() };
    wasm.set_epoch_deadline(epochs);
    if wasm.data().limiter.fuel() < u64::MAX {
        let fuel = wasm.data().limiter.fuel();
        // It fails only where the engine counts no fuel, and that follows from the same limit.
        let _ = wasm.set_fuel(fuel);
    }
}
