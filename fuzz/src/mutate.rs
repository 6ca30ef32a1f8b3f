//! Small damage to bytes, drawn from a seed: flips, cuts, copies, splices and the numbers that break things.

/// What often breaks a decoder.
const ODD: &[&[u8]] = &[
    b"18446744073709551615",
    b"-1",
    b"1e999",
    b"null",
    b"[",
    b"{",
    b"}",
    b"\"",
    b"\\u0000",
    b"\xff",
    b"\n",
    b"0",
    b"\"record\":\"seal\"",
    b"\xe2\x80\xae",
    b"#",
    b":",
    b"%",
    b"]",
];

/// The next number of a simple generator (xorshift); never 0.
fn draw(seed: &mut u64) -> usize {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed as usize
}

/// The bytes with one to four changes.
pub fn mutated(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut out = bytes.to_vec();
    for _ in 0..1 + draw(&mut seed) % 4 {
        let at = draw(&mut seed) % (out.len() + 1);
        let length = (draw(&mut seed) % 16).min(out.len() - at);
        match draw(&mut seed) % 6 {
            0 if at < out.len() => out[at] ^= 1 << (draw(&mut seed) % 8),
            1 => out.truncate(at),
            2 => {
                let piece = out[at..at + length].to_vec();
                let to = draw(&mut seed) % (out.len() + 1);
                out.splice(to..to, piece);
            }
            3 => {
                out.drain(at..at + length);
            }
            4 => {
                let odd = ODD[draw(&mut seed) % ODD.len()];
                out.splice(at..at + length, odd.iter().copied());
            }
            _ => replace_number(&mut out, at, &mut seed),
        }
    }
    out
}

/// Puts another number where the next one stands.
fn replace_number(out: &mut Vec<u8>, from: usize, seed: &mut u64) {
    let Some(start) = out[from..].iter().position(u8::is_ascii_digit).map(|at| from + at) else { return };
    let end = out[start..].iter().position(|byte| !byte.is_ascii_digit()).map_or(out.len(), |at| start + at);
    let numbers = [0, 1, u64::from(u32::MAX), u64::MAX - 1, u64::MAX, 4_000_000_000];
    let number = numbers[draw(seed) % numbers.len()].to_string();
    out.splice(start..end, number.into_bytes());
}
