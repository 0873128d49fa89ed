//! WASI for guests whose language needs it: everything is there, and nothing of it is real.
//!
//! A guest's runtime may import WASI 0.2; the guest itself has no use for it. What it is given:
//!
//! | interface | what it gives |
//! |---|---|
//! | `cli` | no arguments, no environment, no terminal; stdin is closed; `exit` traps |
//! | `cli/stdout`, `cli/stderr` | lines for the log, bounded |
//! | `clocks` | stands at a fixed instant (not zero: Go's runtime refuses it); a timer is ready at once |
//! | `random` | a fixed stream of numbers, the same for every instance (it has no error case) |
//! | `io` | streams that are closed or end in the log; everything is ready at once |
//! | `filesystem`, `sockets` | no folder and no network; what has an error case answers that access is denied |
//!
//! Whatever has no answer traps by its name. Nothing here reads a clock, a file, an environment or
//! a network, so there is nothing that a guest could get out through.

mod log;

use wasmtime::StoreContextMut;
use wasmtime::component::types::{ComponentFunc, ComponentItem, Type};
use wasmtime::component::{
    Component, ComponentNamedList, ComponentType, Lift, Linker, LinkerInstance, Lower, Resource,
    ResourceType, Val,
};

use self::log::Lines;
use super::backend::Backend;
use super::context::Context;

/// The instant at which every clock stands, in seconds: 2001-09-09T01:46:40Z as wall time.
const NOW_SECONDS: u64 = 1_000_000_000;
/// The same for the monotonic clock, in nanoseconds.
const NOW_NANOSECONDS: u64 = 1_000_000_000;
/// Where the fixed stream of numbers starts.
const SEED: u64 = 0x70_726f_6365_7373;
/// The most random bytes that are given at once: no runtime seeds itself with more.
const MAX_RANDOM_BYTES: u64 = 65_536;
/// What an output stream takes at once, in bytes: what WASI promises to `blocking-write-and-flush`.
const WRITE_BYTES: u64 = 4_096;
/// How many WASI handles a guest may hold at once; one that needs more floods the host.
const MAX_HANDLES: u32 = 1_024;
/// The packages of WASI 0.2 that are linked.
const PACKAGES: [&str; 6] = ["cli", "clocks", "filesystem", "io", "random", "sockets"];
/// The words by which WASI's error enumerations say that something is denied.
const DENIALS: [&str; 4] = ["access-denied", "access", "not-permitted", "not-supported"];

/// A call that has no answer here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Denied {
    #[error("{0} is denied to guests")]
    Call(String),
    #[error("{asked} {what} were asked for; at most {limit} are given")]
    TooMuch { what: &'static str, asked: u64, limit: u64 },
}

/// What answers the WASI imports of one instance.
#[derive(Debug)]
pub(crate) struct Nothing {
    random: u64,
    output: Lines,
    /// Handles held: all are alike, so a count is all there is to know.
    held: u32,
}

impl Default for Nothing {
    fn default() -> Self {
        Self { random: SEED, output: Lines::default(), held: 0 }
    }
}

/// Whether an import is one of the interfaces that [`link`] answers.
pub(crate) fn is_offered(import: &str) -> bool {
    let Some((package, rest)) = import.strip_prefix("wasi:").and_then(|name| name.split_once('/'))
    else {
        return false;
    };
    let version = rest.split_once('@').map(|(_, version)| version);
    PACKAGES.contains(&package) && version.is_some_and(|version| version.starts_with("0.2."))
}

