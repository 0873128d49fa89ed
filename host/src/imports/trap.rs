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
use crate::engine::MemoryLimiter;
use crate::numbers::grouped;

/// How a guest failed. The fault is the guest's, never the store's.
///
/// After each fault the instance is thrown away, and the next event runs on a fresh one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum GuestFault {
    /// It trapped: a panic, a bad memory access, a call of something denied.
    Trapped(Cause),
    /// It went on after its deadline and the grace that follows had passed.
    OutOfTime,
    /// It was refused more memory, and trapped.
    OutOfMemory(Cause),
    /// It used up its stack.
    OutOfStack,
    /// It used up its fuel; the number is what it had.
    OutOfFuel(u64),
    /// It made more calls of the store interface than this.
    TooManyCalls(u32),
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
            Self::OutOfStack => f.write_str("the guest used up its stack"),
            Self::OutOfFuel(fuel) => {
                write!(f, "the guest used up its {} units of fuel", grouped(*fuel))
            }
            Self::TooManyCalls(calls) => {
                write!(f, "the guest made more than {calls} calls of the store interface")
            }
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
            Self::OutOfTime
            | Self::OutOfStack
            | Self::OutOfFuel(_)
            | Self::TooManyCalls(_)
            | Self::Contract(_) => None,
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

/// The guest made as many calls of the store interface as it may in one delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{allowed} calls are allowed")]
pub(crate) struct TooManyCalls {
    pub(crate) allowed: u32,
}

/// The epoch found a guest that had used up its grace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the deadline and the grace after it have passed")]
pub(crate) struct GraceOver;

/// Says what a call that did not return was.
///
/// An error that is neither a trap of WebAssembly nor one of ours comes from the canonical ABI: the
/// guest handed over a handle or a value that is none.
pub(crate) fn classify(error: &wasmtime::Error, limiter: &MemoryLimiter) -> GuestFault {
    if error.is::<GraceOver>() {
        return GuestFault::OutOfTime;
    }
    if let Some(TooManyCalls { allowed }) = error.downcast_ref() {
        return GuestFault::TooManyCalls(*allowed);
    }
    let cause = |error: &wasmtime::Error| Cause::new(error.root_cause().to_string());
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => GuestFault::OutOfFuel(limiter.fuel()),
        Some(Trap::StackOverflow) => GuestFault::OutOfStack,
        Some(trap) if limiter.refused => GuestFault::OutOfMemory(Cause::new(*trap)),
        Some(trap) => GuestFault::Trapped(Cause::new(*trap)),
        None if error.is::<Denied>() => GuestFault::Trapped(cause(error)),
        None => GuestFault::Handles(cause(error)),
    }
}
