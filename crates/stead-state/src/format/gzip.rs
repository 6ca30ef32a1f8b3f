//! Packs stored bytes as a gzip member.
//!
//! Small data is stored in the member without compression: setting up a compressor, and a decompressor at every read,
//! costs more than the few disk blocks that compression would save.

use std::cell::RefCell;

use flate2::{Compress, CompressError, Compression, Crc, FlushCompress, Status};

thread_local! {
    /// One for each thread, because creating a compressor costs more than packing a small stack.
    static PACKER: RefCell<Packer> = RefCell::new(Packer {
        compress: Compress::new(Compression::fast(), false),
        window: vec![0; 1 << 14],
    });
}

/// The header of a gzip member: no file name, no time, fastest compression, unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];

/// The largest data that is stored without compression. A stored block holds at most 65,535 bytes.
const SMALL: usize = 16 << 10;

/// The first byte of a stored block that is the last block.
const STORED: u8 = 1;

/// The length of the trailer: the CRC and the size of the data.
const TRAILER: usize = 8;

struct Packer {
    compress: Compress,
    /// The output buffer of one call. It is small because the compressor clears the whole buffer at every call.
    window: Vec<u8>,
}

impl Packer {
    /// Packs the start of `part` and returns the rest of it.
    fn step<'a>(
        &mut self,
        part: &'a [u8],
        packed: &mut Vec<u8>,
        flush: FlushCompress,
    ) -> Result<(&'a [u8], Status), CompressError> {
        let (read, written) = (self.compress.total_in(), self.compress.total_out());
        let status = self.compress.compress(part, &mut self.window, flush)?;
        packed.extend_from_slice(&self.window[..(self.compress.total_out() - written) as usize]);
        Ok((&part[(self.compress.total_in() - read) as usize..], status))
    }
}

/// Packs the concatenation of the parts as one gzip member.
pub(crate) fn pack(mut parts: impl Iterator<Item = Vec<u8>>) -> Result<Vec<u8>, CompressError> {
    let mut first = Vec::new();
    while first.len() <= SMALL {
        match parts.next() {
            Some(part) => first.extend_from_slice(&part),
            None => return Ok(store(&first)),
        }
    }
    compress(std::iter::once(first).chain(parts))
}

/// Returns the data of a complete member that [`pack`] stored without compression, and `None` for any other bytes.
pub(crate) fn stored(packed: &[u8]) -> Option<&[u8]> {
    let (length, rest) = packed.strip_prefix(&HEADER)?.strip_prefix(&[STORED])?.split_first_chunk::<4>()?;
    let [low, high, not_low, not_high] = *length;
    let data = rest.get(..usize::from(u16::from_le_bytes([low, high])))?;
    let complete = [!low, !high] == [not_low, not_high] && rest[data.len()..] == trailer(&crc_of(data));
    complete.then_some(data)
}

fn store(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u16).to_le_bytes();
    let mut packed = Vec::with_capacity(HEADER.len() + 5 + data.len() + TRAILER);
    packed.extend(HEADER);
    packed.push(STORED);
    packed.extend(length.iter().copied().chain(length.map(|byte| !byte)));
    packed.extend_from_slice(data);
    packed.extend(trailer(&crc_of(data)));
    packed
}

fn crc_of(data: &[u8]) -> Crc {
    let mut crc = Crc::new();
    crc.update(data);
    crc
}

fn trailer(crc: &Crc) -> [u8; TRAILER] {
    let ([a, b, c, d], [e, f, g, h]) = (crc.sum().to_le_bytes(), crc.amount().to_le_bytes());
    [a, b, c, d, e, f, g, h]
}

fn compress(parts: impl Iterator<Item = Vec<u8>>) -> Result<Vec<u8>, CompressError> {
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
        packed.extend(trailer(&crc));
        Ok(packed)
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use flate2::read::GzDecoder;
    use flate2::write::GzEncoder;

    use super::*;

    /// Parts of every size, some of which do not compress well.
    fn parts() -> Vec<Vec<u8>> {
        let noise = |seed: u64, len: usize| -> Vec<u8> {
            (0..len as u64)
                .map(|at| (at.wrapping_mul(seed | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
                .collect()
        };
        // The compressed form of this is larger than the output window.
        let mut drawn = 0x2545_f491_4f6c_dd1d_u64;
        let dense: Vec<u8> = (0..100_000)
            .map(|_| {
                drawn ^= drawn << 13;
                drawn ^= drawn >> 7;
                drawn ^= drawn << 17;
                (drawn >> 32) as u8
            })
            .collect();
        let text =
            |len: usize| b"{\"name\":\"dev:main:t.T#x\"}\n".iter().copied().cycle().take(len).collect();
        vec![text(1), Vec::new(), text(300), noise(7, 10), text(70_000), noise(3, 200_000), dense, text(5)]
    }

    #[test]
    fn packed_bytes_equal_those_of_the_gzip_library() {
        for _ in 0..3 {
            let mut reference = GzEncoder::new(Vec::new(), Compression::fast());
            parts().iter().for_each(|part| reference.write_all(part).unwrap());
            assert_eq!(pack(parts().into_iter()).unwrap(), reference.finish().unwrap());
        }
    }

    #[test]
    fn packed_data_unpacks_to_the_original() {
        let mut unpacked = Vec::new();
        GzDecoder::new(pack(parts().into_iter()).unwrap().as_slice()).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, parts().concat());
    }

    #[test]
    fn small_data_is_stored_uncompressed_and_any_gzip_reader_unpacks_it() {
        let unpacked = |packed: &[u8]| {
            let mut unpacked = Vec::new();
            GzDecoder::new(packed).read_to_end(&mut unpacked).unwrap();
            unpacked
        };
        for size in [0, 1, SMALL - 1, SMALL, SMALL + 1] {
            let data = vec![b'x'; size];
            let packed = pack(data.chunks(1000).map(<[u8]>::to_vec)).unwrap();
            assert_eq!(unpacked(&packed), data, "{size} bytes");
            assert_eq!(stored(&packed), (size <= SMALL).then_some(data.as_slice()), "{size} bytes");
        }
    }

    #[test]
    fn damaged_or_truncated_member_is_not_read_as_stored() {
        let packed = pack(std::iter::once(b"a line\n".to_vec())).unwrap();
        for at in 0..packed.len() {
            let mut changed = packed.clone();
            changed[at] ^= 1;
            assert_eq!(stored(&changed), None, "byte {at}");
            assert_eq!(stored(&packed[..at]), None, "cut at {at}");
        }
        assert_eq!(stored(&[packed, vec![0]].concat()), None);
    }
}
