//! The only way out of the guest's and the writer's threads.

use std::sync::Arc;

use super::staged::{Batch, Visible};
use crate::processor::Failure;
use crate::source::Received;
use crate::store::StoreError;

/// What may be seen now.
#[derive(Debug)]
pub(super) enum Release {
    /// Deliveries whose pairs are durable.
    Durable(Arc<Batch>),
    /// A delivery that failed in the plain way, and with which everything ends.
    Failed { received: Box<Received>, failure: Failure, visible: Option<Box<Visible>> },
    /// A batch whose commit is in doubt, and with which everything ends.
    InDoubt {
        /// Its first event.
        first: Box<Received>,
        /// How many pairs are in doubt.
        pairs: u64,
        error: StoreError,
    },
}
