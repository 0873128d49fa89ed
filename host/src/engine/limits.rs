//! The limits of a guest: time, memory, tables, instances, stack.

use std::time::Duration;

use wasmtime::ResourceLimiter;

use super::EPOCH;

/// What a guest may use. The defaults are the secure ones: enough for any guest that keeps the
/// contract, and an end for one that does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a delivery may take, the guest's start-up included where it is due. 10 s.
    pub delivery: Duration,
    /// How long the physical transaction may last from its BEGIN. 5 s.
    pub transaction: Duration,
    /// How long a guest may run on after its deadline before it is stopped. 1 s.
    pub grace: Duration,
    /// The most linear memory of one instance, over all its memories, in bytes. 128 MiB.
    pub memory_bytes: usize,
    /// The most elements of all tables of one instance. 100,000.
    pub table_elements: usize,
    /// The most core instances that one component may consist of. 128: Python's have some forty.
    pub instances: usize,
    /// The most memories of one instance. 8.
    pub memories: usize,
    /// The most tables of one instance. 32.
    pub tables: usize,
    /// The stack of a guest, in bytes. 512 KiB.
    pub stack_bytes: usize,
    /// How many units of fuel start-up and each delivery may use, about one an instruction. None by
    /// default: counting them takes time, and a deadline ends a guest as well.
    pub fuel: Option<u64>,
    /// How many calls of the store interface start-up and each delivery may make, `message` included.
    /// None by default: the contract allows no loop of them, and a deadline ends one as well.
    pub calls: Option<u32>,
    /// How many handles a guest may hold at once. 256: one that needs more floods the host.
    pub handles: usize,
}

impl Limits {
    /// The budget of R14, which decides about a guest; time is only there to stop one that would not
    /// end, after 60 s a delivery.
    #[must_use]
    pub fn budget() -> Self {
        let long = Duration::from_secs(60);
        Self {
            delivery: long,
            transaction: long,
            fuel: Some(1_000_000_000),
            calls: Some(64),
            // The calls bound them already; a leak is to be seen as what it is, however long it goes on.
            handles: usize::MAX,
            ..Self::default()
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            delivery: Duration::from_secs(10),
            transaction: Duration::from_secs(5),
            grace: Duration::from_secs(1),
            memory_bytes: 128 << 20,
            table_elements: 100_000,
            instances: 128,
            memories: 8,
            tables: 32,
            stack_bytes: 512 << 10,
            fuel: None,
            calls: None,
            handles: 256,
        }
    }
}

/// Holds one instance to its limits.
#[derive(Debug)]
pub(crate) struct MemoryLimiter {
    limits: Limits,
    memory_bytes: usize,
    table_elements: usize,
    /// Whether the guest was ever refused more memory: a trap after that is for want of memory.
    pub(crate) refused: bool,
}

impl MemoryLimiter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, memory_bytes: 0, table_elements: 0, refused: false }
    }

    /// How much memory the instance has by now. Memory never shrinks, so it is the peak as well.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// The calls of the store interface that start-up and each delivery may make.
    pub(crate) fn calls(&self) -> u32 {
        self.limits.calls.unwrap_or(u32::MAX)
    }

    /// After how many epochs a delivery has had its time.
    pub(crate) fn epochs(&self) -> u64 {
        let epochs = self.limits.delivery.as_millis() / EPOCH.as_millis() + 1;
        u64::try_from(epochs).unwrap_or(u64::MAX)
    }

    /// The handles that the guest may hold at once.
    pub(crate) fn handles(&self) -> usize {
        self.limits.handles
    }

    /// The fuel of start-up and of each delivery.
    pub(crate) fn fuel(&self) -> u64 {
        self.limits.fuel.unwrap_or(u64::MAX)
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.memory_bytes.saturating_add(desired.saturating_sub(current));
        let allowed = total <= self.limits.memory_bytes;
        if allowed {
            self.memory_bytes = total;
        } else {
            self.refused = true;
        }
        Ok(allowed)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.table_elements.saturating_add(desired.saturating_sub(current));
        let allowed = total <= self.limits.table_elements;
        if allowed {
            self.table_elements = total;
        }
        Ok(allowed)
    }

    fn instances(&self) -> usize {
        self.limits.instances
    }

    fn tables(&self) -> usize {
        self.limits.tables
    }

    fn memories(&self) -> usize {
        self.limits.memories
    }
}
