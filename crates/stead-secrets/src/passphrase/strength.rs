//! An estimate of a passphrase's strength: how many guesses a thief of the ring would need.
//!
//! The estimate is simple, and errs to the low side for patterns that it knows and to the high side for others,
//! such as names and dates. It never refuses a passphrase.

use std::collections::BTreeSet;

/// Passwords that every list of guesses begins with, and their stems. Case and trailing digits do not count.
const COMMON: [&str; 40] = [
    "password",
    "passw0rd",
    "p@ssword",
    "p@ssw0rd",
    "pulumi",
    "stead",
    "terraform",
    "secret",
    "changeme",
    "letmein",
    "welcome",
    "admin",
    "administrator",
    "root",
    "toor",
    "qwerty",
    "qwertz",
    "azerty",
    "asdfgh",
    "zxcvbn",
    "iloveyou",
    "monkey",
    "dragon",
    "football",
    "baseball",
    "sunshine",
    "princess",
    "master",
    "shadow",
    "superman",
    "batman",
    "trustno",
    "whatever",
    "hello",
    "login",
    "starwars",
    "default",
    "guest",
    "test",
    "abc",
];

/// Strength of a passphrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strength {
    /// Logarithm to base 2 of the estimated number of guesses.
    pub bits: u32,
    /// The estimate in words.
    pub words: &'static str,
}

/// Estimates the strength of a passphrase.
pub fn strength(passphrase: &str) -> Strength {
    let bits = bits(passphrase);
    let words = match bits {
        0..=27 => "very weak: a program guesses it in minutes",
        28..=43 => "weak: a program guesses it in days",
        44..=59 => "fair: guessing it is expensive",
        60..=79 => "strong",
        _ => "very strong",
    };
    Strength { bits, words }
}

fn bits(passphrase: &str) -> u32 {
    let stem = passphrase.to_lowercase();
    let stem = stem.trim_end_matches(|c: char| !c.is_alphabetic());
    if passphrase.is_empty() {
        return 0;
    }
    if COMMON.contains(&stem) || stem.is_empty() && passphrase.len() < 8 {
        let suffix = passphrase.chars().count() - stem.chars().count();
        return 6 + 3 * suffix as u32;
    }
    let by_characters = informative(passphrase) * f64::from(alphabet(passphrase)).log2();
    // A word is worth 11 bits, as one of some two thousand that people choose from, however long it is.
    let words = passphrase.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let (all, different) = (words.clone().count(), words.collect::<BTreeSet<_>>().len());
    let lower = passphrase.chars().all(|c| c.is_lowercase() || c.is_whitespace() || c == '-');
    let by_words = if lower && all > 1 { 11.0 * different as f64 } else { f64::INFINITY };
    by_characters.min(by_words) as u32
}

/// Returns the size of the alphabet that the passphrase draws from.
fn alphabet(passphrase: &str) -> u32 {
    let has = |class: fn(char) -> bool, size: u32| if passphrase.chars().any(class) { size } else { 0 };
    has(|c| c.is_ascii_lowercase(), 26)
        + has(|c| c.is_ascii_uppercase(), 26)
        + has(|c| c.is_ascii_digit(), 10)
        + has(|c| c.is_ascii() && !c.is_ascii_alphanumeric(), 33)
        + has(|c| !c.is_ascii(), 100)
}

/// Returns the number of characters that are not predicted by the ones before. A repeat or the next one in a row counts a fifth.
fn informative(passphrase: &str) -> f64 {
    let all: Vec<char> = passphrase.chars().collect();
    let unit =
        (1..=all.len()).find(|unit| all.iter().zip(all.iter().cycle().skip(*unit)).all(|(a, b)| a == b));
    let all = &all[..unit.filter(|unit| all.len().is_multiple_of(*unit)).unwrap_or(all.len())];
    let predicted = all.windows(2).filter(|pair| (pair[1] as i64 - pair[0] as i64).abs() <= 1).count();
    (all.len() - predicted) as f64 + predicted as f64 / 5.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_repeated_and_counted_passphrases_are_very_weak() {
        for weak in
            ["", "a", "password", "Password1", "aaaaaaaaaaaaaaaaaaaa", "12345678", "abababababab", "qwerty"]
        {
            assert!(strength(weak).words.starts_with("very weak"), "{weak}: {:?}", strength(weak));
        }
    }

    #[test]
    fn random_texts_and_six_words_are_strong() {
        for strong in ["kX9#mQ2$vL7!pR4", "correct horse battery staple lamp onion", "7f3a9c51e0b84d26"] {
            assert!(strength(strong).bits >= 60, "{strong}: {:?}", strength(strong));
        }
        assert!(strength("correct horse").bits < 44);
        assert_eq!(strength("ab ab ab ab").bits, 11);
    }

    #[test]
    fn longer_passphrase_of_the_same_kind_is_not_weaker() {
        let text = "tGv8Kq2zLw5Np9Xs3";
        for end in 1..text.len() {
            assert!(strength(&text[..end]).bits <= strength(&text[..=end]).bits);
        }
    }
}
