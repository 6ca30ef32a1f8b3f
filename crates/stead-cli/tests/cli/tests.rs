//! `stead test` with the real binary: results, failures with places, snapshots, plans from other versions, reporters.

mod clouds;
mod plans;
mod reporters;

use crate::project::Project;

/// A program with AWS types, a group, a secret, a look-up and the outputs of another stack.
const MAIN: &str = r#"import { Resource, config, nodeOf, secret } from "stead";
import { s3, sqs } from "stead/aws";
import * as local from "stead/local";

export class Upload extends Resource {
  readonly bucket: s3.Bucket;
  constructor(id?: string) {
    super(id);
    this.bucket = new s3.Bucket({ VersioningConfiguration: { Status: config.get("versioning") ?? "Enabled" } });
    nodeOf(this.bucket).pinned = true;
  }
}

const upload = new Upload();
new sqs.Queue({ QueueName: `jobs-${upload.bucket.BucketName}` }, { id: "jobs", preventDelete: true });
for (let i = 0; i < (config.number("files") ?? 1); i++) {
  new local.File({ path: `f${i}.txt`, content: `${i}` }, { id: `f${i}`, dependsOn: upload });
}
export const bucketArn = upload.bucket.Arn;
export const size = config.number("files") ?? 1;
"#;

const HEAD: &str = "import { declare, describe, expect, folder, gitRef, nothing, plan, state, test, unknownOf, upgrade, beforeEach } from \"stead/test\";\n";

/// Creates a project with the program and one test file.
fn project(tests: &str) -> Project {
    let project = Project::only(MAIN);
    project.write("main.test.ts", &format!("{HEAD}{tests}"));
    project
}

