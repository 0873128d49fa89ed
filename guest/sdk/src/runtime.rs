//! What `std` and wasi-libc give other guests: an allocator, an end for panics, the function by which
//! the host allocates arguments, and the comparisons that the compiler calls.

use alloc::alloc::{Layout, alloc, realloc};
use core::arch::wasm32::unreachable;
use core::ffi::c_int;
use core::panic::PanicInfo;

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// A panic is a trap: the host undoes the delivery. Its message is not formatted, which keeps all
/// formatting code out of the component.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unreachable()
}

/// Allocates what the host hands in: the component model's `realloc`.
///
/// # Safety
/// `old_ptr` is null with `old_len` zero, or was returned by this function for `old_len` bytes with
/// the same `align`, a power of two.
#[unsafe(no_mangle)]
unsafe extern "C" fn cabi_realloc(
    old_ptr: *mut u8,
    old_len: usize,
    align: usize,
    new_len: usize,
) -> *mut u8 {
    if new_len == 0 {
        // Nothing to hold: any aligned address will do.
        return core::ptr::without_provenance_mut(align);
    }
    let new = if old_len == 0 {
        let Ok(layout) = Layout::from_size_align(new_len, align) else { unreachable() };
        // SAFETY: the size is not zero.
        unsafe { alloc(layout) }
    } else {
        let Ok(layout) = Layout::from_size_align(old_len, align) else { unreachable() };
        // SAFETY: `old_ptr` was allocated with this layout, and the new size is not zero. A size that no
        // layout could have is more than the memory holds, and is answered with null.
        unsafe { realloc(old_ptr, layout, new_len) }
    };
    if new.is_null() { unreachable() } else { new }
}

/// Compares `n` bytes: the sign of the first difference.
///
/// # Safety
/// `a` and `b` are readable for `n` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> c_int {
    for i in 0..n {
        // SAFETY: `i` is below `n`.
        let (x, y) = unsafe { (*a.add(i), *b.add(i)) };
        if x != y {
            return c_int::from(x) - c_int::from(y);
        }
    }
    0
}

/// Compares `n` bytes: zero if and only if they are equal.
///
/// # Safety
/// As for [`memcmp`].
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> c_int {
    // SAFETY: the same contract.
    unsafe { memcmp(a, b, n) }
}
