//! Real components under wasmtime: what the host makes of right, wrong and hostile guests.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod boundary;
mod branches;
mod deadlines;
mod hostile;
mod instances;
mod loading;
mod odd;
mod redelivery;
mod wrong;
