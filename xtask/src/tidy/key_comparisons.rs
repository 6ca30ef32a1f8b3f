//! No key and no authentication code is compared with `==`, which takes longer the more bytes agree.
//!
//! `verify_slice` of a MAC compares in constant time. The bytes of keys and codes leave their types only through a few methods; a line
//! that calls one of them compares nothing.

use super::source::{Finding, SourceFile};

/// Crates that have keys in their hands.
const FOLDERS: &[&str] = &["crates/stead-secrets/src/", "crates/stead-aws-auth/src/"];

/// Methods that give the bytes of a key, a token or a code.
const BYTES: &[&str] = &["expose()", "expose_secret()", ".into_bytes()", ".finalize("];

const COMPARISONS: &[&str] = &[" == ", " != ", ".eq(", ".ne(", ".cmp(", ".starts_with(", "assert_eq!"];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let has_keys = |file: &&SourceFile| {
        file.is_rust() && !file.is_test() && FOLDERS.iter().any(|folder| file.path.starts_with(folder))
    };
    let mut findings = Vec::new();
    for file in files.iter().filter(has_keys) {
        let code = file.text.lines().take_while(|line| !line.starts_with("#[cfg(test)]\nmod tests {"));
        for (number, line) in code.enumerate().take_while(|(_, line)| *line != "mod tests {") {
            let has = |parts: &[&str]| parts.iter().any(|part| line.contains(part));
            if has(BYTES) && has(COMPARISONS) {
                let message =
                    "compares the bytes of a key or a code; use `verify_slice`, or compare in constant time";
                findings.push(file.finding(number + 1, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::source::{files, shown};
    use super::*;

    #[test]
    fn comparison_of_keys_or_codes_is_found_outside_tests() {
        let text = "let a = key.expose() == other;\nlet b = mac.finalize().into_bytes();\nif b.len() != 32 {}\n\
                    if code.into_bytes().eq(&given) {}\nmod tests {\nassert_eq!(key.expose(), &[1; 32]);\n";
        let found = check(&files([
            ("crates/stead-secrets/src/a.rs", text),
            ("crates/stead-secrets/src/tests.rs", text),
            ("crates/stead-model/src/a.rs", text),
        ]));
        let lines: Vec<String> =
            shown(&found).iter().map(|line| line.split(": ").next().unwrap_or("").to_owned()).collect();
        assert_eq!(lines, ["crates/stead-secrets/src/a.rs:1", "crates/stead-secrets/src/a.rs:4"]);
    }
}
