//! The forms of a secret: the byte strings that give it away.

use std::collections::BTreeSet;

use zeroize::Zeroize as _;

use super::base64::{self, Alphabet};
use super::escape::{JsonStyle, json, url, url_styles};
use super::spaced::{lines, rewritten, spellings};

/// One form of a secret, and how far it reaches beyond its bytes. The bytes are overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Form {
    pub(super) bytes: Vec<u8>,
    /// Characters before the form that contain some bits of the secret.
    pub(super) before: u8,
    /// Characters after the form that contain some bits of the secret.
    pub(super) after: u8,
}

impl Form {
    fn exact(bytes: Vec<u8>) -> Form {
        Form { bytes, before: 0, after: 0 }
    }
}

impl Drop for Form {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

/// Returns the forms of a secret, each once: as it is, escaped for JSON and by Rust's `{:?}`, in base64 at three alignments in two
/// alphabets, in hexadecimal, and URL-encoded; all of them without white space at its ends and with `\n` for `\r\n`; and as it is on one
/// line.
pub fn forms(secret: &[u8]) -> Vec<Vec<u8>> {
    let all: BTreeSet<Vec<u8>> =
        all(secret).into_iter().map(|mut form| std::mem::take(&mut form.bytes)).collect();
    all.into_iter().collect()
}

pub(super) fn all(secret: &[u8]) -> Vec<Form> {
    let Ok(text) = str::from_utf8(secret) else { return encoded(secret) };
    let mut forms: Vec<Form> =
        spellings(text).iter().flat_map(|spelling| encoded(spelling.as_bytes())).collect();
    forms.extend(rewritten(text).into_iter().map(|text| Form::exact(text.into_bytes())));
    forms
}

/// Returns the forms of the lines of a secret of several lines, for messages and logs, which show a part of a text.
pub(super) fn of_lines(secret: &[u8]) -> Vec<Form> {
    lines(secret).into_iter().map(|line| Form::exact(line.as_bytes().to_vec())).collect()
}

/// Returns a text in every encoding.
fn encoded(secret: &[u8]) -> Vec<Form> {
    let mut forms = BTreeSet::from([Form::exact(secret.to_vec())]);
    if let Ok(text) = str::from_utf8(secret) {
        let styles = JsonStyle::ALL.into_iter().filter(|style| style.matters_for(text));
        let plain: Vec<String> = styles.map(|style| json(text, style)).collect();
        // A document inside a document is escaped twice.
        let twice = json(&json(text, JsonStyle::PLAIN), JsonStyle::PLAIN);
        let debug = format!("{text:?}");
        let debug = debug[1..debug.len() - 1].to_owned();
        forms.extend(plain.into_iter().chain([twice, debug]).map(|text| Form::exact(text.into_bytes())));
    }
    for alphabet in Alphabet::ALL {
        for offset in 0..3 {
            let (bytes, before, after) = base64::inside(secret, offset, alphabet);
            forms.insert(Form { bytes, before, after });
        }
    }
    let hex = stead_model::hex(secret);
    forms.insert(Form::exact(hex.to_uppercase().into_bytes()));
    forms.insert(Form::exact(hex.into_bytes()));
    // Letters and digits are written as they are in every style.
    if !secret.iter().all(u8::is_ascii_alphanumeric) {
        forms.extend(url_styles(secret).map(|style| Form::exact(url(secret, style))));
    }
    forms.into_iter().filter(|form| !form.bytes.is_empty()).collect()
}
