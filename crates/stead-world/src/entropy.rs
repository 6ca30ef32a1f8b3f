//! Randomness.

use std::io;

pub trait Entropy: Send + Sync {
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()>;
}

/// Randomness of the operating system.
pub struct RealEntropy;

impl Entropy for RealEntropy {
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        getrandom::fill(bytes).map_err(io::Error::other)
    }
}

impl dyn Entropy + '_ {
    /// Returns a random (version 4) uuid.
    pub fn uuid(&self) -> io::Result<String> {
        let mut bytes = [0u8; 16];
        self.fill(&mut bytes)?;
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let number = u128::from_be_bytes(bytes);
        let hex = format!("{number:032x}");
        Ok([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
    }

    /// Returns an unbiased random number below `bound`, which must not be 0.
    pub fn below(&self, bound: u32) -> io::Result<u32> {
        let fair = u32::MAX - u32::MAX % bound;
        loop {
            let mut bytes = [0u8; 4];
            self.fill(&mut bytes)?;
            let drawn = u32::from_be_bytes(bytes);
            if drawn < fair {
                return Ok(drawn % bound);
            }
        }
    }
}
