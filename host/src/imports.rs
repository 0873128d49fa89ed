//! What a guest can reach: the store interface, and a WASI that gives nothing real.
//!
//! Invariants:
//! - A call that the contract forbids never reaches the store.
//! - A `tx` handle is worth nothing outside the delivery that opened it.
//! - Conversion between the interface's types and the host's happens here and nowhere else.

mod backend;
mod context;
mod handles;
mod store;
mod trap;
mod wasi;

pub(crate) use backend::{Backend, BackendTx};
pub(crate) use context::{Context, Left};
pub(crate) use store::link as link_store;
pub use store::{ErrorHandle, TxHandle};
pub use trap::{Cause, GuestFault};
pub(crate) use trap::{GraceOver, classify};
pub(crate) use wasi::{is_offered, link as link_wasi};

/// Sends what a guest wrote to the log.
pub(crate) fn log_output(lines: &[String]) {
    for line in lines {
        tracing::info!(target: "guest", "{line}");
    }
}