#[test]
fn test_sees_the_graph_as_the_program_declares_it() {
    let project = project(
        r#"
describe("uploads", () => {
  let app: ReturnType<typeof declare>;
  beforeEach(() => { app = declare({ env: "prod", config: { files: 2 } }); });

  test("buckets are versioned and pinned", () => {
    const bucket = app.find("main/Upload:aws.s3.Bucket");
    expect(bucket.inputs.VersioningConfiguration).toEqual({ Status: "Enabled" });
    expect(bucket).toMatchObject({ pinned: true, type: "aws.s3.Bucket", module: "main", scope: "Upload", parent: "main:Upload" });
    expect(app.find("prod:main/Upload:aws.s3.Bucket")).toBe(bucket);
  });

  test("values known only after apply are shown as such", () => {
    const queue = app.find("main:aws.sqs.Queue#jobs");
    expect(queue.inputs.QueueName).toBeUnknown("main/Upload:aws.s3.Bucket.BucketName");
    expect(queue.inputs.QueueName.text).toBe("jobs-${main/Upload:aws.s3.Bucket.BucketName}");
    expect(queue.preventDelete).toBe(true);
    expect(queue.dependencies).toEqual(["main/Upload:aws.s3.Bucket"]);
    expect(app.outputs).toEqual({ bucketArn: unknownOf("main/Upload:aws.s3.Bucket.Arn"), size: 2 });
    expect(app.outputs.size).not.toBeUnknown();
  });

  test("resources are found by type, id and kind", () => {
    expect(app.all({ type: "local.File" }).map((file) => file.id)).toEqual(["f0", "f1"]);
    expect(app.all({ group: true })).toHaveLength(1);
    expect(app.all({ pinned: true })).toHaveLength(1);
    expect(app.resources).toHaveLength(5);
    expect(app.find("main:local.File#f1").dependsOn).toEqual(["main:Upload"]);
  });
});

test.each([["dev", 1], ["prod", 3]])("%s has %d files", async (env, files) => {
  await Promise.resolve();
  expect(declare({ env, config: { files } }).all({ type: "local.File" })).toHaveLength(files);
});
test.skip("later", () => {});
test.todo("someday");
"#,
    );
    let before = project.all_files();
    let ran = project.stead(&["test"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    insta::assert_snapshot!(ran.stdout, @"
    main.test.ts
      passed uploads > buckets are versioned and pinned
      passed uploads > values known only after apply are shown as such
      passed uploads > resources are found by type, id and kind
      passed dev has 1 files
      passed prod has 3 files
      skipped later
      todo someday

    Tests: 5 passed, 1 skipped, 1 to do.
    ");
    assert_eq!(project.all_files(), before, "a test run writes nothing");
}

#[test]
fn failed_expectation_shows_its_place_and_both_values() {
    let project = project(
        r#"
test("tags", () => {
  const app = declare({ config: { versioning: "Suspended" } });
  expect(app.find("main/Upload:aws.s3.Bucket").inputs).toEqual({
    VersioningConfiguration: { Status: "Enabled" },
  });
});
test("passes after a failure", () => expect(1 + 1).toBe(2));
"#,
    );
    let ran = project.stead(&["test"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn refused_programs_are_expected_by_their_code() {
    let project = project(
        r#"
const branch = { files: { "branch.ts": 'import { s3 } from "stead/aws";\nconst b = new s3.Bucket({});\nif (b.Arn) new s3.Bucket({});\n' }, main: "branch.ts" };
test("a branch on an unknown is refused", () => {
  expect(() => declare(branch)).toBeRefused("ST0104");
  expect(() => declare(branch)).toBeRefused();
  expect(() => declare()).not.toBeRefused();
});
test("a wrong code fails", () => expect(() => declare(branch)).toBeRefused("ST0101"));
test("an unexpected refusal shows the place in the program", () => { declare(branch); });
test("a missing resource has the nearest name", () => { declare().find("main:aws.sqs.Queue#job"); });
test("an option that does not exist is a mistake", () => { declare({ confg: {} } as object); });
"#,
    );
    let ran = project.stead(&["test"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("passed a branch on an unknown is refused"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("branch.ts:3:5") && ran.stdout.contains("main.test.ts:10:70"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("did you mean `main:aws.sqs.Queue#jobs`?"), "{}", ran.stdout);
    assert!(ran.stdout.contains("ST0903") && ran.stdout.contains("confg"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Tests: 4 failed, 1 passed."), "{}", ran.stdout);
}

#[test]
fn look_ups_and_other_stacks_come_from_the_test() {
    let project = Project::only(
        r#"import { secret, stack, readText } from "stead";
import { ec2 } from "stead/aws";
import * as local from "stead/local";
const vpc = ec2.VPC.get("vpc-1");
new local.File({ path: "a.txt", content: `${vpc.CidrBlock} ${stack("network").outputs.zone} ${readText("note.txt")}` });
new local.File({ path: "b.txt", content: secret("hunter2") }, { id: "b" });
"#,
    );
    project.write("note.txt", "note");
    project.write(
        "main.test.ts",
        &format!(
            r#"{HEAD}
const lookups = {{ "aws.ec2.VPC": {{ "vpc-1": {{ CidrBlock: "10.0.0.0/8" }} }} }};
const stacks = {{ network: {{ zone: "b" }}, "network:prod": {{ zone: "p" }} }};
const text = (options: object) => declare(options).find("main:local.File").inputs.content;
test("given", () => {{
  expect(text({{ lookups, stacks }})).toBe("10.0.0.0/8 b note");
  expect(text({{ lookups, stacks, env: "prod", files: {{ "note.txt": "other" }} }})).toBe("10.0.0.0/8 p other");
}});
test("not given", () => {{
  expect(() => declare({{ stacks }})).toBeRefused("ST0116");
  expect(() => declare({{ lookups }})).toThrow(/give it with `declare\(\{{ stacks: \{{ "network"/);
}});
test("a secret is never shown", () => {{
  const file = declare({{ lookups, stacks }}).find("main:local.File#b");
  expect(file.inputs.content).toBeSecret();
  expect(file.inputs.content).toEqual("hunter3");
}});
"#
        ),
    );
    let ran = project.stead(&["test"]);
    assert!(ran.stdout.contains("passed given") && ran.stdout.contains("passed not given"), "{}", ran.stdout);
    assert!(ran.stdout.contains("<secret: given to `stead.secret`>"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("hunter2") && ran.code == 1, "{}", ran.stdout);
}

#[test]
fn snapshots_are_recorded_compared_and_updated() {
    let project = project(
        "test(\"graph\", () => { const app = declare(); app.toMatchSnapshot(); expect(app.outputs.size).toMatchSnapshot(\"size\"); });\n",
    );
    let missing = project.stead(&["test", "--ci"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stdout.contains("there is no snapshot `graph 1`"), "{}", missing.stdout);
    assert!(!project.has("__snapshots__"));
    assert!(project.stead(&["test"]).ok().contains("Snapshots: 2 recorded."));
    let recorded = project.read("__snapshots__/main.test.ts.snap.json");
    insta::assert_snapshot!(recorded);
    assert_eq!(project.stead(&["test", "--ci"]).code, 0);
    project.write("main.ts", &MAIN.replace("\"Enabled\"", "\"Suspended\""));
    let changed = project.stead(&["test"]);
    assert_eq!(changed.code, 1);
    assert!(changed.stdout.contains("-           \"Status\": \"Enabled\""), "{}", changed.stdout);
    assert!(changed.stdout.contains("+           \"Status\": \"Suspended\""), "{}", changed.stdout);
    assert_eq!(project.read("__snapshots__/main.test.ts.snap.json"), recorded);
    assert!(project.stead(&["test", "-u"]).ok().contains("Snapshots: 1 updated."));
    project.write("main.test.ts", &format!("{HEAD}test(\"other\", () => {{}});\n"));
    assert!(
        project
            .stead(&["test"])
            .ok()
            .contains("Obsolete snapshots of main.test.ts: `graph 1`, `graph: size 1`")
    );
    assert!(project.stead(&["test", "-u"]).ok().contains("Snapshots: 2 removed."));
    assert!(!project.has("__snapshots__/main.test.ts.snap.json"));
}

#[test]
fn broken_and_endless_tests_do_not_stop_the_others() {
    let project = project("test(\"fine\", () => {});\n");
    project.write(
        "broken.test.ts",
        "import { test } from \"stead/test\";\nimport { x } from \"./gone\";\ntest(\"t\", () => x);\n",
    );
    project.write(
        "endless.test.ts",
        "import { test } from \"stead/test\";\nimport { s3 } from \"stead/aws\";\ntest(\"loop\", () => { for (;;) {} });\ntest(\"promise\", () => new Promise(() => {}));\ntest(\"resource\", () => { new s3.Bucket({}); });\ntest(\"after\", () => {});\n",
    );
    let ran = project.stead(&["test"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("broken.test.ts\n  failed does not load\n"), "{}", ran.stdout);
    let endless = "endless.test.ts\n  failed loop\n  failed promise\n  failed resource\n  passed after\n";
    assert!(ran.stdout.contains(endless) && ran.stdout.contains("  passed fine\n"), "{}", ran.stdout);
    for expected in
        ["ST0102", "ST0108", "a promise that never settles", "a test file cannot declare a resource"]
    {
        assert!(ran.stdout.contains(expected), "{expected}: {}", ran.stdout);
    }
    assert!(ran.stdout.contains("Tests: 1 files do not load, 3 failed, 2 passed."), "{}", ran.stdout);
}

#[test]
fn filters_select_files_and_names_and_must_match() {
    let project = project("test(\"one\", () => {});\ntest(\"two\", () => {});\n");
    project.write("net/vpc.test.ts", "import { test } from \"stead/test\";\ntest(\"three\", () => {});\n");
    project.write("node_modules/x/y.test.ts", "throw 1;\n");
    assert_eq!(project.stead(&["test", "net"]).ok(), "net/vpc.test.ts\n  passed three\n\nTests: 1 passed.\n");
    let named = project.stead(&["test", "--name", "^tw?o"]).ok();
    assert!(named.contains("passed two") && !named.contains("one"), "{named}");
    let none = project.stead(&["test", "nte"]);
    assert_eq!(none.code, 1);
    assert!(
        none.stderr.contains("ST0902") && none.stderr.contains("main.test.ts, net/vpc.test.ts"),
        "{}",
        none.stderr
    );
    assert_eq!(project.stead(&["test", "--name", "four"]).code, 1);
    assert_eq!(project.stead(&["test", "--name", "("]).code, 2);
    assert_eq!(Project::with(MAIN).stead(&["test"]).code, 1);
    project.write("net/empty.test.ts", "export {};\n");
    let empty = project.stead(&["test"]);
    assert!(empty.code == 1 && empty.stdout.contains("net/empty.test.ts has no test"), "{}", empty.stdout);
}

#[test]
fn test_files_are_never_part_of_a_program() {
    let project = Project::with("import \"./main.test\";\n");
    project.write("main.test.ts", &format!("{HEAD}test(\"t\", () => {{}});\n"));
    let ran = project.stead(&["plan"]);
    assert!(
        ran.code == 1 && ran.stderr.contains("ST0107") && ran.stderr.contains("is a test file"),
        "{}",
        ran.stderr
    );
    project.write("main.ts", "import { test } from \"stead/test\";\n");
    let ran = project.stead(&["plan"]);
    assert!(ran.code == 1 && ran.stderr.contains("only test files import `stead/test`"), "{}", ran.stderr);
}

#[test]
fn module_state_does_not_leak_from_one_declare_to_the_next() {
    let project = Project::only(
        "import * as local from \"stead/local\";\nimport { config } from \"stead\";\nimport { next } from \"./count\";\nnew local.File({ path: \"a\", content: `${config.get(\"x\")} ${next()}` });\n",
    );
    project.write("count.ts", "let count = 0;\nexport const next = () => ++count;\n");
    project.write(
        "main.test.ts",
        &format!("{HEAD}test(\"t\", () => {{\n  for (const x of [1, 2, 3]) expect(declare({{ config: {{ x }} }}).find(\"main:local.File\").inputs.content).toBe(`${{x}} 1`);\n}});\n"),
    );
    project.stead(&["test"]).ok();
}

#[test]
fn null_removes_settings_in_tables_and_by_their_path() {
    let project = Project::only(
        "import { config } from \"stead\";\nconst db = config.get(\"db\") as any;\nexport const out = [db?.size ?? \"none\", db?.name ?? \"none\"];\n",
    );
    project.write("stead.toml", "project = \"shop\"\n[config.db]\nsize = 3\nname = \"main\"\n");
    project.write(
        "main.test.ts",
        &format!(
            r#"{HEAD}
test("null removes", () => {{
  expect(declare().outputs.out).toEqual([3, "main"]);
  expect(declare({{ config: {{ "db.size": null }} }}).outputs.out).toEqual(["none", "main"]);
  expect(declare({{ config: {{ db: {{ size: null }} }} }}).outputs.out).toEqual(["none", "main"]);
  expect(declare({{ config: {{ db: {{ size: null, name: "other" }} }} }}).outputs.out).toEqual(["none", "other"]);
  expect(declare({{ config: {{ db: null }} }}).outputs.out).toEqual(["none", "none"]);
}});
"#
        ),
    );
    project.stead(&["test"]).ok();
}

#[test]
fn test_gives_the_variables_that_the_project_grants() {
    let project = Project::only(
        "export const out = [process.env.STAGE ?? \"none\", Object.keys(process.env).length];\n",
    );
    project.write("stead.toml", "project = \"shop\"\n[program]\nenvironment = [\"STAGE\"]\n");
    project.write(
        "main.test.ts",
        &format!(
            r#"{HEAD}
test("only what the test gives", () => {{
  expect(declare().outputs.out).toEqual(["none", 0]);
  expect(declare({{ environment: {{ STAGE: "beta" }} }}).outputs.out).toEqual(["beta", 1]);
}});
test("not granted", () => {{ declare({{ environment: {{ OTHER: "x" }} }}); }});
"#
        ),
    );
    let ran = project.stead(&["test"]);
    assert!(ran.stdout.contains("Tests: 1 failed, 1 passed."), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("ST0903") && ran.stdout.contains("`OTHER`"), "{}", ran.stdout);
}

#[test]
#[cfg(unix)]
fn inner_dependencies_of_linked_packages_are_found() {
    let project = Project::only("import { outer } from \"outer\";\nexport const out = outer;\n");
    let store = "node_modules/.pnpm/outer@1.0.0/node_modules";
    project.write(
        &format!("{store}/outer/package.json"),
        "{ \"name\": \"outer\", \"type\": \"module\", \"main\": \"index.js\" }",
    );
    project.write(
        &format!("{store}/outer/index.js"),
        "import { inner } from \"inner\";\nexport const outer = `outer ${inner}`;\n",
    );
    project.write(
        &format!("{store}/inner/package.json"),
        "{ \"name\": \"inner\", \"type\": \"module\", \"main\": \"index.js\" }",
    );
    project.write(&format!("{store}/inner/index.js"), "export const inner = \"inner\";\n");
    std::os::unix::fs::symlink(".pnpm/outer@1.0.0/node_modules/outer", project.path("node_modules/outer"))
        .unwrap();
    project.write(
        "main.test.ts",
        &format!(
            "{HEAD}test(\"found\", () => {{ expect(declare().outputs.out).toBe(\"outer inner\"); }});\n"
        ),
    );
    project.stead(&["test"]).ok();
}
