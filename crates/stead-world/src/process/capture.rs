//! Output of a process, bounded in memory: its beginning, its end and its length.

use std::fmt;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Output of a process. The middle of a long output is not kept.
///
/// It may contain secrets, so debug output has only its length.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Captured {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
}

impl fmt::Debug for Captured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Captured").field("total", &self.total).finish_non_exhaustive()
    }
}

impl Captured {
    /// Most bytes of the beginning that are kept. An output up to this length is kept whole.
    pub const HEAD: usize = 1 << 20;
    /// Bytes of the end that are kept of a longer output.
    pub const TAIL: usize = 64 << 10;

    /// Returns an output that was read elsewhere.
    pub fn of(bytes: &[u8]) -> Captured {
        let mut captured = Captured::default();
        captured.push(bytes);
        captured
    }

    /// Returns the output, if all of it was kept.
    pub fn whole(&self) -> Option<&[u8]> {
        self.tail.is_empty().then_some(&self.head)
    }

    /// Returns the beginning of the output.
    pub fn first(&self) -> &[u8] {
        &self.head
    }

    /// Returns the end of the output.
    pub fn last(&self) -> &[u8] {
        if self.tail.is_empty() { &self.head } else { &self.tail }
    }

    /// Returns the length of the output in bytes.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of bytes between the beginning and the end that were not kept.
    pub fn left_out(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(Self::HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * Self::TAIL {
            self.tail.drain(..self.tail.len() - Self::TAIL);
        }
    }
}

/// Reads an output to its end. A read error counts as the end.
pub(super) async fn capture(output: Option<impl AsyncRead + Unpin>) -> Captured {
    let mut captured = Captured::default();
    let Some(mut output) = output else { return captured };
    let mut chunk = vec![0; 64 << 10];
    while let Ok(read @ 1..) = output.read(&mut chunk).await {
        captured.push(&chunk[..read]);
    }
    captured
}
