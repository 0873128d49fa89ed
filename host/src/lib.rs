//! The host of process-once: runs a guest component against a store so that an event that is
//! delivered at least once is handled logically once.

pub mod deadline;
pub mod event;
pub mod source;
pub mod store;
pub mod trace;
