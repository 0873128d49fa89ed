//! The engine: how guests are compiled and run, within which limits, and how one is loaded.

mod limits;
mod load;

pub use limits::Limits;
pub(crate) use limits::MemoryLimiter;
pub use load::{Guest, Inspection, LoadError, NotAGuest};

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use wasmtime::{Config, EngineWeak, InstanceAllocationStrategy, PoolingAllocationConfig};

/// How often the epoch moves, and so how exact the end of a delivery and of a guest's grace is.
const EPOCH: Duration = Duration::from_millis(10);
/// How large the host's own record of a pooled instance may become: more than any compiler emits.
const INSTANCE_BYTES: usize = 16 << 20;
/// How much of a pooled memory and table is cleared by hand rather than by the kernel: all of what a
/// small guest uses.
const KEEP_RESIDENT: usize = 256 << 10;

/// Compiles guests. Cheap to clone; one is enough for a process.
#[derive(Clone)]
pub struct Engine {
    pub(crate) wasmtime: wasmtime::Engine,
    pub(crate) limits: Limits,
    pub(crate) clock: Clock,
}

/// Counts the epochs: whoever looked at the time in this epoch need not look again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(Arc<AtomicU64>);

impl Clock {
    /// The current epoch.
    pub(crate) fn epoch(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Engine {
    /// An engine whose guests run within `limits`.
    ///
    /// # Errors
    /// The machine cannot run compiled WebAssembly, or cannot start a thread.
    pub fn new(limits: Limits) -> Result<Self, EngineError> {
        let config = configure(&limits);
        Self::start(&config, limits)
    }

    /// The same, with at most so many instances at a time that live in a pool: a fresh one then
    /// costs less. Where the machine lacks the address space for the pool, it does without.
    ///
    /// # Errors
    /// As for [`Engine::new`].
    pub fn pooled(limits: Limits, instances: u32) -> Result<Self, EngineError> {
        let mut config = configure(&limits);
        config
            .allocation_strategy(pool(&limits, instances))
            // With no more address space than a guest may use, and no guard behind it, accesses are
            // checked in code, and the kernel need not change protections for each instance.
            .signals_based_traps(false)
            .memory_reservation(limits.memory_bytes as u64)
            .memory_guard_size(0);
        Self::start(&config, limits.clone()).or_else(|_| Self::new(limits))
    }

    fn start(config: &Config, limits: Limits) -> Result<Self, EngineError> {
        let wasmtime = wasmtime::Engine::new(config).map_err(EngineError::from_wasmtime)?;
        let (engine, clock) = (wasmtime.weak(), Clock::default());
        let epochs = clock.clone();
        std::thread::Builder::new()
            .name("epoch".to_owned())
            .spawn(move || tick(&engine, &epochs))
            .map_err(EngineError::Thread)?;
        Ok(Self { wasmtime, limits, clock })
    }

    /// The limits that guests of this engine run within.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Reads, checks and compiles the component at `path`.
    ///
    /// # Errors
    /// The file cannot be read, is not a component, or is not a guest; see [`LoadError`].
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Guest, LoadError> {
        Guest::from_file(self, path.as_ref())
    }

    /// Checks and compiles a component.
    ///
    /// # Errors
    /// It is not a component, or not a guest; see [`NotAGuest`].
    pub fn load_bytes(&self, bytes: &[u8]) -> Result<Guest, NotAGuest> {
        Guest::from_bytes(self, bytes)
    }
}

fn configure(limits: &Limits) -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .consume_fuel(limits.fuel.is_some())
        .max_wasm_stack(limits.stack_bytes)
        // A fault is told by its cause; collecting the frames of a deep recursion takes long.
        .wasm_backtrace_max_frames(None)
        // Of what came after WebAssembly 2.0, languages need several memories (Python) and tail calls;
        // larger memories are beyond the limits, and relaxed SIMD depends on the machine.
        .wasm_memory64(false)
        .wasm_relaxed_simd(false);
    config
}

/// A pool in which every component fits that the limits allow.
fn pool(limits: &Limits, instances: u32) -> InstanceAllocationStrategy {
    let each = |limit: usize| u32::try_from(limit).unwrap_or(u32::MAX);
    let all = |limit: usize| instances.saturating_mul(each(limit));
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(all(limits.instances))
        .total_memories(all(limits.memories))
        .total_tables(all(limits.tables))
        .max_core_instances_per_component(each(limits.instances))
        .max_memories_per_component(each(limits.memories))
        .max_tables_per_component(each(limits.tables))
        .max_component_instance_size(INSTANCE_BYTES)
        .max_core_instance_size(INSTANCE_BYTES)
        .max_memory_size(limits.memory_bytes)
        .table_elements(limits.table_elements)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(KEEP_RESIDENT);
    InstanceAllocationStrategy::Pooling(pool)
}

/// Moves the epoch until the engine is gone.
fn tick(engine: &EngineWeak, clock: &Clock) {
    loop {
        std::thread::sleep(EPOCH);
        match engine.upgrade() {
            Some(engine) => {
                clock.0.fetch_add(1, Ordering::Relaxed);
                engine.increment_epoch();
            }
            None => return,
        }
    }
}

/// Why an engine could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The machine is not one that wasmtime compiles for, or refuses what it needs.
    #[error("the WebAssembly engine cannot run on this machine")]
    Unsupported(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The thread that watches over the guests' time could not be started.
    #[error("the thread that watches over the guests' time could not be started")]
    Thread(#[source] std::io::Error),
}

impl EngineError {
    fn from_wasmtime(error: wasmtime::Error) -> Self {
        Self::Unsupported(error.into_boxed_dyn_error())
    }
}
