//! Memory limit of the engine, as an allocator that records when the limit is exceeded.
//!
//! The engine's own limit makes an allocation fail, and a failure inside a job leaves a promise pending without any error. This
//! allocator grants a reserve instead, so that the program reaches the next interrupt and stops at a known position.

use std::cell::Cell;
use std::ptr::null_mut;
use std::rc::Rc;

use rquickjs::allocator::{Allocator, RustAllocator};

use super::stopwatch::Stopwatch;

/// Memory beyond the limit that the engine may use to create an error with a stack trace.
const RESERVE: usize = 4 << 20;

/// Size of a large block. Filling a block of this size takes about as long as the steps between two interrupts.
const LARGE_BLOCK: usize = 64 << 10;

/// Size from which blocks are refused when the time is over. The steps up to the next interrupt would take minutes if each
/// computed a huge integer. An error with its stack trace needs smaller blocks.
const COSTLY_BLOCK: usize = 4 << 10;

/// Size of the largest block. A block that grows is copied, so that two of them exist for a moment. Node has no longer
/// texts than twice this size.
const LARGEST_BLOCK: usize = 256 << 20;

/// Allocator with at most `limit` bytes in use.
///
/// Large blocks count as interrupts: a built-in function that copies a long string or list runs without any.
pub(crate) struct LimitedAllocator {
    limit: usize,
    used: usize,
    interrupts: Rc<Cell<u64>>,
    /// Set when an allocation exceeds the limit.
    out_of_memory: Rc<Cell<bool>>,
    stopwatch: Rc<Stopwatch>,
}

impl LimitedAllocator {
    pub(crate) fn new(
        limit: usize,
        interrupts: Rc<Cell<u64>>,
        out_of_memory: Rc<Cell<bool>>,
        stopwatch: Rc<Stopwatch>,
    ) -> LimitedAllocator {
        LimitedAllocator { limit, used: 0, interrupts, out_of_memory, stopwatch }
    }

    /// Returns true if an allocation of `size` bytes is allowed, and records whether it exceeds the limit.
    fn fits(&self, size: usize) -> bool {
        self.fits_in(size, size)
    }

    /// Returns true if `size` more bytes are allowed, for a block of `whole` bytes.
    fn fits_in(&self, size: usize, whole: usize) -> bool {
        self.stopwatch.count_allocation(size);
        if size >= COSTLY_BLOCK && self.stopwatch.has_expired() {
            return false;
        }
        if whole > LARGEST_BLOCK {
            self.out_of_memory.set(true);
            return false;
        }
        let used = self.used.saturating_add(size);
        if used > self.limit {
            self.out_of_memory.set(true);
        } else {
            self.interrupts.set(self.interrupts.get() + (size / LARGE_BLOCK) as u64);
        }
        used <= self.limit.saturating_add(RESERVE)
    }
}

// SAFETY: all memory is allocated and freed by `RustAllocator`, which stores the sizes itself.
#[allow(unsafe_code, reason = "part of the engine's binding")]
unsafe impl Allocator for LimitedAllocator {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !self.fits(size) {
            return null_mut();
        }
        let made = RustAllocator.alloc(size);
        self.used += size_of_block(made);
        made
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(_) = count.checked_mul(size).filter(|size| self.fits(*size)) else { return null_mut() };
        let made = RustAllocator.calloc(count, size);
        self.used += size_of_block(made);
        made
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        self.used = self.used.saturating_sub(size_of_block(block));
        // SAFETY: the engine frees only blocks that this allocator returned.
        unsafe { RustAllocator.dealloc(block) }
    }

    unsafe fn realloc(&mut self, block: *mut u8, size: usize) -> *mut u8 {
        if block.is_null() {
            return self.alloc(size);
        }
        let before = size_of_block(block);
        if size > before && !self.fits_in(size - before, size) {
            return null_mut();
        }
        // SAFETY: the engine resizes only blocks that this allocator returned.
        let made = unsafe { RustAllocator.realloc(block, size) };
        if !made.is_null() {
            self.used = self.used.saturating_sub(before) + size_of_block(made);
        }
        made
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        size_of_block(block)
    }
}

/// Returns the size of a block of `RustAllocator`, or 0 for null.
#[allow(unsafe_code, reason = "part of the engine's binding")]
fn size_of_block(block: *mut u8) -> usize {
    if block.is_null() {
        return 0;
    }
    // SAFETY: every caller passes a block of `RustAllocator`.
    unsafe { RustAllocator::usable_size(block) }
}
