//! The Rust side of `wit/`: the only `bindgen!` of the host, and nothing else.
#![allow(missing_docs, unreachable_pub, reason = "generated code is documented in wit/")]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "guest",
    imports: { default: trappable },
    with: {
        "process-once:alerts/store.error": crate::imports::ErrorHandle,
        "process-once:alerts/store.tx": crate::imports::TxHandle,
    },
});