/// Links every WASI interface that `component` imports.
///
/// # Errors
/// Those of the linker: an interface was linked twice.
pub(crate) fn link<B: Backend>(
    linker: &mut Linker<Context<B>>,
    component: &Component,
) -> wasmtime::Result<()> {
    let engine = component.engine();
    for (name, import) in component.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(interface) = import.ty else { continue };
        if !is_offered(name) {
            continue;
        }
        let mut linked = linker.instance(name)?;
        let plain_name = name.split_once('@').map_or(name, |(plain, _)| plain);
        for (item, export) in interface.exports(engine) {
            match export.ty {
                ComponentItem::Resource(_) => {
                    linked.resource(item, resource_type(item), |mut context, _| {
                        let nothing = &mut context.data_mut().nothing;
                        nothing.held = nothing.held.saturating_sub(1);
                        Ok(())
                    })?;
                }
                ComponentItem::ComponentFunc(_) if !answer(&mut linked, plain_name, item)? => {
                    deny(&mut linked, plain_name, item)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// What a guest holds as a stream, a pollable and so on: nothing stands behind any of them.
enum Input {}
enum Output {}
enum Pollable {}
enum Network {}
enum Failure {}
enum Folder {}
enum TerminalInput {}
enum TerminalOutput {}

/// The type of a resource, the same in each interface that uses it. Those that no answer below makes
/// can never be held; they only need a type.
fn resource_type(name: &str) -> ResourceType {
    match name {
        "input-stream" => ResourceType::host::<Input>(),
        "output-stream" => ResourceType::host::<Output>(),
        "pollable" => ResourceType::host::<Pollable>(),
        "network" => ResourceType::host::<Network>(),
        "error" => ResourceType::host::<Failure>(),
        "descriptor" => ResourceType::host::<Folder>(),
        "terminal-input" => ResourceType::host::<TerminalInput>(),
        "terminal-output" => ResourceType::host::<TerminalOutput>(),
        _ => ResourceType::host_dynamic(
            name.bytes()
                .fold(0, |sum: u32, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte))),
        ),
    }
}

/// `stream-error` of `wasi:io/streams`; only `closed` is ever given.
#[derive(ComponentType, Lower)]
#[component(variant)]
enum StreamError {
    #[component(name = "last-operation-failed")]
    #[expect(dead_code, reason = "the type needs both cases, and nothing here fails")]
    LastOperationFailed(Resource<Failure>),
    #[component(name = "closed")]
    Closed,
}

/// `datetime` of `wasi:clocks/wall-clock`.
#[derive(ComponentType, Lower)]
#[component(record)]
struct Datetime {
    seconds: u64,
    nanoseconds: u32,
}

/// Links the answer to one function, if there is one.
fn answer<B: Backend>(
    linked: &mut LinkerInstance<'_, Context<B>>,
    interface: &str,
    function: &str,
) -> wasmtime::Result<bool> {
    match interface {
        "wasi:cli/environment" | "wasi:filesystem/preopens" => answer_empty(linked, function),
        "wasi:io/streams" => answer_streams(linked, function),
        "wasi:io/poll" => answer_poll(linked, function),
        "wasi:clocks/monotonic-clock" => answer_monotonic_clock(linked, function),
        "wasi:clocks/wall-clock" => answer_wall_clock(linked, function),
        "wasi:random/random" | "wasi:random/insecure" | "wasi:random/insecure-seed" => {
            answer_random(linked, function)
        }
        _ => answer_handles(linked, function),
    }
}

/// Arguments, environment, working folder, open folders: none.
fn answer_empty<B: Backend>(
    linked: &mut LinkerInstance<'_, Context<B>>,
    function: &str,
) -> wasmtime::Result<bool> {
    match function {
        "get-environment" => give(linked, function, |_, ()| Ok(Vec::<(String, String)>::new())),
        "get-arguments" => give(linked, function, |_, ()| Ok(Vec::<String>::new())),
        "initial-cwd" => give(linked, function, |_, ()| Ok(None::<String>)),
        "get-directories" => {
            give(linked, function, |_, ()| Ok(Vec::<(Resource<Folder>, String)>::new()))
        }
        _ => Ok(false),
    }
}

/// Functions whose names say enough, wherever they stand: they give a handle, or none.
fn answer_handles<B: Backend>(
    linked: &mut LinkerInstance<'_, Context<B>>,
    function: &str,
) -> wasmtime::Result<bool> {
    match function {
        "get-stdin" => give(linked, function, |nothing, ()| nothing.hand_out::<Input>()),
        "get-stdout" | "get-stderr" => {
            give(linked, function, |nothing, ()| nothing.hand_out::<Output>())
        }
        "instance-network" => give(linked, function, |nothing, ()| nothing.hand_out::<Network>()),
        "get-terminal-stdin" => give(linked, function, |_, ()| Ok(None::<Resource<TerminalInput>>)),
        "get-terminal-stdout" | "get-terminal-stderr" => {
            give(linked, function, |_, ()| Ok(None::<Resource<TerminalOutput>>))
        }
        _ => Ok(false),
    }
}

fn answer_streams<B: Backend>(
    linked: &mut LinkerInstance<'_, Context<B>>,
    function: &str,
) -> wasmtime::Result<bool> {
    match function {
        "[method]input-stream.read" | "[method]input-stream.blocking-read" => {
            give(linked, function, |_, (_, _): (Resource<Input>, u64)| {
                Ok(Err::<Vec<u8>, _>(StreamError::Closed))
            })
        }
        "[method]input-stream.skip" | "[method]input-stream.blocking-skip" => {
            give(linked, function, |_, (_, _): (Resource<Input>, u64)| {
                Ok(Err::<u64, _>(StreamError::Closed))
            })
        }
        "[method]input-stream.subscribe" => {
            give(linked, function, |nothing, (_,): (Resource<Input>,)| {
                nothing.hand_out::<Pollable>()
            })
        }
        "[method]output-stream.subscribe" => {
            give(linked, function, |nothing, (_,): (Resource<Output>,)| {
                nothing.hand_out::<Pollable>()
            })
        }
        "[method]output-stream.check-write" => {
            give(linked, function, |_, (_,): (Resource<Output>,)| {
                Ok(Ok::<_, StreamError>(WRITE_BYTES))
            })
        }
        "[method]output-stream.write" | "[method]output-stream.blocking-write-and-flush" => {
            give(linked, function, |nothing, (_, bytes): (Resource<Output>, Vec<u8>)| {
                nothing.output.write(&bytes);
                Ok(Ok::<_, StreamError>(()))
            })
        }
        "[method]output-stream.flush" | "[method]output-stream.blocking-flush" => {
            give(linked, function, |_, (_,): (Resource<Output>,)| Ok(Ok::<_, StreamError>(())))
        }
        _ => Ok(false),
    }
}

fn answer_poll<B: Backend>(
    linked: &mut LinkerInstance<'_, Context<B>>,
    function: &str,
) -> wasmtime::Result<bool> {
    match function {
        "[method]pollable.ready" => {
            give(linked, function, |_, (_,): (Resource<Pollable>,)| Ok(true))
        }
        "[method]pollable.block" => {
            // No result at all, which is not a result that is empty.
            linked.func_wrap(function, |_, (_,): (Resource<Pollable>,)| Ok(()))?;
            Ok(true)
        }
        "poll" => give(linked, function, |_, (all,): (Vec<Resource<Pollable>>,)| {
            Ok((0_u32..).zip(all).map(|(index, _)| index).collect::<Vec<u32>>())
        }),
        _ => Ok(false),
    }
}

fn answer_monotonic_clock<B: Backend>(
    linked: &mut LinkerInstance<'_, Context<B>>,
    function: &str,
) -> wasmtime::Result<bool> {
    match function {
        "now" => give(linked, function, |_, ()| Ok(NOW_NANOSECONDS)),
        "resolution" => give(linked, function, |_, ()| Ok(1_u64)),
        "subscribe-instant" | "subscribe-duration" => {
            give(linked, function, |nothing, (_,): (u64,)| nothing.hand_out::<Pollable>())
        }
        _ => Ok(false),
    }
}

fn answer_wall_clock<B: Backend>(
    linked: &mut LinkerInstance<'_, Context<B>>,
    function: &str,
) -> wasmtime::Result<bool> {
    match function {
        "now" => {
            give(linked, function, |_, ()| Ok(Datetime { seconds: NOW_SECONDS, nanoseconds: 0 }))
        }
        "resolution" => give(linked, function, |_, ()| Ok(Datetime { seconds: 0, nanoseconds: 1 })),
        _ => Ok(false),
    }
}

fn answer_random<B: Backend>(
    linked: &mut LinkerInstance<'_, Context<B>>,
    function: &str,
) -> wasmtime::Result<bool> {
    match function {
        "get-random-u64" | "get-insecure-random-u64" => {
            give(linked, function, |nothing, ()| Ok(nothing.number()))
        }
        "insecure-seed" => {
            give(linked, function, |nothing, ()| Ok((nothing.number(), nothing.number())))
        }
        "get-random-bytes" | "get-insecure-random-bytes" => {
            give(linked, function, |nothing, (length,): (u64,)| nothing.bytes(length))
        }
        _ => Ok(false),
    }
}

/// Links a function that `Nothing` answers.
fn give<B: Backend, P, R>(
    linked: &mut LinkerInstance<'_, Context<B>>,
    function: &str,
    answer: impl Fn(&mut Nothing, P) -> wasmtime::Result<R> + Send + Sync + 'static,
) -> wasmtime::Result<bool>
where
    P: ComponentNamedList + Lift + 'static,
    R: ComponentType + Lower + 'static,
{
    linked.func_wrap(function, move |mut context, params: P| {
        Ok((answer(&mut context.data_mut().nothing, params)?,))
    })?;
    Ok(true)
}

/// Links a function that has no answer: it says so in its own words where its type has some, and
/// traps where it has none.
fn deny<B: Backend>(
    linked: &mut LinkerInstance<'_, Context<B>>,
    interface: &str,
    function: &str,
) -> wasmtime::Result<()> {
    let denied = Denied::Call(format!("{interface} {function}"));
    linked.func_new(function, move |_: StoreContextMut<'_, _>, ty, _, results| {
        match (denial(&ty), results) {
            (Some(denial), [result]) => *result = denial,
            _ => return Err(denied.clone().into()),
        }
        Ok(())
    })
}

/// The result by which a function can say that it is denied, if its type has one.
fn denial(function: &ComponentFunc) -> Option<Val> {
    let Type::Result(result) = function.results().next()? else { return None };
    let Type::Enum(error) = result.err()? else { return None };
    let word = DENIALS.into_iter().find(|word| error.names().any(|name| name == *word))?;
    Some(Val::Result(Err(Some(Box::new(Val::Enum(word.to_owned()))))))
}

impl Nothing {
    /// The lines that the guest wrote. One that it did not end is a line as well once it has returned.
    pub(super) fn end_of_delivery(&mut self) -> Vec<String> {
        self.output.end()
    }

    fn hand_out<T: 'static>(&mut self) -> wasmtime::Result<Resource<T>> {
        if self.held == MAX_HANDLES {
            let (asked, limit) = (u64::from(self.held) + 1, u64::from(MAX_HANDLES));
            return Err(Denied::TooMuch { what: "handles", asked, limit }.into());
        }
        self.held += 1;
        Ok(Resource::new_own(0))
    }

    /// The next number of the fixed stream: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    fn number(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        if length > MAX_RANDOM_BYTES {
            let limit = MAX_RANDOM_BYTES;
            return Err(Denied::TooMuch { what: "random bytes", asked: length, limit }.into());
        }
        Ok((0..length).map(|_| self.number().to_le_bytes()[0]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::is_offered;

    #[test]
    fn only_the_interfaces_of_wasi_0_2_that_are_answered_are_offered() {
        for (import, offered) in [
            ("wasi:io/poll@0.2.0", true),
            ("wasi:cli/stderr@0.2.9", true),
            ("wasi:http/types@0.2.0", false),
            ("wasi:io/poll@0.3.0", false),
            ("wasi:io/poll", false),
            ("wasi:keyvalue/store@0.2.0-draft", false),
            ("process-once:alerts/store@0.1.0", false),
        ] {
            assert_eq!(is_offered(import), offered, "{import}");
        }
    }
}
