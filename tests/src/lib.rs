//! What the tests of process-once share.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

pub mod guests;
pub mod program;
pub mod stores;
