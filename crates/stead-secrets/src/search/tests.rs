//! Tests of the search: each form by name, random secrets, overlaps, many and long secrets.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use proptest::prelude::*;
use stead_model::Value;

use super::needles::found_comparing;
use super::{Needles, forms, leaves};

fn redacted(secrets: &[&str], text: &str) -> String {
    Needles::new(secrets).redact(text)
}

#[test]
fn secret_is_found_in_each_form_by_name() {
    let secret = "pä/ss \"wörd\"<\n>";
    let needles = Needles::new([secret]);
    for text in [
        secret,
        r#"pä/ss \"wörd\"<\n>"#,
        r#"pä\/ss \"wörd\"<\n>"#,
        r#"p\u00e4/ss \"w\u00f6rd\"<\n>"#,
        r#"p\u00E4/ss \"w\u00F6rd\"<\n>"#,
        r#"pä/ss \"wörd\"\u003c\n\u003e"#,
        r#"pä/ss \\\"wörd\\\"<\\n>"#,
        "cMOkL3NzICJ3w7ZyZCI8Cj4=",
        "70c3a42f7373202277c3b67264223c0a3e",
        "70C3A42F7373202277C3B67264223C0A3E",
        "p%C3%A4%2Fss%20%22w%C3%B6rd%22%3C%0A%3E",
        "p%c3%a4%2fss%20%22w%c3%b6rd%22%3c%0a%3e",
        "p%C3%A4%2Fss+%22w%C3%B6rd%22%3C%0A%3E",
    ] {
        assert!(needles.contains(text), "{text}");
        assert_eq!(
            needles.redact(&format!("x={text}.")),
            "x=[secret].".replace(".", if text.ends_with('=') { "=." } else { "." }),
            "{text}"
        );
    }
    assert!(!needles.contains("pä/ss \"wörd\"<\n"));
}

#[test]
fn overlapping_secrets_and_secrets_with_a_common_beginning_leave_nothing() {
    assert_eq!(
        redacted(&["password", "password-longer"], "a password-longer b password c"),
        "a [secret] b [secret] c"
    );
    assert_eq!(
        redacted(&["password-longer", "password"], "password-longepassword-longer"),
        "[secret]-longe[secret]"
    );
    assert_eq!(redacted(&["abcdefgh12", "gh12345678"], "abcdefgh12345678"), "[secret]");
    assert_eq!(redacted(&["abcdefgh", "bcdefghi"], "abcdefghi"), "[secret]");
    assert_eq!(redacted(&["aaaaaaaa"], "aaaaaaaaaaa b"), "[secret] b");
    assert_eq!(
        redacted(&["abcdefgh", "abcdefghijklmnop", "abcdefghijkl"], "abcdefghijklmnoX"),
        "[secret]mnoX"
    );
}

#[test]
fn short_secret_is_found_only_as_the_whole_text() {
    let needles = Needles::new(["1234567", ""]);
    assert!(needles.is_secret_text("1234567") && needles.contains("1234567"));
    assert_eq!(needles.redact("1234567"), "[secret]");
    assert_eq!(needles.redact("12345678"), "12345678");
    assert!(!needles.is_secret_text("") && !needles.contains("") && !Needles::default().contains("x"));
    assert_eq!(Needles::default().redact("a long enough text"), "a long enough text");
}

#[test]
fn neighbouring_characters_of_base64_that_contain_bits_of_the_secret_go_too() {
    let needles = Needles::new(["super-secret-value"]);
    for before in 0..4 {
        let data = format!("{}super-secret-value{}", "a".repeat(before), "z".repeat(4));
        let redacted = needles.redact(&STANDARD.encode(&data));
        let kept = redacted.replace("[secret]", "");
        let whole = STANDARD.encode(&data);
        assert!(kept.len() <= (whole.len() * 6 - 18 * 8) / 6, "{whole}: {redacted}");
    }
}

