//! The contract between guest and store: its rules, and the model that decides whether a delivery
//! keeps them.
//!
//! This is the only place where the rules live. The imports ask the model before a call reaches the
//! store, the processor before it believes an answer, and the judge for everything it says.

mod history;
mod model;
mod rules;

pub use history::{History, Rows};
pub use model::{Action, ErrorId, Model, Returned, Stored, Violation};
pub use rules::{NoRule, Rule, RuleSet};
