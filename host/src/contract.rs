//! The contract between guest and store: its rules, and the model that decides whether a delivery
//! keeps them.
//!
//! This is the only place where the rules live. The imports ask the model before a call reaches the
//! store, and the processor asks it before it believes an answer.

mod model;
mod rules;

pub use model::{ErrorId, Model, Returned, Stored, Violation};
pub use rules::Rule;
