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

/// A private key as `openssl` writes it to a file: 51 lines, with a line break at the end.
fn key() -> String {
    let line = |n: u64| format!("{:016x}", (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).repeat(4);
    let body: String = (0..49).map(|n| line(n) + "\n").collect();
    format!("-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\n")
}

#[test]
fn failed_command_that_printed_a_key_shows_and_records_no_line_of_it() {
    let key = key();
    let whole = r#"printf %s "$KEY""#;
    let prints = [
        whole.to_owned(),
        "echo $KEY".to_owned(),
        format!(r"{whole} | sed 's/$/\r/'"),
        format!("{whole} | tail -n 9"),
    ];
    for (print, end) in prints.iter().flat_map(|print| [(print, "exit 3"), (print, "kill -9 $$")]) {
        let line = serde_json::to_string(&format!("({print}; seq 5) >&2; {end}")).unwrap();
        let team = Team::with(&format!(
            "import {{ config }} from \"stead\";\nimport * as local from \"stead/local\";\n\
             const key = config.secret(\"pem\");\n\
             new local.Command({{ create: {line}, environment: {{ KEY: key }} }}, {{ id: \"c\" }});\n"
        ));
        for flags in [&[][..], &["--json"], &["-vvv"]] {
            let mut command = team.project.command(&[&["up", "--yes"], flags].concat());
            command.env("STEAD_CONFIG_PEM", &key).envs(PASSPHRASE.iter().copied());
            let ran = team.ended(command);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(ran.code != 0 && (!flags.is_empty() || said.contains("[secret]")), "{line}: {said}");
            let shown = key.lines().skip(1).take(49).find(|line| said.contains(&line[..32]));
            assert_eq!(shown, None, "{line} {flags:?}: {said}");
        }
        for (path, text) in team.all_texts() {
            assert!(
                !key.lines().skip(1).take(49).any(|line| text.contains(&line[..32])),
                "{}",
                path.display()
            );
        }
    }
}
