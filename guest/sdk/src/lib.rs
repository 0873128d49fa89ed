//! What a guest in Rust needs: the bindings of the interface, the export of its one function, and,
//! for a `no_std` guest, the runtime that `std` would bring.
//!
//! ```
//! #![no_std]
//! use process_once_sdk::{Alert, Error, Outcome, store};
//!
//! process_once_sdk::export!(process_once);
//!
//! fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
//!     let _tx = store::begin()?;
//!     Ok(Outcome::Unknown)
//! }
//! # fn main() {}
//! ```
//!
//! A guest that uses `std` turns the default feature `runtime` off.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

#[doc(hidden)]
pub mod bindings;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
mod runtime;

pub use alloc::string::String;

pub use bindings::process_once::alerts::store::{self, Error, Tx};
pub use bindings::process_once::alerts::types::{Alert, Outcome};

/// Exports a function as the component's `process-once`.
///
/// It takes the path of a `fn(&str, &Alert) -> Result<Outcome, Error>`. Elsewhere than on WebAssembly
/// the function is type-checked and no more, so that a workspace with guests in it builds.
#[macro_export]
macro_rules! export {
    ($process_once:path) => {
        const _: fn(
            &str,
            &$crate::Alert,
        ) -> ::core::result::Result<$crate::Outcome, $crate::Error> = $process_once;

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            use $crate::bindings::exports::process_once::alerts::processor;

            struct Component;

            impl processor::Guest for Component {
                fn process_once(
                    event_id: $crate::String,
                    alert: $crate::Alert,
                ) -> ::core::result::Result<$crate::Outcome, $crate::Error> {
                    $process_once(&event_id, &alert)
                }
            }

    $crate::bindings::export_guest!(Component with_types_in $crate::bindings);
        };
    };
}
