//! Trap or error: the one place that decides what a guest's failure is called.
//!
//! A mistake that the interface names (a call out of place, an altered argument) is answered with
//! an error, so that the guest can go on to its end. A fault of handles or of the host is a trap.
//! What a call of the guest came to, seen from outside, is classified here as well.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use wasmtime::Trap;

use super::wasi::Denied;
use crate::contract::Violation;

/// How a guest failed. The fault is the guest's, never the store's.
///
/// After each fault the instance is thrown away, and the next event runs on a fresh one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum GuestFault {
    /// It trapped: a panic, a bad memory access, an exhausted stack, a call of something denied.
    Trapped(Cause),
    /// It went on after its deadline and the grace that follows had passed.
    OutOfTime,
    /// It was refused more memory, and trapped.
    OutOfMemory(Cause),
    /// It broke the rules of handles: a leak, a stale or unknown handle, too many at once (R13).
    Handles(Cause),
    /// It broke the contract; the violation names the rule.
    Contract(Violation),
}

impl fmt::Display for GuestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trapped(cause) => write!(f, "the guest trapped: {cause}"),
            Self::OutOfTime => f.write_str("the guest ran on after its deadline and was stopped"),
            Self::OutOfMemory(cause) => write!(f, "the guest ran out of memory: {cause}"),
            Self::Handles(cause) => write!(f, "the guest broke the rules of handles: {cause}"),
            Self::Contract(violation) => write!(f, "the guest broke the contract, {violation}"),
        }
    }
}

impl Error for GuestFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Trapped(cause) | Self::OutOfMemory(cause) | Self::Handles(cause) => {
                cause.0.source()
            }
            Self::OutOfTime | Self::Contract(_) => None,
        }
    }
}

/// What is behind a fault; cheap to hand around.
#[derive(Clone, Debug)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    pub(crate) fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(error.into()))
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A misuse of handles that only the host can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandleMisuse {
    /// A `tx` of an earlier delivery was used.
    #[error("a transaction of another delivery was used")]
    ForeignTransaction,
    /// The store was called in start-up, where nothing is delivered.
    #[error("the store was called outside of a delivery")]
    NoDelivery,
    /// Handles were still held when the call returned.
    #[error("R13: {0} of the handles that it was given were still held when the call returned")]
    Leaked(usize),
}

/// The epoch found a guest that had used up its grace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the deadline and the grace after it have passed")]
pub(crate) struct GraceOver;

/// Says what a call that did not return was.
///
/// An error that is neither a trap of WebAssembly nor one of ours comes from the canonical ABI: the
/// guest handed over a handle or a value that is none.
pub(crate) fn classify(error: &wasmtime::Error, memory_refused: bool) -> GuestFault {
    if error.is::<GraceOver>() {
        return GuestFault::OutOfTime;
    }
    let denied = error.is::<Denied>();
    let trap = error.downcast_ref::<Trap>().copied();
    let cause = Cause::new(match trap {
        Some(trap) => Box::new(trap),
        None => innermost(error),
    });
    match trap {
        Some(_) if memory_refused => GuestFault::OutOfMemory(cause),
        Some(_) => GuestFault::Trapped(cause),
        None if denied => GuestFault::Trapped(cause),
        None => GuestFault::Handles(cause),
    }
}

/// The error without the stack of WebAssembly frames that wasmtime puts around it.
fn innermost(error: &wasmtime::Error) -> Box<dyn Error + Send + Sync> {
    match error.downcast_ref::<HandleMisuse>() {
        Some(misuse) => Box::new(*misuse),
        None => error.root_cause().to_string().into(),
    }
}
