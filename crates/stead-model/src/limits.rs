//! Limits are values, so that a test can stand at one and one above it.

/// What one stack may hold. `docs/limits.md` states the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub resources: usize,
    /// Bytes of JSON that one property of a resource may take.
    pub property_bytes: usize,
    /// Bytes of JSON that all inputs of a resource may take together.
    pub resource_bytes: usize,
    /// How long one evaluation may run, in interrupts of the interpreter: counted, not timed, so that the
    /// same program always ends the same way. One is roughly ten thousand branches and calls.
    pub evaluation_interrupts: u64,
    /// Heap of the evaluator, in bytes.
    pub evaluation_heap: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            resources: 100_000,
            property_bytes: 4 << 20,
            resource_bytes: 16 << 20,
            evaluation_interrupts: 100_000,
            evaluation_heap: 1 << 30,
        }
    }
}
