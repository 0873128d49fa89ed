//! The store interface as the generated bindings want it.

use wasmtime::component::Resource;

use super::backend::Backend;
use super::context::{Answered, Context};
use crate::bindings::process_once::alerts;
use crate::contract::ErrorId;
use crate::event;
use crate::store::StoreError;
use crate::trace::Call;

/// What stands behind a guest's `error` handle.
#[derive(Debug)]
pub struct ErrorHandle {
    /// Which error it is: what the model compares.
    pub(crate) id: ErrorId,
    /// The store's own error, which goes back to the caller of the library.
    pub(crate) error: StoreError,
}

/// What stands behind a guest's `tx` handle: the identity of a transaction, which the delivery holds.
#[derive(Debug)]
pub struct TxHandle {
    pub(crate) id: u64,
}

impl<B: Backend> alerts::types::Host for Context<B> {}

impl<B: Backend> alerts::store::Host for Context<B> {
    fn begin(&mut self) -> Answered<Resource<TxHandle>> {
        Self::begin(self)
    }
}

impl<B: Backend> alerts::store::HostTx for Context<B> {
    fn try_mark(&mut self, tx: Resource<TxHandle>, event_id: String) -> Answered<bool> {
        let marked = self.on_tx(&tx, Call::TryMark(event_id))?;
        Ok(marked.map(|new| new == Some(true)))
    }

    fn save_alert(&mut self, tx: Resource<TxHandle>, alert: alerts::types::Alert) -> Answered<()> {
        let saved = self.on_tx(&tx, Call::SaveAlert(alert.into()))?;
        Ok(saved.map(|_| ()))
    }

    fn commit(&mut self, tx: Resource<TxHandle>) -> Answered<()> {
        let committed = self.on_tx(&tx, Call::Commit)?;
        Ok(committed.map(|_| ()))
    }

    fn rollback(&mut self, tx: Resource<TxHandle>) -> wasmtime::Result<()> {
        self.roll_back(&tx)
    }

    fn drop(&mut self, tx: Resource<TxHandle>) -> wasmtime::Result<()> {
        self.drop_tx(tx)
    }
}

impl<B: Backend> alerts::store::HostError for Context<B> {
    fn message(&mut self, error: Resource<ErrorHandle>) -> wasmtime::Result<String> {
        Self::message(self, &error)
    }

    fn drop(&mut self, error: Resource<ErrorHandle>) -> wasmtime::Result<()> {
        self.handles.delete(error)?;
        Ok(())
    }
}

impl From<alerts::types::Alert> for event::Alert {
    fn from(alert: alerts::types::Alert) -> Self {
        let alerts::types::Alert { source_event_id, device_id, message } = alert;
        Self { source_event_id, device_id, message }
    }
}

impl From<event::Alert> for alerts::types::Alert {
    fn from(alert: event::Alert) -> Self {
        let event::Alert { source_event_id, device_id, message } = alert;
        Self { source_event_id, device_id, message }
    }
}
