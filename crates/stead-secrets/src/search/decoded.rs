//! Readings of a text in which a secret has its plain form: percent-decoded, JSON-unescaped, without wrapped lines, without
//! indentation.
//!
//! The forms of a secret are those of common encoders; a reading finds it however an encoder chose the characters, and however a
//! printer broke the lines. A text without `%`, `\` and line breaks has no other reading, and costs one look at its bytes.

use std::ops::Range;

use zeroize::Zeroizing;

/// Most documents inside each other that are unescaped.
const NESTED: usize = 3;

/// Takes a text, and gives the bytes of a reading with their places in the text.
type Reader = fn(&[u8], &mut dyn FnMut(u8, Range<usize>));

/// Whether a reading knows the places of its bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Places {
    Known,
    Ignored,
}

/// One reading of a text.
pub(super) struct Reading {
    pub(super) bytes: Zeroizing<Vec<u8>>,
    /// Start and end of each byte in the text; empty if the places are ignored.
    places: Vec<(usize, usize)>,
}

impl Reading {
    fn of(text: &[u8], reader: Reader, places: Places) -> Reading {
        let (mut bytes, mut at) = (Zeroizing::new(Vec::with_capacity(text.len())), Vec::new());
        reader(text, &mut |byte, place| {
            bytes.push(byte);
            if places == Places::Known {
                at.push((place.start, place.end));
            }
        });
        Reading { bytes, places: at }
    }

    /// Returns a reading of this one. Its places are those in the text of this one.
    fn read(&self, reader: Reader, places: Places) -> Reading {
        let mut next = Reading::of(&self.bytes, reader, places);
        for place in &mut next.places {
            let inner = self.place(place.0..place.1);
            *place = (inner.start, inner.end);
        }
        next
    }

    /// Returns the place in the text of bytes of the reading.
    pub(super) fn place(&self, of: Range<usize>) -> Range<usize> {
        let start = self.places.get(of.start).map_or(0, |place| place.0);
        let last = of.end.checked_sub(1).and_then(|last| self.places.get(last));
        start..last.map_or(start, |place| place.1)
    }
}

/// Returns the readings of a text, besides the text itself.
pub(super) fn readings(text: &[u8], places: Places) -> Vec<Reading> {
    let mut found = Vec::new();
    if text.contains(&b'%') {
        found.push(Reading::of(text, percent, places));
    }
    if text.contains(&b'\\') {
        let mut last = Reading::of(text, json, places);
        for _ in 1..NESTED {
            if !last.bytes.contains(&b'\\') {
                break;
            }
            let inner = last.read(json, places);
            found.push(std::mem::replace(&mut last, inner));
        }
        found.push(last);
    }
    let has_lines = |text: &[u8]| text.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    let of_decoded: Vec<Reading> = found
        .iter()
        .filter(|decoded| has_lines(&decoded.bytes))
        .flat_map(|decoded| LINES.map(|reader| decoded.read(reader, places)))
        .collect();
    found.extend(of_decoded);
    if has_lines(text) {
        found.extend(LINES.map(|reader| Reading::of(text, reader, places)));
    }
    found
}

const LINES: [Reader; 2] = [joined, unindented];

/// Decodes `%41`.
fn percent(text: &[u8], emit: &mut dyn FnMut(u8, Range<usize>)) {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let decoded = text.get(at + 1..at + 3).filter(|_| *byte == b'%').and_then(hex);
        let (byte, width) = decoded.map_or((*byte, 1), |code| (code as u8, 3));
        emit(byte, at..at + width);
        at += width;
    }
}

/// Decodes `\n`, `\"`, `\u00e4` and pairs of surrogates. Any other backslash stays.
fn json(text: &[u8], emit: &mut dyn FnMut(u8, Range<usize>)) {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let (decoded, width) = match (byte, text.get(at + 1)) {
            (b'\\', Some(b'u')) => unit(&text[at..]).unwrap_or(('\\', 1)),
            (b'\\', Some(b'n')) => ('\n', 2),
            (b'\\', Some(b'r')) => ('\r', 2),
            (b'\\', Some(b't')) => ('\t', 2),
            (b'\\', Some(b'b')) => ('\u{8}', 2),
            (b'\\', Some(b'f')) => ('\u{c}', 2),
            (b'\\', Some(escaped @ (b'"' | b'\\' | b'/'))) => (char::from(*escaped), 2),
            _ => {
                emit(*byte, at..at + 1);
                at += 1;
                continue;
            }
        };
        for byte in decoded.encode_utf8(&mut [0; 4]).bytes() {
            emit(byte, at..at + width);
        }
        at += width;
    }
}

/// Reads `\uXXXX`, or two of them, at the beginning of a text.
fn unit(text: &[u8]) -> Option<(char, usize)> {
    let one = |at: usize| hex(text.get(at..at + 6)?.strip_prefix(b"\\u")?);
    let first = one(0)?;
    match char::from_u32(first) {
        Some(plain) => Some((plain, 6)),
        None => {
            let both = char::decode_utf16([first as u16, one(6)? as u16]).next()?;
            Some((both.ok()?, 12))
        }
    }
}

/// Leaves out line breaks and the indentation behind them.
fn joined(text: &[u8], emit: &mut dyn FnMut(u8, Range<usize>)) {
    lines(text, &mut |byte, place| {
        if !matches!(byte, b'\n' | b'\r') {
            emit(byte, place);
        }
    });
}

/// Leaves out the indentation of lines, and the first byte of `\r\n`.
fn unindented(text: &[u8], emit: &mut dyn FnMut(u8, Range<usize>)) {
    lines(text, &mut |byte, place| {
        if byte != b'\r' || text.get(place.end) != Some(&b'\n') {
            emit(byte, place);
        }
    });
}

fn lines(text: &[u8], emit: &mut dyn FnMut(u8, Range<usize>)) {
    let mut starts = true;
    for (at, byte) in text.iter().enumerate() {
        if !(starts && matches!(byte, b' ' | b'\t')) {
            starts = matches!(byte, b'\n' | b'\r');
            emit(*byte, at..at + 1);
        }
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |code, digit| Some(code << 4 | char::from(*digit).to_digit(16)?))
}
