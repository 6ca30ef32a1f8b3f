//! Plans in tests: from nothing, from a state, from another folder, from a commit; and the guards that forbid them.

use std::process::Command;

use super::{HEAD, MAIN, project};
use crate::project::Project;

#[test]
fn plan_from_an_earlier_folder_tells_what_an_upgrade_does() {
    let project = project(
        r#"
const from = folder("v1");
test("nothing is replaced", () => {
  const p = upgrade(from);
  expect(p).toReplaceNothing();
  expect(p).toDeleteNothing();
  expect(p.refusal).toBeUndefined();
  expect(p.steps.map((step) => [step.kind, step.name])).toEqual([["update", "main/Upload:aws.s3.Bucket"]]);
  expect(p.step("main/Upload:aws.s3.Bucket")?.changes).toEqual([
    { path: "VersioningConfiguration.Status", old: "Suspended", new: "Enabled", replaces: false },
  ]);
  expect(p.summary).toMatchObject({ update: 1, unchanged: 2 });
});
test("the same program changes nothing", () => expect(plan({ from: declare() })).toChangeNothing());
test("from nothing all is created", () => expect(plan().steps.map((step) => step.kind)).toEqual(["create", "create", "create"]));
test("a file that is gone is deleted", () => {
  const p = plan({ from: declare({ config: { files: 2 } }), to: declare() });
  expect(p.step("main:local.File#f1")?.kind).toBe("delete");
  expect(p).toDeleteNothing();
});
"#,
    );
    project.write("v1/main.ts", &MAIN.replace("\"Enabled\"", "\"Suspended\""));
    let ran = project.stead(&["test"]);
    assert!(ran.stdout.contains("Tests: 1 failed, 3 passed."), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("+ delete main:local.File#f1"), "{}", ran.stdout);
    assert!(!project.has(".stead"), "no state is written");
}

#[test]
fn plan_from_a_commit_reads_sources_and_settings_of_that_commit() {
    let main = "import { config } from \"stead\";\nimport { path } from \"./lib/path\";\nimport * as local from \"stead/local\";\nnew local.File({ path, content: config.require(\"text\") as string });\n";
    let project = Project::empty();
    project.write("app/stead.toml", "project = \"shop\"\n[config]\ntext = \"old\"\n");
    project.write("app/main.ts", main);
    project.write("app/lib/path.ts", "export const path = \"a.txt\";\n");
    let git = |arguments: &[&str]| {
        let identity =
            ["-c", "user.name=ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"];
        let done = Command::new("git")
            .current_dir(project.path(""))
            .args(identity)
            .args(arguments)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "one"]);
    git(&["tag", "v1.0.0"]);
    project.write("app/stead.toml", "project = \"shop\"\n[config]\ntext = \"new\"\n");
    project.write("app/lib/path.ts", "export const path = \"b.txt\";\n");
    project.write(
        "app/main.test.ts",
        &format!(
            r#"{HEAD}
test("the path changed", () => {{
  const p = upgrade(gitRef("v1.0.0"));
  expect(p.step("main:local.File")).toMatchObject({{ kind: "replace", forcedBy: ["path"] }});
  expect(p.step("main:local.File")?.changes.map((change) => [change.path, change.old, change.new])).toEqual([
    ["content", "old", "new"], ["path", "a.txt", "b.txt"],
  ]);
  expect(p).toReplaceNothing();
}});
test("no such tag", () => {{ upgrade(gitRef("v9; touch pwned")); }});
"#
        ),
    );
    let mut stead = Command::new(env!("CARGO_BIN_EXE_stead"));
    let ran = project
        .ran(stead.args(["test", "-C"]).arg(project.path("app")).env("NO_COLOR", "1").output().unwrap());
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("+ replace main:local.File because of path"), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("ST0904") && !project.has("app/pwned"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Tests: 2 failed."), "{}", ran.stdout);
}

