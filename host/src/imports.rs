//! What a guest can reach: the store interface, and a WASI that gives nothing real.
//!
//! Invariants:
//! - A call that the contract forbids never reaches the store.
//! - A `tx` handle is worth nothing outside the delivery that opened it.
//! - Conversion between the interface's types and the host's happens here and nowhere else.

mod backend;
mod context;
mod store;
mod trap;
mod wasi;

pub(crate) use backend::{Backend, BackendTx};
pub(crate) use context::{Context, Left};
pub use store::{ErrorHandle, TxHandle};
pub use trap::{Cause, GuestFault};
pub(crate) use trap::{GraceOver, classify};
pub(crate) use wasi::{is_offered, link as link_wasi};

use wasmtime::component::{HasData, Linker};

use crate::bindings::process_once::alerts;

/// Sends what a guest wrote to the log.
pub(crate) fn log_output(lines: &[String]) {
    for line in lines {
        tracing::info!(target: "guest", "{line}");
    }
}

/// Links the store interface: the owned [`Context`] gives a borrowed view of itself for each call.
///
/// # Errors
/// Those of the linker: an interface was linked twice.
pub(crate) fn link_store<B: Backend>(linker: &mut Linker<Context<B>>) -> wasmtime::Result<()> {
    alerts::types::add_to_linker::<_, Imports<B>>(linker, |context| context)?;
    alerts::store::add_to_linker::<_, Imports<B>>(linker, |context| context)
}

/// Names the view for the linker.
struct Imports<B>(std::marker::PhantomData<B>);

impl<B: Backend> HasData for Imports<B> {
    type Data<'a> = &'a mut Context<B>;
}
