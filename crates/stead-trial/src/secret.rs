//! Random secrets of 8 bytes to 64 KiB.
//!
//! Every secret begins with eight random letters and digits, or ends with them, so that it is in no text by chance.

use std::cell::RefCell;
use std::collections::HashMap;

use stead_model::{Map, Value};
use stead_secrets::forms;

use crate::Rng;

/// Pieces that secrets are made of: quotes, line breaks, other scripts, look-alikes of base64 and of escapes.
const PIECES: [&str; 16] = [
    "\"",
    "\\",
    "\n",
    "\t",
    "ü",
    "日本",
    "🗝",
    "aGVsbG8=",
    "%41",
    "\\u0041",
    " ",
    "/+",
    "pass",
    "</script>",
    "\u{2028}",
    "&",
];
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Most bytes of a secret.
const MOST: usize = 64 << 10;

/// One secret in this number may have any length.
pub(crate) const PER_LONG_ONE: u64 = 40;

/// The same in lives and plays, which search for every secret at every call.
const PER_LONG_ONE_OF_LIVES: u64 = 500;

/// Draws a secret. It may begin with an earlier one, or be the beginning of one. One in `per_long_one` may have any length.
pub(crate) fn draw(rng: &mut Rng, earlier: &[String], per_long_one: u64) -> String {
    let length = length(rng, per_long_one);
    let mut secret = match (rng.below(10), rng.pick(earlier)) {
        (0, Some(earlier)) if is_distinct(earlier) => {
            let whole = earlier.floor_char_boundary(8 + rng.below(earlier.len() as u64 - 7) as usize);
            return earlier[..whole.max(earlier.ceil_char_boundary(8))].to_owned();
        }
        (1, Some(earlier)) => earlier.clone(),
        _ => letters(rng, 8),
    };
    match rng.below(5) {
        // Nothing else than letters and digits.
        0 => fill(&mut secret, length, |rng| letters(rng, 8), rng),
        // One letter again and again.
        1 => {
            let letter = letters(rng, 1);
            secret = letter.repeat(length.saturating_sub(8)) + &letters(rng, 8);
        }
        // A look-alike of base64.
        2 => {
            fill(&mut secret, length, |rng| letters(rng, 3) + if rng.one_in(2) { "+" } else { "/" }, rng);
            secret.push_str("==");
        }
        _ => fill(&mut secret, length, |rng| piece(rng).to_owned() + &letters(rng, 3), rng),
    }
    let end = secret.floor_char_boundary(MOST);
    secret.truncate(end);
    secret
}

/// Returns the secret of a number. Secrets of one group of four numbers may begin with each other.
pub(crate) fn numbered(number: u64) -> String {
    let first = number - number % 4;
    let earlier: Vec<String> = (number != first).then(|| numbered(first)).into_iter().collect();
    draw(&mut Rng::new(number ^ 0x6e75_6d62), &earlier, PER_LONG_ONE_OF_LIVES)
}

thread_local! {
    /// Forms that were chosen for the secrets of late: a provider repeats them in every answer.
    static CHOSEN: RefCell<HashMap<String, String>> = RefCell::default();
}

/// Returns one of the forms of a secret, always the same one.
pub(crate) fn some_form(secret: &str) -> String {
    const MOST: usize = 64;
    CHOSEN.with_borrow_mut(|chosen| {
        if let Some(form) = chosen.get(secret) {
            return form.clone();
        }
        if chosen.len() >= MOST {
            chosen.clear();
        }
        chosen.entry(secret.to_owned()).or_insert_with(|| choose_form(secret)).clone()
    })
}

fn choose_form(secret: &str) -> String {
    let all = forms(secret.as_bytes());
    let which = secret.bytes().fold(0usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    let form = all.get(which % all.len().max(1)).map(Vec::as_slice).unwrap_or_default();
    String::from_utf8_lossy(form).into_owned()
}

/// Returns true if the recorded values are those of a real object, which has them in the clear. A locked secret equals nothing.
pub(crate) fn is_record_of(recorded: &Map, real: &Map) -> bool {
    let same = |((key, recorded), (real_key, real)): ((_, &Value), (_, &Value))| {
        key == real_key
            && match recorded.has_secrets() {
                true => recorded.revealed().is_ok_and(|revealed| revealed == *real),
                false => recorded == real,
            }
    };
    recorded.len() == real.len() && recorded.iter().zip(real).all(same)
}

/// Returns values in the clear, as the owner of a real object sees them.
pub(crate) fn revealed(values: &Map) -> Map {
    values.iter().map(|(key, value)| (key.clone(), value.revealed().unwrap_or_default())).collect()
}

/// Draws a length: small as a rule, with every order of magnitude up to the most.
fn length(rng: &mut Rng, per_long_one: u64) -> usize {
    if rng.one_in(8) {
        return 8;
    }
    let order = if rng.one_in(per_long_one) { 7 + rng.below(10) } else { 3 + rng.below(5) };
    let least = 1usize << order;
    (least + rng.below(least as u64) as usize).min(MOST)
}

fn fill(secret: &mut String, length: usize, mut more: impl FnMut(&mut Rng) -> String, rng: &mut Rng) {
    while secret.len() < length {
        secret.push_str(&more(rng));
    }
}

fn piece(rng: &mut Rng) -> &'static str {
    rng.pick(&PIECES).copied().unwrap_or_default()
}

fn letters(rng: &mut Rng, count: usize) -> String {
    (0..count).map(|_| char::from(LETTERS[rng.below(LETTERS.len() as u64) as usize])).collect()
}

/// Returns true if the first eight bytes are in no text by chance.
fn is_distinct(secret: &str) -> bool {
    let first = &secret.as_bytes()[..8];
    first.iter().collect::<std::collections::BTreeSet<_>>().len() > 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_have_every_size_and_kind() {
        let mut rng = Rng::new(7);
        let mut all: Vec<String> = Vec::new();
        for _ in 0..4000 {
            let secret = draw(&mut rng, &all, PER_LONG_ONE);
            assert!((8..=MOST).contains(&secret.len()), "{}", secret.len());
            all.push(secret);
        }
        let count = |wanted: &dyn Fn(&String) -> bool| all.iter().filter(|secret| wanted(secret)).count();
        assert!(count(&|secret| secret.len() == 8) > 100);
        assert!(count(&|secret| secret.len() < 256) > 3000);
        assert!(count(&|secret| secret.len() > 32 << 10) > 5);
        for piece in PIECES {
            assert!(count(&|secret| secret.contains(piece)) > 100, "{piece}");
        }
        assert!(
            count(&|secret| all.iter().any(|other| other != secret && other.starts_with(secret.as_str())))
                > 100
        );
    }
}
