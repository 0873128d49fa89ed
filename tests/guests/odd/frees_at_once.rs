//! Right, and odd: its allocator frees nothing by itself, but all at once when the last of it is let go,
//! which is at the end of each call.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};

use process_once_sdk::{Alert, Error, Outcome, store};

process_once_sdk::export!(process_once);

fn process_once(event_id: &str, alert: &Alert) -> Result<Outcome, Error> {
    // Copies, so that there is something to allocate.
    let (event_id, alert) = (event_id.to_owned(), alert.clone());
    let tx = store::begin()?;
    let undo = |error| {
        tx.rollback();
        error
    };
    if !tx.try_mark(&event_id).map_err(undo)? {
        tx.rollback();
        return Ok(Outcome::AlreadyApplied);
    }
    tx.save_alert(&alert).map_err(undo)?;
    tx.commit().map_err(undo)?;
    Ok(Outcome::Applied)
}

#[global_allocator]
static ARENA: Arena =
    Arena { bytes: UnsafeCell::new([0; SIZE]), used: Cell::new(0), live: Cell::new(0) };

const SIZE: usize = 256 << 10;
/// How the bytes are aligned.
const ALIGN: usize = 16;

/// Hands out its bytes one after another; what does not fit is left to the system.
#[repr(C, align(16))]
struct Arena {
    bytes: UnsafeCell<[u8; SIZE]>,
    used: Cell<usize>,
    /// How many allocations there are in the bytes.
    live: Cell<usize>,
}

// SAFETY: a guest has one thread.
unsafe impl Sync for Arena {}

// SAFETY: no byte is handed out twice before all were let go, and what the system gave goes back to it.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = self.used.get().next_multiple_of(layout.align());
        if layout.align() > ALIGN || start > SIZE || SIZE - start < layout.size() {
            // SAFETY: the contract is the same.
            return unsafe { System.alloc(layout) };
        }
        self.used.set(start + layout.size());
        self.live.set(self.live.get() + 1);
        // SAFETY: that many bytes follow there.
        unsafe { self.bytes.get().cast::<u8>().add(start) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let start = self.bytes.get().addr();
        if !(start..start + SIZE).contains(&pointer.addr()) {
            // SAFETY: it came from the system, in `alloc` or where the host handed in a text.
            return unsafe { System.dealloc(pointer, layout) };
        }
        self.live.set(self.live.get() - 1);
        if self.live.get() == 0 {
            self.used.set(0);
        }
    }
}
