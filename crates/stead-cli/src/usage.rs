//! Errors of the command line that quote no secret: `config set --secret` gets one as a word.

use std::ffi::OsString;

use clap::Parser as _;

use crate::args::Arguments;

/// Text in the place of a word that may be a secret.
const HIDDEN: &str = "[secret]";

/// Parses the words. An error quotes the words of `config set --secret` only up to the key.
pub(crate) fn parse(words: Vec<OsString>) -> Result<Arguments, clap::Error> {
    Arguments::try_parse_from(&words).map_err(|error| match without_secrets(&words) {
        Some(hidden) => Arguments::try_parse_from(hidden).err().unwrap_or_else(|| {
            clap::Error::raw(error.kind(), "a word after `config set --secret` was not expected\n")
        }),
        None => error,
    })
}

/// Returns the words of `config set --secret` with those hidden that may be the value; `None` for another command.
fn without_secrets(words: &[OsString]) -> Option<Vec<OsString>> {
    let is = |at: usize, word: &str| words.get(at).is_some_and(|given| given == word);
    let config = (0..words.len()).find(|at| is(*at, "config") && is(*at + 1, "set"))?;
    let attached = |word: &OsString| word.to_string_lossy().starts_with("--secret=");
    let given = |word: &OsString| word == "--secret" || attached(word);
    if !words.iter().any(given) {
        return None;
    }
    let mut key = None;
    let shown = |(at, word): (usize, &OsString)| {
        let is_flag = word.to_string_lossy().starts_with('-');
        if attached(word) {
            return OsString::from(format!("--secret={HIDDEN}"));
        }
        if at <= config + 1 || word == "--secret" || (key.is_none() && is_flag) {
            return word.clone();
        }
        match key.replace(at) {
            None => word.clone(),
            Some(_) => OsString::from(HIDDEN),
        }
    };
    Some(words.iter().enumerate().map(shown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_error_quotes_no_word_that_may_be_a_secret() {
        let config_set = ["stead", "config", "set"];
        for words in [
            &["--secret=hunter2", "db"][..],
            &["--secret=hunter2hunter2", "db", "other"],
            &["--secret", "db", "a", "hunter2"],
            &["db", "a", "hunter2", "--secret"],
            &["--secret", "-e", "dev", "db", "a", "--hunter2"],
        ] {
            let words = config_set.iter().chain(words).map(OsString::from).collect();
            let error = parse(words).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(!error.is_empty() && !error.contains("hunter2"), "{error}");
            assert!(error.contains("Usage") || error.contains("expected"), "{error}");
        }
    }

    #[test]
    fn usage_error_of_another_command_quotes_its_words() {
        for words in [["stead", "config", "get", "--sorted"], ["stead", "plan", "--json", "--secret=x"]] {
            let error = parse(words.map(OsString::from).into()).err().map(|error| error.to_string());
            assert!(error.unwrap_or_default().contains(words[3].split('=').next().unwrap()));
        }
    }
}