#[test]
fn guards_that_forbid_a_plan_are_its_refusal() {
    let project = project(
        r#"
const bucket = (name: string) => ({
  main: "bucket.ts",
  files: { "bucket.ts": `import { s3 } from "stead/aws";\nnew s3.Bucket({ BucketName: "${name}" }, { preventDelete: true });\n` },
});
test("a protected bucket is not replaced", () => {
  const p = plan({ from: declare(bucket("one")), to: declare(bucket("two")) });
  expect(p.step("bucket:aws.s3.Bucket")).toMatchObject({ kind: "replace", forcedBy: ["BucketName"] });
  expect(p).toBeRefused("ST0401");
  expect(p.refusal?.code).toBe("ST0401");
  expect(p.refusal?.message).toMatch("bucket:aws.s3.Bucket");
  expect(plan({ from: declare(bucket("one")), to: declare(bucket("one")) })).not.toBeRefused();
});
test("a plan that cannot be made is refused", () => {
  const files = { "bad.ts": 'import { s3 } from "stead/aws";\nnew s3.Bucket({ BucketNam: "x" } as object);\n' };
  expect(() => plan({ main: "bad.ts", files })).toBeRefused("ST0106");
});
test("two environments are a mistake", () => { plan({ from: declare({ env: "prod" }), to: declare() }); });
"#,
    );
    let ran = project.stead(&["test"]);
    assert!(ran.stdout.contains("Tests: 1 failed, 2 passed."), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("ST0903"), "{}", ran.stdout);
}

#[test]
fn plan_from_an_exported_state_is_the_plan_of_the_stack() {
    let main = "import * as local from \"stead/local\";\nnew local.RandomString({ length: 8 });\nconst f = new local.File({ path: \"a.txt\", content: \"a\" });\nnew local.File({ path: \"b.txt\", content: `${f.path}` }, { id: \"b\" });\n";
    let project = Project::only(main);
    project.stead(&["up", "--yes"]).ok();
    let exported = project.stead(&["stack", "export"]).ok();
    project.write("fixtures/dev.json", &exported);
    project.write("main.ts", &main.replace("content: \"a\"", "content: \"c\""));
    project.write(
        "main.test.ts",
        &format!("{HEAD}test(\"one update\", () => {{\n  const p = plan({{ from: state(\"fixtures/dev.json\") }});\n  expect(p.steps.map((step) => `${{step.kind}} ${{step.name}}`)).toEqual([\"update main:local.File\"]);\n}});\ntest(\"no file\", () => {{ expect(() => plan({{ from: state(\"gone.json\") }})).toBeRefused(); }});\n"),
    );
    project.stead(&["test"]).ok();
}

#[test]
fn functions_of_the_program_run_on_placeholders() {
    let project = Project::only(
        r#"import { apply } from "stead";
import { s3, sqs } from "stead/aws";
const bucket = new s3.Bucket({});
new sqs.Queue({ QueueName: apply(bucket.Arn, (arn: string) => `q-${arn.split(":")[2]}`) });
new sqs.Queue({ QueueName: bucket.Arn.split(":")[4].toUpperCase() }, { id: "account" });
"#,
    );
    project.write(
        "main.test.ts",
        &format!(
            "{HEAD}test(\"nothing changes\", () => expect(plan({{ from: declare() }})).toChangeNothing());\n"
        ),
    );
    project.stead(&["test"]).ok();
}

#[test]
#[cfg(unix)]
fn commit_with_links_and_many_files_is_read_as_it_is() {
    let project = Project::empty();
    project.write("stead.toml", "project = \"shop\"\n");
    project.write(
        "main.ts",
        "import { readText } from \"stead\";\nimport { text } from \"./linked/text\";\nexport const out = [text, readText(\"plain.txt\")];\n",
    );
    project.write("real/text.ts", "export const text = \"behind a link\";\n");
    project.write("plain.txt", "plain");
    std::os::unix::fs::symlink("real", project.path("linked")).unwrap();
    // The listing of the commit has more than a megabyte.
    let name = "n".repeat(120);
    for file in 0..7_000 {
        project.write(&format!("many/{name}-{file}.txt"), "");
    }
    project.write("large.txt", &"0123456789abcdef".repeat(70_000));
    git(&project, &["init", "-q"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "-q", "-m", "one"]);
    project.write("real/text.ts", "export const text = \"later\";\n");
    project.write(
        "main.test.ts",
        &format!(
            r#"{HEAD}
test("the outputs change", () => {{
  const p = upgrade(gitRef("HEAD"));
  expect(p.outputChanges).toEqual([{{ path: "out", old: ["behind a link", "plain"], new: ["later", "plain"], replaces: false }}]);
}});
test("a large file is whole", () => {{
  const main = 'import {{ readText }} from "stead";\nexport const size = readText("large.txt").length;\n';
  expect(upgrade(gitRef("HEAD"), {{ main: "now.ts", files: {{ "now.ts": main }} }})).toChangeNothing();
}});
"#
        ),
    );
    project.stead(&["test"]).ok();
}

/// Runs `git` in the folder of a project.
#[cfg(unix)]
fn git(project: &Project, arguments: &[&str]) {
    let identity =
        ["-c", "user.name=ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"];
    let done =
        Command::new("git").current_dir(project.path("")).args(identity).args(arguments).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
