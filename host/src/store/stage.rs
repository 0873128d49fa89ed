//! The order of calls inside a transaction, the same for every store.

use super::{ErrorClass, StoreError};
use crate::event::Alert;

/// How far a transaction has come: decides which call is in order next.
#[derive(Debug)]
pub(super) enum Stage {
    /// Nothing was asked yet.
    Begun,
    /// `try_mark` said `false`: nothing is left but to roll back.
    AlreadyCommitted,
    /// `try_mark` said `true` for this event: its alert may be saved.
    Marked(String),
    /// The alert is staged: the pair may be committed.
    Saved,
    /// A call failed: nothing is left but to roll back.
    Failed,
    /// Committed or rolled back.
    Ended,
}

impl Stage {
    /// # Errors
    /// Misuse: the transaction's marker was already asked for, or it is past that.
    pub(super) fn may_mark(&self) -> Result<(), StoreError> {
        match self {
            Self::Begun => Ok(()),
            Self::AlreadyCommitted | Self::Marked(_) | Self::Saved => {
                Err(misuse("try-mark a second time"))
            }
            Self::Failed => Err(misuse("try-mark after a call that failed")),
            Self::Ended => Err(misuse("try-mark after the end of the transaction")),
        }
    }

    /// # Errors
    /// Misuse: no `true` asked for this alert, or it is past that.
    pub(super) fn may_save(&self, alert: &Alert) -> Result<(), StoreError> {
        match self {
            Self::Marked(event_id) if event_id == alert.source_event_id() => Ok(()),
            Self::Marked(_) => Err(misuse("save-alert for another event than the one marked")),
            Self::Begun => Err(misuse("save-alert before try-mark")),
            Self::AlreadyCommitted => Err(misuse("save-alert after try-mark said false")),
            Self::Saved => Err(misuse("save-alert a second time")),
            Self::Failed => Err(misuse("save-alert after a call that failed")),
            Self::Ended => Err(misuse("save-alert after the end of the transaction")),
        }
    }

    /// # Errors
    /// Misuse: marker and alert are not both staged, or it is past that.
    pub(super) fn may_commit(&self) -> Result<(), StoreError> {
        match self {
            Self::Saved => Ok(()),
            Self::Begun => Err(misuse("commit before try-mark")),
            Self::AlreadyCommitted => Err(misuse("commit after try-mark said false")),
            Self::Marked(_) => Err(misuse("commit without an alert")),
            Self::Failed => Err(misuse("commit after a call that failed")),
            Self::Ended => Err(misuse("commit after the end of the transaction")),
        }
    }
}

/// The error for a call that is out of order.
pub(super) fn misuse(what: &str) -> StoreError {
    StoreError::new(ErrorClass::Misuse, format!("out of order: {what}"))
}

/// The error for a `begin` while the handle's last transaction is still open.
pub(super) fn still_open() -> StoreError {
    misuse("begin while the last transaction is open")
}
