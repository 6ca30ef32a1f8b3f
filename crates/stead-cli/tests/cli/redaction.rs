//! The last line of defence: no output shows a secret, whatever carries it there.

use crate::team::{MAIN, PASSPHRASE, SECRET, Team};

/// A command that prints the secret of another resource and fails. Its own request has no secret, so that its answer is not searched.
fn leaking(print: &str) -> String {
    format!(
        "{MAIN}\nnew local.Command({{ create: \"{print}; exit 3\", delete: \"true\" }}, \
         {{ id: \"leak\", dependsOn: [file] }});\n"
    )
    .replace("new local.File", "const file = new local.File")
}

/// Commands that print the secret in several forms.
const PRINTS: &[&str] = &[
    "cat real/file.txt >&2",
    "base64 < real/file.txt >&2",
    "(printf prefix; cat real/file.txt) | base64 -w0 >&2",
    "od -An -v -tx1 real/file.txt | tr -d ' \\\\n' >&2",
];

#[test]
fn error_of_a_provider_shows_no_secret_of_another_resource() {
    for (at, print) in PRINTS.iter().enumerate() {
        let all = [&[][..], &["--json"], &["-vv"]];
        for flags in if at == 0 { &all[..] } else { &all[..1] } {
            let team = Team::with(&leaking(print));
            team.set_secret(PASSPHRASE).ok();
            let failed = team.stead(&[&["up", "--yes"], *flags].concat()).ends(1);
            let said = format!("{}{}", failed.stdout, failed.stderr);
            assert!(said.contains("[secret]") && said.contains("code 3"), "{print}: {said}");
            team.assert_nothing_printed();
            if *flags == ["--json"] {
                let lines: Vec<serde_json::Value> =
                    failed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
                assert!(!lines.is_empty());
            }
        }
    }
}

#[test]
fn source_line_with_a_secret_is_quoted_without_it() {
    let main = "import { secret } from \"stead\";\nimport * as local from \"stead/local\";\n\
        new local.File({ path: \"a\", content: secret(\"correct horse \\\"battery\\\" staple\"), bad: 1 }, { id: \"f\" });\n";
    let team = Team::with(main);
    let refused = team.stead(&["plan"]);
    assert_ne!(refused.code, 0);
    assert!(
        refused.stderr.contains("main.ts:3") && refused.stderr.contains("[secret]"),
        "{}",
        refused.stderr
    );
    team.assert_nothing_printed();
}

#[test]
fn panic_shows_no_secret() {
    let team = Team::with(MAIN);
    team.set_secret(PASSPHRASE).ok();
    let mut command = team.project.command(&["up", "--yes"]);
    let text = format!("value {SECRET} is bad");
    command.envs(PASSPHRASE.iter().copied());
    command.env("STEAD_PANIC_AT", "step.call.after").env("STEAD_PANIC_TEXT", text);
    let ended = team.ended(command);
    assert_eq!(ended.code, 101, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("panicked at") && ended.stderr.contains("value [secret] is bad"),
        "{}",
        ended.stderr
    );
    team.assert_nothing_printed();
}
