//! What only a SQLite store can meet: its files, its schema, its errors, other processes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod sqlite {
    mod errors;
    mod opening;
    mod processes;
}
