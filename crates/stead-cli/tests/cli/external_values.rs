//! Values from outside the program: look-ups, outputs of other stacks, secrets.

use crate::project::Project;

#[test]
fn look_up_is_part_of_the_saved_plan() {
    let project = Project::with(
        r#"
        import * as local from "stead/local";
        const notes = local.File.get("notes.txt");
        if (notes.size > 3) new local.File({ path: "copy.txt", content: `${notes.content}!` }, { id: "copy" });
        "#,
    );
    let missing = project.stead(&["plan"]).ends(1);
    assert!(missing.stderr.contains("ST0116") && missing.stderr.contains("main.ts:3"), "{}", missing.stderr);
    project.write("notes.txt", "hello");
    let plan = project.path("plan.json");
    project.stead(&["plan", "--out", plan.to_str().unwrap()]).ok();
    std::fs::remove_file(project.path("notes.txt")).unwrap();
    std::fs::remove_file(project.path("main.ts")).unwrap();
    project.stead(&["up", plan.to_str().unwrap(), "--yes"]).ok();
    assert_eq!(project.read("copy.txt"), "hello!");
}

#[test]
fn stack_reads_outputs_of_another_stack() {
    let outer = Project::empty();
    let files = [
        ("network/stead.toml", "project = \"network\"\nstate.path = \"../state\"\n"),
        ("network/main.ts", "export const vpc = \"vpc-1\"; export const zones = [\"a\", \"b\"];"),
        ("shop/stead.toml", "project = \"shop\"\nstate.path = \"../state\"\n"),
        (
            "shop/main.ts",
            "import { stack } from \"stead\";\nconst { outputs } = stack(\"network\");\n\
             export const all = outputs.zones.map((zone: string) => `${outputs.vpc}/${zone}`);",
        ),
    ];
    for (path, text) in files {
        outer.write(path, text);
    }
    let stead = |folder: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_stead"));
        command.args(arguments).arg("-C").arg(outer.path(folder)).env_clear().env("NO_COLOR", "1");
        outer.ran(command.output().unwrap())
    };
    let early = stead("shop", &["plan"]).ends(1);
    assert!(
        early.stderr.contains("there is no stack of project network in environment dev"),
        "{}",
        early.stderr
    );
    stead("network", &["up", "--yes"]).ok();
    let up = stead("shop", &["up", "--yes"]).ok();
    assert!(up.contains("vpc-1/a") && up.contains("vpc-1/b"), "{up}");
}

#[test]
fn secret_is_refused_by_state_and_never_printed() {
    let project = Project::with(
        r#"
        import { config } from "stead";
        import * as local from "stead/local";
        const password = config.secret("password");
        console.log("it is", password);
        new local.File({ path: "url.txt", content: `postgres://${password}@db` }, { id: "url" });
        export const url = password;
        "#,
    );
    project.write("stead.toml", "project = \"shop\"\n[config]\npassword = \"canary-7f3a\"\n");
    let before = project.all_files();
    for arguments in [&["plan"][..], &["up", "--yes"], &["plan", "--out", "plan.json"]] {
        let refused = project.stead(arguments).ends(1);
        assert!(refused.stderr.contains("ST0701"), "{}", refused.stderr);
        assert!(!refused.stderr.contains("canary") && !refused.stdout.contains("canary"));
    }
    assert_eq!(project.all_files(), before);
    let refused = project.stead(&["up", "--yes"]).stderr;
    insta::assert_snapshot!(refused, @r#"
    main.ts:5:9: it is <a secret (config `password`)>
    error[ST0701]: `content` of dev:main:local.File#url is a secret, and this stack has no secrets manager
     --> main.ts:6:9
      |
    6 | ...   new local.File({ path: "url.txt", content: `postgres://${password}@db` }, { id: "url" });
      |       ^ declared here
      |
     ::: main.ts:4:26
      |
    4 |         const password = config.secret("password");
      |                          - it becomes a secret here
      |
      = note: State records every property. Without a key to encrypt it, the secret would be stored in plain text.
      = help: keep the secret outside of Stead: let the resource read it at run time, from a file or its environment
      = help: if the value is not secret, use `config.require` instead of `config.secret`, and do not use `stead.secret`

    error[ST0701]: the output `url` is a secret, and this stack has no secrets manager
     --> main.ts:4:26
      |
    4 |         const password = config.secret("password");
      |                          ^ it becomes a secret here
      |
      = note: State records every property. Without a key to encrypt it, the secret would be stored in plain text.
      = help: keep the secret outside of Stead: let the resource read it at run time, from a file or its environment
      = help: if the value is not secret, use `config.require` instead of `config.secret`, and do not use `stead.secret`

    For more on this, run `stead explain ST0701`.
    "#);
    let graph = project.stead(&["graph", "--json"]).ok();
    assert!(graph.contains("secret") && !graph.contains("canary"), "{graph}");
}
