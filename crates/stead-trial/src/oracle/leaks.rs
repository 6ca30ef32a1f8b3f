//! No secret is written in the clear.
//!
//! Searched for is each secret of eight bytes or more in the forms of [`Needles`]: as it is, escaped for JSON (once in twelve styles,
//! and twice) and by `{:?}`, in base64 at three alignments in two alphabets, in hexadecimal, and URL-encoded in ten styles; trimmed,
//! with other line ends and on one line; each long line of a secret of several lines; and the SHA-256 of a secret. Not searched for are
//! other parts of a secret, and a secret in two encodings one on the other, besides JSON in JSON.

use std::borrow::Cow;
use std::io::Read as _;

use flate2::read::GzDecoder;
use stead_secrets::Needles;

/// First bytes of a gzip member.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Returns the needles of secrets and of their digests.
pub(crate) fn needles<'s>(secrets: impl IntoIterator<Item = &'s String>) -> Needles {
    Needles::with_digests(secrets.into_iter().map(String::as_bytes))
}

/// Returns the path and the text of the first file that contains a secret.
pub(crate) fn in_files<P: AsRef<str>, B: AsRef<[u8]>>(
    needles: &Needles,
    files: impl IntoIterator<Item = (P, B)>,
) -> Option<String> {
    for (path, bytes) in files {
        let (path, content) = (path.as_ref(), unpacked(bytes.as_ref()));
        if needles.are_in_message(&content) || needles.are_in_message(path) {
            return Some(format!("{path}: {}", shortened(&String::from_utf8_lossy(&content))));
        }
    }
    None
}

/// Returns the first text that contains a secret.
pub(crate) fn in_texts<'t>(needles: &Needles, texts: impl IntoIterator<Item = &'t String>) -> Option<String> {
    texts.into_iter().find(|text| needles.are_in_message(text.as_bytes())).map(|text| shortened(text))
}

/// Returns the content of a packed file, and other bytes as they are. Snapshots are packed.
///
/// A file that was cut off gives the part that can be read.
fn unpacked(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.starts_with(&GZIP) {
        return Cow::Borrowed(bytes);
    }
    let mut content = Vec::new();
    // An error means that the rest of the file is damaged.
    let _ = GzDecoder::new(bytes).read_to_end(&mut content);
    Cow::Owned(content)
}

/// Returns a text for a report, which may be of any length.
fn shortened(text: &str) -> String {
    const MOST: usize = 2000;
    match text.len() > MOST {
        true => format!("{}… ({} bytes)", &text[..text.floor_char_boundary(MOST)], text.len()),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn line_and_digest_of_a_secret_are_found() {
        let needles = needles(&["correct horse battery\nsecond\n".to_owned()]);
        // `printf 'correct horse battery\nsecond\n' | sha256sum`
        let digest = "0cf0917ab8b1feabc7a945b4794f749ccdc0ed504f64d9eac59acf703a5cd0c6";
        for text in ["a correct horse battery b".to_owned(), format!("sha256:{digest}")] {
            assert!(in_texts(&needles, [&text]).is_some(), "{text}");
            assert!(in_files(&needles, [("a".to_owned(), text)]).is_some());
        }
        assert!(in_texts(&needles, [&"second".to_owned()]).is_none());
    }

    #[test]
    fn secret_in_a_packed_file_is_found_even_if_the_file_is_cut_off() {
        let needles = Needles::new(["correct-horse"]);
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        let text: String = (0..2000).map(|n| format!("{n} ")).collect();
        packer.write_all(format!("correct-horse {text}").as_bytes()).unwrap();
        let packed = packer.finish().unwrap();
        assert!(!needles.contains(&packed));
        let cut = packed[..packed.len() / 2].to_vec();
        assert!(in_files(&needles, [("a".to_owned(), packed)]).is_some());
        assert!(in_files(&needles, [("a".to_owned(), cut)]).is_some());
        assert!(in_files(&needles, [("a".to_owned(), text.into_bytes())]).is_none());
        assert!(in_files(&needles, [("correct-horse".to_owned(), "")]).is_some());
    }
}
