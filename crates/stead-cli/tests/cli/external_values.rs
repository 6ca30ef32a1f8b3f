//! Values from outside the program: look-ups, outputs of other stacks, secrets.

use crate::project::Project;

#[test]
fn look_up_is_part_of_the_saved_plan() {
    let project = Project::only(
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

const SECRET_PROGRAM: &str = r#"
        import { config } from "stead";
        import * as local from "stead/local";
        const password = config.secret("password");
        console.log("it is", password);
        new local.File({ path: "url.txt", content: `postgres://${password}@db` }, { id: "url" });
        export const url = password;
        "#;

fn secret_project() -> Project {
    let project = Project::only(SECRET_PROGRAM);
    project.write("stead.toml", "project = \"shop\"\n[config]\npassword = \"canary-7f3a\"\n");
    project
}

/// Returns the files that contain the canary, besides those in which a person wrote it.
fn leaks(project: &Project, known: &[&str]) -> Vec<std::path::PathBuf> {
    let canary = |(path, bytes): &(std::path::PathBuf, Vec<u8>)| {
        !known.iter().any(|known| path.ends_with(known)) && String::from_utf8_lossy(bytes).contains("canary")
    };
    project.all_files().into_iter().filter(canary).map(|(path, _)| path).collect()
}

#[test]
fn secret_without_a_key_manager_is_planned_and_not_stored() {
    let project = secret_project();
    let before = project.all_files();
    let planned = project.stead(&["plan"]).ok();
    assert!(planned.contains("content: [secret]") && !planned.contains("canary"), "{planned}");
    for arguments in [&["up", "--yes"][..], &["plan", "--out", "plan.json"]] {
        let refused = project.stead(arguments).ends(1);
        assert!(refused.stderr.contains("ST0701"), "{}", refused.stderr);
        assert!(!refused.stderr.contains("canary") && !refused.stdout.contains("canary"));
    }
    assert_eq!(project.all_files(), before);
    let refused = project.stead(&["up", "--yes"]).ends(1).stderr;
    assert!(refused.contains("STEAD_PASSPHRASE") && refused.contains("stead secrets add"), "{refused}");
    let graph = project.stead(&["graph", "--json"]).ok();
    assert!(graph.contains("secret") && !graph.contains("canary"), "{graph}");
}

#[test]
fn secret_is_encrypted_in_state_and_in_saved_plans() {
    let project = secret_project();
    let stead = |arguments: &[&str]| project.stead_with(&[("STEAD_PASSPHRASE", "correct horse")], arguments);
    stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("url.txt"), "postgres://canary-7f3a@db");
    let nothing = stead(&["plan", "--exit-code"]).ends(0);
    assert!(!nothing.stdout.contains("canary") && !nothing.stderr.contains("canary"));
    let wrong = project.stead_with(&[("STEAD_PASSPHRASE", "wrong")], &["plan"]).ends(1);
    assert!(wrong.stderr.contains("ST0703"), "{}", wrong.stderr);
    let missing = project.stead(&["plan"]).ends(1);
    assert!(missing.stderr.contains("ST0703") && missing.stderr != wrong.stderr, "{}", missing.stderr);
    project.stead(&["state", "ls"]).ok();
    project.stead(&["state", "verify"]).ok();

    project.write("stead.toml", "project = \"shop\"\n[config]\npassword = \"canary-next\"\n");
    let file = project.path("plan.out").display().to_string();
    let shown = stead(&["plan", "--out", &file]).ok();
    assert!(shown.contains("[secret] (changed)") && !shown.contains("canary"), "{shown}");
    assert_eq!(leaks(&project, &["stead.toml", "url.txt"]), Vec::<std::path::PathBuf>::new());
    stead(&["up", &file, "--yes"]).ok();
    assert_eq!(project.read("url.txt"), "postgres://canary-next@db");
    let export = project.stead(&["stack", "export"]).ok();
    assert!(export.contains("ciphertext") && !export.contains("canary"), "{export}");
    stead(&["destroy", "--yes"]).ok();
    assert!(!project.has("url.txt"));
    assert_eq!(leaks(&project, &["stead.toml"]), Vec::<std::path::PathBuf>::new());
}

#[test]
fn computed_data_with_the_key_of_secrets_is_refused_before_it_is_recorded() {
    const MARKED: &str = r#"{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270"}"#;
    let program = |rest: &str| {
        format!(
            "import * as stead from \"stead\";\nimport * as local from \"stead/local\";\n\
             const c = new local.Command({{ create: `echo '{MARKED}'` }}, {{ id: \"c\" }});\n{rest}\n"
        )
    };
    for rest in [
        "new local.Data({ value: stead.apply(c.stdout, s => JSON.parse(s)) }, { id: \"d\" });",
        "new local.Data({ value: stead.secret(stead.apply(c.stdout, s => [JSON.parse(s)])) }, { id: \"d\" });",
        "export const d = stead.apply(c.stdout, s => JSON.parse(s));",
    ] {
        let project = Project::with(&program(rest));
        let refused = project.stead(&["up", "--yes"]).ends(1);
        assert!(refused.stderr.contains("ST0702"), "{rest}: {}", refused.stderr);
        let plan = project.stead(&["plan"]);
        assert!([0, 1].contains(&plan.code), "{rest}: {}", plan.stderr);
        project.stead(&["state", "verify"]).ok();
        project.write("main.ts", &program("export const text = c.stdout;"));
        project.stead(&["up", "--yes"]).ok();
    }
}

#[test]
fn data_with_the_key_of_secrets_is_refused_in_programs_and_imports() {
    const KEY: &str = "4dabf18193072939515e22adb298388d";
    let program = |value: &str| {
        format!(
            "import * as local from \"stead/local\";\nnew local.Data({{ value: {value} }}, {{ id: \"a\" }});\n"
        )
    };
    let secret = format!("{{ \"{KEY}\": \"1b47061264138c4ac30d75fd1eb44270\", ciphertext: \"x\" }}");
    let project = Project::with(&program(&format!("[1, {{ deep: {secret} }}]")));
    for command in [&["plan"][..], &["up", "--yes"], &["compile"]] {
        let refused = project.stead(command).ends(1);
        assert!(refused.stderr.contains("ST0702"), "{}", refused.stderr);
        assert!(refused.stderr.contains("`value[1].deep`"), "{}", refused.stderr);
    }
    project.write("main.ts", &format!("export const leak = {secret};\n"));
    assert!(project.stead(&["plan"]).ends(1).stderr.contains("the output `leak`"));

    project.write("note.txt", "text");
    project
        .write("main.ts", &format!("import {{ file }} from \"stead\";\n{}", program("file(\"note.txt\")")));
    project.stead(&["up", "--yes"]).ok();
    let export = project.stead(&["stack", "export"]).ok();
    let file = project.path("export.json").display().to_string();
    project.write("export.json", &export);
    project.stead(&["stack", "import", &file, "--yes"]).ok();
    // The digest would reveal the change first.
    let forged = export.replace("c44067f5952c0a294b673a41bacd8c17", "1b47061264138c4ac30d75fd1eb44270");
    let mut forged: serde_json::Value = serde_json::from_str(&forged).unwrap();
    forged.as_object_mut().unwrap().remove("digest");
    project.write("export.json", &forged.to_string());
    let before = project.stead(&["stack", "export"]).ok();
    let refused = project.stead(&["stack", "import", &file, "--yes"]).ends(16);
    assert!(refused.stderr.contains("the signature of a secret"), "{}", refused.stderr);
    assert_eq!(project.stead(&["stack", "export"]).ok(), before);
}

#[test]
fn files_and_templates_are_part_of_the_saved_plan() {
    let project = Project::only(
        r#"
        import { listFiles, readBytes, readYaml, template, yaml } from "stead";
        import * as local from "stead/local";
        const pet = new local.RandomPet({ words: 2 }, { id: "pet" });
        const { port } = readYaml<{ port: number }>("conf/app.yaml");
        const size = listFiles("conf/**/*.yaml").map((one) => readBytes(one).length).reduce((a, b) => a + b, 0);
        new local.File({ path: "out.txt", content: template("conf/app.tpl", { name: pet.result, port, size }) }, { id: "out" });
        new local.File({ path: "out.yaml", content: yaml.stringify({ pet: pet.result, port }) }, { id: "yaml" });
        "#,
    );
    project.write("conf/app.yaml", "port: 80\n");
    project.write("conf/deep/more.yaml", "x\n");
    project.write("conf/app.tpl", "${name} on ${port}, ${size} bytes");
    let plan = project.path("plan.json");
    project.stead(&["plan", "--out", plan.to_str().unwrap()]).ok();
    std::fs::remove_dir_all(project.path("conf")).unwrap();
    std::fs::remove_file(project.path("main.ts")).unwrap();
    project.stead(&["up", plan.to_str().unwrap(), "--yes"]).ok();
    let out = project.read("out.txt");
    let name = out.strip_suffix(" on 80, 11 bytes").unwrap_or_else(|| panic!("{out}"));
    assert_eq!(project.read("out.yaml"), format!("pet: \"{name}\"\nport: 80\n"));
}
