//! The host of process-once: runs a guest component against a store so that an event that is
//! delivered at least once is handled logically once.

mod bindings;
pub mod check;
pub mod contract;
pub mod deadline;
pub mod engine;
pub mod event;
pub mod handle;
pub mod imports;
mod instance;
pub mod numbers;
pub mod processor;
pub mod run;
pub mod source;
pub mod store;
pub mod trace;
