//! Identifiers that the cloud makes: drawn from a counter, so that equal calls give equal clouds.

const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const DIGITS: &[u8] = b"0123456789";
const HEX: &[u8] = b"0123456789abcdef";

/// Source of identifiers. No two draws of one seed are the same.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    pub(crate) seed: u64,
    pub(crate) drawn: u64,
}

impl Ids {
    pub(crate) fn draw(&mut self) -> u64 {
        self.drawn += 1;
        scramble(self.seed, self.drawn)
    }

    fn text(&mut self, length: usize, alphabet: &[u8]) -> String {
        let mut text = String::with_capacity(length);
        while text.len() < length {
            let mut bits = self.draw();
            for _ in 0..10.min(length - text.len()) {
                text.push(char::from(alphabet[(bits % alphabet.len() as u64) as usize]));
                bits /= alphabet.len() as u64;
            }
        }
        text
    }

    pub(crate) fn lower(&mut self, length: usize) -> String {
        self.text(length, LOWER)
    }

    pub(crate) fn upper(&mut self, length: usize) -> String {
        self.text(length, UPPER)
    }

    pub(crate) fn digits(&mut self, length: usize) -> String {
        self.text(length, DIGITS)
    }

    pub(crate) fn hex(&mut self, length: usize) -> String {
        self.text(length, HEX)
    }

    /// Returns a random (version 4) uuid.
    pub(crate) fn uuid(&mut self) -> String {
        let hex = self.hex(30);
        let variant = HEX[8 + (self.draw() % 4) as usize] as char;
        [
            &hex[..8],
            &hex[8..12],
            &format!("4{}", &hex[12..15]),
            &format!("{variant}{}", &hex[15..18]),
            &hex[18..],
        ]
        .join("-")
    }
}

/// Spreads a counter over all bits, one to one for each seed (splitmix64).
pub(crate) fn scramble(seed: u64, count: u64) -> u64 {
    let mut bits = seed.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
