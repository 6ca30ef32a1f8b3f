//! Tests of texts that show a part of a secret: cut messages, cut logs, events of a log.

use super::tests::{Echo, now, record, secret, veiled};
use super::*;
use crate::{Moment, Providers, Span};
use stead_model::Value;

/// A key as a file has it.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
                   MC4CAQAwBQYDK2VwBCIEIOSLnnSMbVkL1SECK0zVtDZDN1sdc2tXvVPrDAEZaMqT\n\
                   nnSMbVkL1SECK0zVtDZDN1sdc2tXvVPrDAEZaMqTMC4CAQAwBQYDK2VwBCIEIOSL\n\
                   c2hvcnQ=\n\
                   -----END PRIVATE KEY-----\n";

#[test]
fn secret_that_a_log_has_line_by_line_is_hidden() {
    let providers = Providers::default().with(Arc::new(Echo::default()));
    providers.learn_record(&record(&[("password", Value::secret(Value::from(KEY)))]));
    let veiled = providers.named("echo").unwrap().clone();
    let log_of = |record: Resource| {
        let span = Span { from: Moment(0), to: Moment(1) };
        let lines = now(veiled.telemetry().unwrap().log(&record, span)).unwrap().lines;
        lines.into_iter().map(|line| line.text).collect::<Vec<_>>()
    };
    let event = KEY.lines().nth(2).unwrap();
    assert_eq!(log_of(record(&[("user", Value::from(event))])), ["logged in with [secret]"]);
    let whole = log_of(record(&[("stream", Value::from(KEY))]));
    assert_eq!(whole, ["[secret]"; 5]);
}

/// Returns the message of a read that failed with this text, behind secrets of the record or of the run.
fn failed_with(text: &str) -> [String; 2] {
    let key = Value::secret(Value::from(KEY));
    let (_, veiled) = veiled();
    let quoting = [("quoted", Value::from(text)), ("fail", Value::from(true))];
    let of_request = [&[("password", key.clone())], &quoting[..]].concat();
    let of_request = now(veiled.read(&record(&of_request))).unwrap_err();
    let providers = Providers::default().with(Arc::new(Echo::default()));
    providers.learn_record(&record(&[("password", key)]));
    let of_run = now(providers.named("echo").unwrap().read(&record(&quoting))).unwrap_err();
    [of_request, of_run].map(|refusal| refusal.message)
}

#[test]
fn message_is_searched_before_it_is_cut() {
    let many = |lines: usize| (0..lines).map(|line| format!("\n{line}")).collect::<String>();
    for message in failed_with(&format!("{}\n{KEY}{}", many(9), many(16))) {
        assert!(message.starts_with("cannot log in with \n[stead left out "), "{message}");
        assert!(message.contains("]\n7\n8\n[secret]\n\n0\n1"), "{message}");
        assert!(message.ends_with("\n15"), "{message}");
    }
    for message in failed_with(&format!("{KEY}\n{}", "x".repeat(10_000))) {
        assert!(!message.contains("nnSMbVkL") && message.contains(" bytes]\nxxx"), "{message}");
    }
}

#[test]
fn part_of_a_message_that_was_cut_elsewhere_has_no_line_of_a_secret() {
    let part = &KEY[KEY.find("VwBC").unwrap()..];
    for message in failed_with(&format!("\n{part}")) {
        assert!(!message.contains("nnSMbVkL1SECK0zVtDZDN1sdc2tXvVPrDAEZaMqTMC4"), "{message}");
    }
}

#[test]
fn log_with_a_part_left_out_is_a_secret_if_it_has_a_line_of_one() {
    let log = crate::cut_log(format!("start\n{}", &KEY[..100]).as_bytes(), b"end\nlast\n", 1 << 22);
    let (_, veiled) = veiled();
    let both = [("password", Value::secret(Value::from(KEY))), ("echo", Value::from(log.as_str()))];
    let outputs = now(veiled.read(&record(&both))).unwrap().unwrap().outputs;
    assert!(outputs["echo"].has_secrets(), "{outputs:?}");
    let (_, later) = super::tests::veiled();
    let other = [("password", secret()), ("echo", Value::from(log.as_str()))];
    assert!(!now(later.read(&record(&other))).unwrap().unwrap().outputs["echo"].has_secrets());
}
