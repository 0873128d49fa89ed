//! The real program: arguments, messages, exit codes, signals, and killed processes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bad_events;
mod bad_start;
mod checking;
mod crash;
mod inspecting;
mod new;
mod running;
mod signals;
