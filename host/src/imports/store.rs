//! The store interface, linked by hand: the texts that a guest hands over are compared where they
//! stand in its memory, and copied only where they are not the event's own.

use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentType, Lift, Linker, Resource, ResourceType, WasmStr};

use super::backend::Backend;
use super::context::{Answered, Context};
use crate::contract::ErrorId;
use crate::store::StoreError;
use crate::trace::Method;

const TYPES: &str = "process-once:alerts/types@0.1.0";
const STORE: &str = "process-once:alerts/store@0.1.0";

/// What stands behind a guest's `error` handle.
#[derive(Debug)]
pub struct ErrorHandle {
    /// Which error it is: what the model compares.
    pub(crate) id: ErrorId,
    /// The store's own error, which goes back to the caller of the library.
    pub(crate) error: StoreError,
}

/// The type of a guest's `tx` handle: what stands behind it is the identity of a transaction, which
/// the delivery holds.
#[derive(Debug)]
pub enum TxHandle {}

/// An `alert` in the guest's memory.
#[derive(ComponentType, Lift)]
#[component(record)]
struct AlertThere {
    #[component(name = "source-event-id")]
    source_event_id: WasmStr,
    #[component(name = "device-id")]
    device_id: WasmStr,
    message: WasmStr,
}

type Tx = Resource<TxHandle>;
type Caller<'a, B> = StoreContextMut<'a, Context<B>>;

/// Links the store interface, and the interface of its types, which has no functions.
///
/// # Errors
/// Those of the linker: an interface was linked twice.
pub(crate) fn link<B: Backend>(linker: &mut Linker<Context<B>>) -> wasmtime::Result<()> {
    linker.instance(TYPES)?;
    let mut store = linker.instance(STORE)?;
    store.resource("error", ResourceType::host::<ErrorHandle>(), |mut caller, handle| {
        caller.data_mut().drop_error(handle)
    })?;
    store.resource("tx", ResourceType::host::<TxHandle>(), |mut caller, handle| {
        caller.data_mut().drop_tx(handle)
    })?;
    store.func_wrap("begin", |mut caller: Caller<'_, B>, ()| Ok((caller.data_mut().begin()?,)))?;
    store
        .func_wrap("[method]tx.try-mark", |caller, (tx, id)| Ok((try_mark(caller, &tx, &id)?,)))?;
    store.func_wrap("[method]tx.save-alert", |caller, (tx, alert)| {
        Ok((save_alert(caller, &tx, &alert)?,))
    })?;
    store.func_wrap("[method]tx.commit", |mut caller: Caller<'_, B>, (tx,): (Tx,)| {
        let committed = caller.data_mut().on_tx(tx.rep(), Method::Commit.into())?;
        Ok((committed.map(|_| ()),))
    })?;
    store.func_wrap("[method]tx.rollback", |mut caller: Caller<'_, B>, (tx,): (Tx,)| {
        caller.data_mut().roll_back(tx.rep())
    })?;
    store.func_wrap(
        "[method]error.message",
        |mut caller: Caller<'_, B>, (error,): (Resource<ErrorHandle>,)| {
            Ok((caller.data_mut().message(error.rep())?,))
        },
    )
}

fn try_mark<B: Backend>(mut caller: Caller<'_, B>, tx: &Tx, id: &WasmStr) -> Answered<bool> {
    let asked = caller.data().asked_to_mark(&id.to_str(&caller)?);
    let marked = caller.data_mut().on_tx(tx.rep(), asked)?;
    Ok(marked.map(|new| new == Some(true)))
}

fn save_alert<B: Backend>(mut caller: Caller<'_, B>, tx: &Tx, alert: &AlertThere) -> Answered<()> {
    let AlertThere { source_event_id, device_id, message } = alert;
    let texts = [
        &*source_event_id.to_str(&caller)?,
        &*device_id.to_str(&caller)?,
        &*message.to_str(&caller)?,
    ];
    let asked = caller.data().asked_to_save(texts);
    let saved = caller.data_mut().on_tx(tx.rep(), asked)?;
    Ok(saved.map(|_| ()))
}
