//! Functions given to `stead.apply` that store a secret where another function finds it.

use crate::team::{PASSPHRASE, SECRET, Team};

/// Stores the secret in a variable, in objects, and in the realm, while its function runs. A later function, which needs an output of
/// the first resource, takes it from there.
const STORES: &str = r#"
import { apply, config, ephemeral } from "stead";
import * as local from "stead/local";
let kept = "";
const box: { v: string } = { v: "" };
const list: string[] = [];
const map = new Map<string, string>();
const password = config.secret("password");
const length = apply(password, (p) => {
  kept = p;
  box.v = p;
  list.push(p);
  map.set("p", p);
  (globalThis as any).stash = p;
  return "x".repeat(8);
});
const first = new local.File({ path: "real/first.txt", content: length }, { id: "first" });
"#;

const TAKES: &[&str] = &[
    "kept",
    "box.v",
    "list[0]",
    "{ in: [map.get(\"p\")] }",
    "(globalThis as any).stash",
    "`prefix ${kept} suffix`",
    "encodeURIComponent(kept)",
];

fn taking(expression: &str) -> String {
    format!(
        "{STORES}\nconst taken = apply(first.size, () => ({expression}));\n\
         new local.File({{ path: \"real/second.txt\", content: apply(taken, (t) => JSON.stringify(t)) }}, \
         {{ id: \"second\" }});\nexport const stolen = taken;\n"
    )
}

#[test]
fn result_of_a_function_that_contains_a_stored_secret_is_secret() {
    for take in TAKES {
        let team = Team::with(&taking(take));
        team.set_secret(PASSPHRASE).ok();
        team.stead(&["up", "--yes", "-v"]).ok();
        assert!(
            team.project.read("real/second.txt").len() > SECRET.len(),
            "{take}: the secret reaches the resource"
        );
        let shown = team.stead(&["state", "show", "second"]).ok();
        assert!(shown.contains("[secret]"), "{take}: {shown}");
        assert!(team.stead(&["output", "stolen"]).ok().contains("[secret]"), "{take}");
        team.stead(&["plan"]).ok();
        team.stead(&["plan", "--json"]).ok();
        team.stead(&["stack", "export"]).ok();
        team.assert_nothing_leaked();
    }
}

#[test]
fn error_and_log_of_a_function_show_no_stored_secret() {
    let team = Team::with(&taking("(() => { console.log(kept); throw new Error(`bad ${box.v}`); })()"));
    team.set_secret(PASSPHRASE).ok();
    let failed = team.stead(&["up", "--yes"]).ends(1);
    assert!(failed.stderr.contains("bad [secret]"), "{}", failed.stderr);
    team.assert_nothing_leaked();
}

#[test]
fn stored_ephemeral_value_is_secret_too() {
    let main = format!(
        "{STORES}\nconst own = {{ v: \"\" }};\nconst made = ephemeral(() => {{ own.v = \"correct horse \\\"battery\\\" staple\"; return own.v; }});\n\
         const one = new local.Command({{ create: \"true\", delete: \"true\", environment: {{ T: made }} }}, {{ id: \"one\" }});\n\
         new local.File({{ path: \"real/two.txt\", content: apply(one.exitCode, () => own.v) }}, {{ id: \"two\" }});\n"
    );
    let main = main.replace("config.secret(\"password\")", "config.secret(\"other\")");
    let team = Team::with(&main);
    team.stead(&["config", "set", "--secret", "other", "a wholly different one"]).ok();
    team.stead(&["up", "--yes"]).ok();
    assert!(team.stead(&["state", "show", "two"]).ok().contains("[secret]"));
    assert_eq!(team.project.read("real/two.txt"), SECRET);
}
