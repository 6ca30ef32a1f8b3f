//! The engine's memory, with a limit that leaves a trace when it is reached.
//!
//! The engine's own limit makes an allocation fail, and where that happens in a job of the engine nobody may ever
//! hear of it: a promise just stays as it is. Here it is remembered, and the program goes on just long enough to be
//! stopped at a place that can be named.

use std::cell::Cell;
use std::ptr::null_mut;
use std::rc::Rc;

use rquickjs::allocator::{Allocator, RustAllocator};

/// What the engine may take beyond the limit, to make an error with a stack.
const RESERVE: usize = 4 << 20;

/// Gives out `limit` bytes at a time.
pub(crate) struct Limited {
    limit: usize,
    used: usize,
    /// Set when that was not enough.
    starved: Rc<Cell<bool>>,
}

impl Limited {
    pub(crate) fn new(limit: usize, starved: Rc<Cell<bool>>) -> Limited {
        Limited { limit, used: 0, starved }
    }

    /// Whether so many more bytes fit.
    fn fits(&self, size: usize) -> bool {
        let used = self.used.saturating_add(size);
        if used > self.limit {
            self.starved.set(true);
        }
        used <= self.limit.saturating_add(RESERVE)
    }
}

// SAFETY: all memory comes from `RustAllocator` and goes back to it, with the sizes that it keeps itself.
#[allow(unsafe_code, reason = "part of the engine's binding")]
unsafe impl Allocator for Limited {
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
        // SAFETY: the engine gives back what it was given.
        unsafe { RustAllocator.dealloc(block) }
    }

    unsafe fn realloc(&mut self, block: *mut u8, size: usize) -> *mut u8 {
        if block.is_null() {
            return self.alloc(size);
        }
        let before = size_of_block(block);
        if size > before && !self.fits(size - before) {
            return null_mut();
        }
        // SAFETY: the engine asks for what it was given.
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

/// Only for blocks of `RustAllocator`, and null.
#[allow(unsafe_code, reason = "part of the engine's binding")]
fn size_of_block(block: *mut u8) -> usize {
    if block.is_null() {
        return 0;
    }
    // SAFETY: every caller has the block from `RustAllocator`.
    unsafe { RustAllocator::usable_size(block) }
}
