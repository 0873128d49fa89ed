//! The program `process-once`.
fn main() {}
