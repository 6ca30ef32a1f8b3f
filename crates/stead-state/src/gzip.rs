//! Packs what is stored. One packer a thread: to make one costs more than to pack a small stack.

use std::cell::RefCell;

use flate2::{Compress, CompressError, Compression, Crc, FlushCompress, Status};

thread_local! {
    static PACKER: RefCell<Packer> = RefCell::new(Packer {
        compress: Compress::new(Compression::fast(), false),
        window: vec![0; 1 << 14],
    });
}

/// A gzip member's first bytes: no name, no time, packed fast, on any system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];

struct Packer {
    compress: Compress,
    /// What comes out passes through here: a packer clears all the room that it is given, at every call.
    window: Vec<u8>,
}

impl Packer {
    /// Packs the beginning of `part`; gives the rest, and whether all is packed.
    fn step<'a>(
        &mut self,
        part: &'a [u8],
        packed: &mut Vec<u8>,
        flush: FlushCompress,
    ) -> Result<(&'a [u8], Status), CompressError> {
        let (taken, given) = (self.compress.total_in(), self.compress.total_out());
        let status = self.compress.compress(part, &mut self.window, flush)?;
        packed.extend_from_slice(&self.window[..(self.compress.total_out() - given) as usize]);
        Ok((&part[(self.compress.total_in() - taken) as usize..], status))
    }
}

/// The parts, one after the other, as one gzip member.
pub(crate) fn pack(parts: impl Iterator<Item = Vec<u8>>) -> Result<Vec<u8>, CompressError> {
    PACKER.with_borrow_mut(|packer| {
        packer.compress.reset();
        let (mut packed, mut crc) = (HEADER.to_vec(), Crc::new());
        for part in parts {
            crc.update(&part);
            let mut rest = part.as_slice();
            while !rest.is_empty() {
                (rest, _) = packer.step(rest, &mut packed, FlushCompress::None)?;
            }
        }
        while packer.step(&[], &mut packed, FlushCompress::Finish)?.1 != Status::StreamEnd {}
        packed.extend(crc.sum().to_le_bytes());
        packed.extend(crc.amount().to_le_bytes());
        Ok(packed)
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use flate2::read::GzDecoder;
    use flate2::write::GzEncoder;

    use super::*;

    /// Lines of every size, some of which do not pack well.
    fn parts() -> Vec<Vec<u8>> {
        let noise = |seed: u64, len: usize| -> Vec<u8> {
            (0..len as u64)
                .map(|at| (at.wrapping_mul(seed | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
                .collect()
        };
        let text =
            |len: usize| b"{\"name\":\"dev:main:t.T#x\"}\n".iter().copied().cycle().take(len).collect();
        vec![text(1), Vec::new(), text(300), noise(7, 10), text(70_000), noise(3, 200_000), text(5)]
    }

    #[test]
    fn what_is_packed_is_a_gzip_member_as_the_library_makes_it() {
        for _ in 0..3 {
            let mut reference = GzEncoder::new(Vec::new(), Compression::fast());
            parts().iter().for_each(|part| reference.write_all(part).unwrap());
            assert_eq!(pack(parts().into_iter()).unwrap(), reference.finish().unwrap());
        }
    }

    #[test]
    fn what_is_packed_comes_back() {
        let mut unpacked = Vec::new();
        GzDecoder::new(pack(parts().into_iter()).unwrap().as_slice()).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, parts().concat());
        let mut nothing = Vec::new();
        GzDecoder::new(pack(std::iter::empty()).unwrap().as_slice()).read_to_end(&mut nothing).unwrap();
        assert!(nothing.is_empty());
    }
}
