//! The Rust side of `wit/`: the only `bindgen!` of the host, and nothing else.
#![allow(missing_docs, unreachable_pub, reason = "generated code is documented in wit/")]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "guest",
    // Texts go to the guest from where they stand.
    ownership: Borrowing { duplicate_if_necessary: true },
    with: {
        "process-once:alerts/store.error": crate::imports::ErrorHandle,
        "process-once:alerts/store.tx": crate::imports::TxHandle,
    },
});