#[test]
fn parts_of_a_structured_secret_are_needles() {
    let value: Value = serde_json::from_str(
        r#"{"user":"postgres-admin","port":54321987,"list":["another-secret",null,true],"pin":"1234"}"#,
    )
    .unwrap();
    let needles = Needles::of_values([&value]);
    for text in ["x postgres-admin", "54321987;", "(another-secret)", "1234"] {
        assert!(needles.contains(text), "{text}");
    }
    assert!(!needles.contains("12345"));
    let pins: Value = serde_json::from_str(r#"{"a":"12","b":"34"}"#).unwrap();
    assert!(Needles::of_values([&pins]).contains(r#"it is {"a":"12","b":"34"}."#));
    assert_eq!(leaves(&Value::Bool(true)).len(), 0);
}

#[test]
fn many_needles_and_long_secrets_are_found() {
    let secret = |n: u64| format!("{:016x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let long = |n: u64| (0..4096).map(|part| secret(n * 4096 + part)).collect::<String>();
    let many: Vec<String> = (0..10_000).map(secret).chain((1000..1004).map(long)).collect();
    assert_eq!(many[10_000].len(), 64 << 10);
    let needles = Needles::new(&many);
    let innocent: String = (0..100_000u64).map(|n| format!("{n} ")).collect();
    assert!(!needles.contains(&innocent));
    let text = format!("{innocent}{} {}", STANDARD.encode(&many[10_001]), many[77]);
    assert!(needles.redact(&text).ends_with(" [secret]"));
    assert!(needles.redact(&text).len() < innocent.len() + 32);
}

#[test]
fn secrets_with_one_common_beginning_do_not_slow_the_search() {
    let many: Vec<String> = (0..10_000).map(|n| format!("-----BEGIN PRIVATE KEY-----{n:05}")).collect();
    let needles = Needles::new(&many);
    let text = "-----BEGIN PRIVATE KEY-----x ".repeat(5_000);
    assert!(!needles.contains(&text));
    assert_eq!(needles.redact("-----BEGIN PRIVATE KEY-----012345"), "[secret]5");
}

/// With comparisons at each place, each of these searches would take minutes.
#[test]
fn long_secret_of_one_letter_is_found_in_linear_time() {
    let (letter, length) = ("a", 64 << 10);
    let (secret, nearly) = (letter.repeat(length), letter.repeat(length) + "b");
    let text = letter.repeat(32 << 20);
    assert!(!Needles::new([&nearly]).contains(&text));
    assert_eq!(Needles::new([&nearly]).redact(&text).len(), text.len());
    assert!(Needles::new([&nearly]).contains(format!("{text}b")));
    assert_eq!(Needles::new([&secret, &nearly]).redact(&text), "[secret]");
}

fn text_secret() -> impl Strategy<Value = String> {
    prop_oneof![
        r#"[ -~]{8,40}"#,
        r#"["\\/\n\t<>&+% =a]{8,20}"#,
        r"\PC{8,20}",
        "[A-Za-z0-9+/]{8,40}={0,2}",
        "[ab]{8,12}",
    ]
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_form_is_found_and_redacted_wherever_it_stands(
        secret in text_secret(),
        others in prop::collection::vec(text_secret(), 0..5),
        before in r#"[a-f0-9"\\ é]{0,12}"#,
        after in r#"[a-f0-9"\\ é]{0,12}"#,
    ) {
        let needles = Needles::new(others.iter().chain([&secret]));
        for form in forms(secret.as_bytes()) {
            let form = String::from_utf8(form).unwrap();
            let text = format!("{before}{form}{after}");
            prop_assert!(needles.contains(&text), "{}", text);
            let redacted = needles.redact(&text);
            prop_assert!(redacted.contains("[secret]"));
            prop_assert!(position(redacted.as_bytes(), form.as_bytes()).is_none(), "{} in {}", form, redacted);
        }
    }

    #[test]
    fn bytes_are_found_in_base64_of_longer_data(
        secret in prop::collection::vec(any::<u8>(), 8..100),
        before in prop::collection::vec(any::<u8>(), 0..10),
        after in prop::collection::vec(any::<u8>(), 0..10),
    ) {
        let needles = Needles::new([&secret]);
        let data = [before, secret.clone(), after].concat();
        for text in [STANDARD.encode(&data), URL_SAFE.encode(&data)] {
            prop_assert!(needles.contains(&text));
            prop_assert!(needles.redact(&text).contains("[secret]"));
        }
        prop_assert!(needles.contains(&data));
        prop_assert!(position(&needles.redact_bytes(&data), &secret).is_none());
    }

    #[test]
    fn automaton_finds_what_the_index_finds(
        secrets in prop::collection::vec(prop_oneof!["[ab]{8,11}", "[abc]{8,30}", "a{8,40}b?"], 1..8),
        text in "[ab]{0,80}c?a{0,60}b{0,2}",
    ) {
        let needles = Needles::new(&secrets);
        for text in [text.clone(), STANDARD.encode(&text), stead_model::hex(text.as_bytes())] {
            let text = text.as_bytes();
            let found = |most| found_comparing(&needles.index, text, most);
            prop_assert_eq!(found(0), found(usize::MAX));
        }
    }

    #[test]
    fn redaction_covers_what_a_plain_search_finds_and_nothing_else(
        secrets in prop::collection::vec("[ab]{8,11}", 1..6),
        text in "[ab]{0,60}",
    ) {
        let mut covered = vec![false; text.len()];
        for secret in &secrets {
            for at in 0..text.len() {
                if text[at..].starts_with(secret.as_str()) {
                    covered[at..at + secret.len()].fill(true);
                }
            }
        }
        let kept: String = text.chars().zip(&covered).filter(|(_, covered)| !**covered).map(|(c, _)| c).collect();
        prop_assert_eq!(Needles::new(&secrets).redact(&text).replace("[secret]", ""), kept);
    }
}

#[test]
fn secret_is_found_in_every_reading_of_a_text() {
    let secret =
        "pass:w\u{f6}rd & \"more\"\nline two/three of it, which is long enough for lines to be broken";
    let needles = Needles::new([secret]);
    let everything = secret.bytes().fold(String::new(), |all, byte| all + &format!("%{byte:02X}"));
    let some = everything.replace("%26", "&").replace("%3A", ":").replace("%77", "w");
    let units: String = secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let wrapped = |text: String, width: usize, with: &str| {
        let lines: Vec<&str> =
            text.as_bytes().chunks(width).map(|line| str::from_utf8(line).unwrap()).collect();
        lines.join(with)
    };
    let (base64, hex) = (STANDARD.encode(secret), stead_model::hex(secret.as_bytes()));
    let texts = [
        everything,
        some,
        json(&json(&units)),
        json(&json(&json(secret))),
        secret.replace('\n', "\n    "),
        secret.replace('\n', "\r\n\t"),
        wrapped(base64.clone(), 76, "\n"),
        wrapped(base64.clone(), 64, "\r\n"),
        json(&wrapped(base64, 64, "\n  ")),
        wrapped(hex, 60, "\n"),
    ];
    for text in texts {
        assert!(needles.contains(&text), "{text}");
        let shown = needles.redact(&format!("before, {text}, after"));
        assert!(shown.starts_with("before, ") && shown.ends_with(", after"), "{shown}");
        assert!(shown.contains("[secret]") && shown.len() < 60, "{shown}");
    }
    for other in ["100% of it\\ is\nno secret", "%", "%4", "\\u12", "\\ud800\\u0041", "\\", "\n"] {
        assert!(!needles.contains(other) && needles.redact(other) == other, "{other}");
    }
}

/// A private key as a file has it: with a line break at its end.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
                   MC4CAQAwBQYDK2VwBCIEIOSLnnSM\n\
                   \"quoted\" and\tindented  words\n\
                   short\n\
                   -----END PRIVATE KEY-----\n";

#[test]
fn secret_with_line_breaks_is_found_as_programs_pass_it_on() {
    let (unix, dos) = (KEY.to_owned(), KEY.replace('\n', "\r\n"));
    let without_controls: String = KEY.chars().filter(|c| !c.is_control()).collect();
    let texts = [
        unix.trim_end().to_owned(),
        dos.trim_end().to_owned(),
        KEY.lines().collect::<Vec<_>>().join(" "),
        KEY.split_whitespace().collect::<Vec<_>>().join(" "),
        dos.split([' ', '\t', '\n'])
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
            .trim()
            .to_owned(),
        without_controls,
    ];
    // A secret with `\n` is not looked for with `\r\n` in it and then encoded.
    let unix_texts = texts.iter().enumerate().filter(|(at, _)| *at != 1 && *at != 4).map(|(_, text)| text);
    let check = |needles: &Needles, text: &str| {
        assert!(needles.contains(text), "{text}");
        assert_eq!(needles.redact(&format!("a {text} b")), "a [secret] b", "{text}");
        let json = serde_json::to_string(text).unwrap();
        assert!(needles.contains(&json), "{json}");
    };
    unix_texts.for_each(|text| check(&Needles::new([&unix]), text));
    texts.iter().for_each(|text| check(&Needles::new([&dos]), text));
    for encoded in [STANDARD.encode(unix.trim_end()), stead_model::hex(unix.trim_end().as_bytes())] {
        assert!(Needles::new([&unix]).contains(&encoded) && Needles::new([&dos]).contains(&encoded));
    }
}

#[test]
fn secret_that_goes_over_lines_of_a_log_is_hidden_in_each_of_them() {
    let needles = Needles::new(["two\nshort\nlines", "correct-horse"]);
    let log = |lines: &[&str]| {
        needles.redact_lines(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(
        log(&["", "a correct-horse b correct-horse", "is two\n", "short\r\n", "lines now\n", "short"]),
        ["", "a [secret] b [secret]", "is [secret]\n", "[secret]\r\n", "[secret] now\n", "short"]
    );
    assert!(log(&[]).is_empty());
}

#[test]
fn messages_are_searched_for_the_long_lines_of_a_secret_and_values_are_not() {
    let needles = Needles::new([KEY, "correct-horse"]);
    let part = "MC4CAQAwBQYDK2VwBCIEIOSLnnSM\nnot a part";
    assert!(!needles.contains(part) && needles.are_in_message(part));
    assert_eq!(needles.redact(part), part);
    assert_eq!(needles.redact_message(part), "[secret]\nnot a part");
    let quoted = r#"{"a":"\"quoted\" and\tindented  words"}"#;
    assert_eq!(needles.redact_message(quoted), r#"{"a":"[secret]"}"#);
    assert_eq!(needles.redact_message(&format!("a {KEY} correct-horse")), "a [secret]\n [secret]");
    for plain in ["short", "-----BEGIN PRIVATE KEY-----", "correct"] {
        assert!(!needles.are_in_message(plain), "{plain}");
    }
}
