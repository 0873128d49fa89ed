//! The bindings of the world `guest`, generated from `wit/`.
#![allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::undocumented_unsafe_blocks,
    reason = "generated code"
)]

wit_bindgen::generate!({
    path: "../../wit",
    world: "guest",
    generate_all,
    pub_export_macro: true,
    export_macro_name: "export_guest",
});
