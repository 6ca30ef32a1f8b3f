//! `stead test` on embedded clouds: applied programs, resources that exist, drift, faults and guards.

use crate::project::Project;

const MAIN: &str = r#"import { Resource, config } from "stead";
import { iam, lambda, s3, sqs } from "stead/aws";

const jobs = new sqs.Queue({ VisibilityTimeout: config.number("timeout") ?? 30 }, { id: "jobs" });
const bucket = new s3.Bucket({ Tags: [{ Key: "queue", Value: jobs.Arn }] }, { id: "data" });
export const queue = jobs.QueueUrl;
export const name = bucket.BucketName;
"#;

const HEAD: &str = "import { declare, expect, folder, freshCloud, freshStack, test } from \"stead/test\";\nconst QUEUE = \"main:aws.sqs.Queue#jobs\";\n";

fn project(tests: &str) -> Project {
    let project = Project::only(MAIN);
    project.write("stead.toml", "project = \"shop\"\ntarget = \"sim\"\n\n[env.prod]\n");
    project.write("main.test.ts", &format!("{HEAD}{tests}"));
    project
}

/// Runs the tests, all of which pass and change no file.
fn pass(project: &Project) {
    let before = project.all_files();
    let ran = project.stead(&["test"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(project.all_files(), before, "nothing of the project is touched");
}

#[test]
fn program_is_applied_to_a_fresh_cloud_and_the_next_version_to_the_same_state() {
    let project = project(
        r#"
test("what is applied is really there", () => {
  const stack = freshStack();
  expect(stack.plan().summary.create).toBe(2);
  expect(stack.cloud.resources()).toEqual([]);
  const run = stack.apply();
  expect(run).toSucceed();
  expect(run).toMatchObject({ result: "succeeded", done: 2, skipped: 0, problems: [] });
  const [queue] = stack.cloud.resources("AWS::SQS::Queue");
  expect(queue).toMatchObject({ account: "000000000000", region: "us-east-1", properties: { VisibilityTimeout: 30 } });
  expect(run.outputs.queue).toBe(queue.id);
  expect(stack.find(QUEUE)).toMatchObject({ id: queue.id, type: "aws.sqs.Queue", pinned: false });
  expect(stack.resources.map(({ name }) => name)).toEqual(["main:aws.s3.Bucket#data", QUEUE]);
  const tags = stack.cloud.model("aws.s3.Bucket", run.outputs.name)!.Tags;
  expect(tags).toContainEqual({ Key: "queue", Value: queue.properties.Arn });
  expect(stack.plan({ refresh: true })).toChangeNothing();
  expect(stack.cloud.calls.CreateResource).toBe(2);
});
test("the next version is planned on what the last one left", () => {
  const stack = freshStack({ env: "prod" });
  stack.apply({ to: folder("old") });
  expect(stack.cloud.resources("AWS::IAM::Role")).toHaveLength(1);
  const plan = stack.plan();
  expect(plan.step("main:aws.iam.Role#gone")?.kind).toBe("delete");
  expect(plan.step("main:aws.s3.Bucket#data")?.kind).toBe("create");
  const run = stack.apply({ config: { timeout: 45 } });
  expect(run).toSucceed();
  expect(run.step(QUEUE)?.changes).toEqual([{ path: "VisibilityTimeout", old: 5, new: 45, replaces: false }]);
  expect(stack.cloud.resources("AWS::IAM::Role")).toEqual([]);
  expect(stack.destroy()).toSucceed();
  expect(stack.cloud.resources()).toEqual([]);
});
test("a stack has one environment", () => { freshStack().apply({ to: declare({ env: "prod" }) }); });
"#,
    );
    project.write(
        "old/main.ts",
        r#"import { iam, sqs } from "stead/aws";
new sqs.Queue({ VisibilityTimeout: 5 }, { id: "jobs" });
new iam.Role({ AssumeRolePolicyDocument: { Statement: [] } }, { id: "gone" });
"#,
    );
    let ran = project.stead(&["test"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("Tests: 1 failed, 2 passed"), "{}", ran.stdout);
    let message =
        "the stack is environment dev on target sim, and the program is declared for environment prod";
    assert!(ran.stdout.contains(message), "{}", ran.stdout);
}

#[test]
fn drift_faults_and_waiting_are_simulated() {
    let project = project(
        r#"
test("drift is found, recorded and reverted", () => {
  const stack = freshStack();
  stack.apply();
  const { id } = stack.find(QUEUE);
  stack.cloud.drift("AWS::SQS::Queue", id!, { VisibilityTimeout: 99, DelaySeconds: 3 });
  const plan = stack.plan({ refresh: true });
  expect(plan.drift).toMatchObject([{ name: QUEUE, gone: false }]);
  expect(plan.step(QUEUE)?.kind).toBe("update");
  expect(stack.refresh()).toHaveLength(1);
  expect(stack.refresh()).toHaveLength(0);
  expect(stack.apply()).toSucceed();
  expect(stack.cloud.model("AWS::SQS::Queue", id!)!.VisibilityTimeout).toBe(30);
  stack.cloud.remove("AWS::SQS::Queue", id!);
  expect(stack.plan({ refresh: true }).drift).toMatchObject([{ name: QUEUE, gone: true }]);
});
test("a failed step has a code, and the next run continues", () => {
  const stack = freshStack();
  stack.cloud.failNext({ fails: "AccessDenied" }, { call: "CreateResource", type: "AWS::S3::Bucket" });
  const failed = stack.apply();
  expect(failed).not.toSucceed();
  expect(failed).toMatchObject({ result: "failed", done: 1, problems: [{ code: "ST0501" }] });
  expect(stack.cloud.resources("AWS::SQS::Queue")).toHaveLength(1);
  const run = stack.apply();
  expect(run).toSucceed();
  expect(run.summary).toMatchObject({ create: 1, unchanged: 1 });
});
test("faults of the network and slow operations cost no time and make nothing twice", () => {
  const cloud = freshCloud({ operations: 20 * 60_000, consistency: 5_000 });
  cloud.faults({ seed: 7, rate: 0.2 });
  const stack = freshStack({ cloud });
  const run = stack.apply();
  cloud.faults();
  if (run.result !== "succeeded") expect(stack.apply()).toSucceed();
  expect(cloud.resources()).toHaveLength(2);
});
test("a bucket that is not empty stays", () => {
  const stack = freshStack();
  const { outputs } = stack.apply();
  stack.cloud.fill("AWS::S3::Bucket", outputs.name, 3);
  const run = stack.destroy();
  expect(run.result).toBe("failed");
  expect(run.problems[0].message).toMatch("is not empty");
  stack.cloud.fill("AWS::S3::Bucket", outputs.name, 0);
  expect(stack.destroy()).toSucceed();
});
"#,
    );
    pass(&project);
}

#[test]
fn drift_that_needs_a_replacement_stays_planned_and_elements_of_others_stay() {
    let project = project(
        r#"
const VPC = "main:aws.ec2.VPC#net";
test("create-only drift does not hide, before a refresh or after it", () => {
  const stack = freshStack();
  stack.apply({ to: folder("net") });
  stack.cloud.drift("AWS::EC2::VPC", stack.find(VPC).id!, { CidrBlock: "10.9.0.0/16", EnableDnsSupport: false });
  const shown = (options: object) => {
    const step = stack.plan({ ...options, to: folder("net") }).step(VPC)!;
    return [step.kind, ...step.changes.map(({ path, replaces }) => `${path} ${replaces}`)];
  };
  const expected = ["replace", "CidrBlock true", "EnableDnsSupport false"];
  expect(shown({ refresh: true })).toEqual(expected);
  expect(stack.refresh()).toHaveLength(1);
  expect(shown({})).toEqual(expected);
  expect(stack.refresh()).toHaveLength(0);
  expect(stack.apply({ to: folder("net") })).toSucceed();
  const [net] = stack.cloud.resources("AWS::EC2::VPC");
  expect(net.properties).toMatchObject({ CidrBlock: "10.0.0.0/16", EnableDnsSupport: true });
});
test("a tag of others stays when a declared one is reverted after a refresh", () => {
  const stack = freshStack();
  stack.apply({ to: folder("net") });
  const id = stack.find(VPC).id!;
  const theirs = { Key: "kubernetes.io/x", Value: "shared" };
  const marks = stack.cloud.model("AWS::EC2::VPC", id)!.Tags.filter(({ Key }: any) => Key !== "name");
  stack.cloud.drift("AWS::EC2::VPC", id, { Tags: [...marks, { Key: "name", Value: "b" }, theirs] });
  expect(stack.refresh()).toHaveLength(1);
  expect(stack.apply({ to: folder("net") })).toSucceed();
  const tags = stack.cloud.model("AWS::EC2::VPC", id)!.Tags;
  expect(tags).toContainEqual(theirs);
  expect(tags).toContainEqual({ Key: "name", Value: "a" });
});
"#,
    );
    project.write(
        "net/main.ts",
        r#"import { ec2 } from "stead/aws";
const Tags = [{ Key: "name", Value: "a" }];
new ec2.VPC({ CidrBlock: "10.0.0.0/16", EnableDnsSupport: true, Tags }, { id: "net" });
"#,
    );
    pass(&project);
}

#[test]
fn change_that_a_service_cannot_make_is_refused_or_made_by_a_replacement() {
    let project = project(
        r#"
test("a replacement on changes takes the place of an impossible update", () => {
  const stack = freshStack();
  const to = folder("zone");
  expect(stack.apply({ to, config: { text: "a" } })).toSucceed();
  expect(() => stack.plan({ to, config: { text: "b" } })).toThrow("AWS::DataZone::Environment cannot be updated");
  const config = { text: "b", replace: true };
  expect(stack.plan({ to, config }).step("main:aws.datazone.Environment#it")?.kind).toBe("replace");
  expect(stack.apply({ to, config })).toSucceed();
  const all = stack.cloud.resources("AWS::DataZone::Environment");
  expect(all.map(({ properties }) => properties.Description)).toEqual(["b"]);
});
"#,
    );
    project.write(
        "zone/main.ts",
        r#"import { config } from "stead";
import { datazone } from "stead/aws";
const replaceOnChanges = config.boolean("replace") ? ["Description"] : [];
const ids = { DomainIdentifier: "dzd-aaaaaaaaaaaaa", ProjectIdentifier: "aaaaaaaaaaaaa" };
new datazone.Environment({ ...ids, Name: "it", Description: config.get("text") }, { id: "it", replaceOnChanges });
"#,
    );
    pass(&project);
}

#[test]
fn guards_pins_and_owners_hold_in_a_test() {
    let project = project(
        r#"
test("a pinned resource is neither lost nor destroyed on a real target", () => {
  const stack = freshStack({ target: "aws" });
  expect(stack.pinfile).toBeUndefined();
  const { outputs } = stack.apply();
  expect(stack.pinfile).toContain(`"BucketName": "${outputs.name}"`);
  expect(stack.find(QUEUE).pinned).toBe(true);
  const destroyed = stack.destroy();
  expect(destroyed).toBeRefused("ST0414");
  expect(destroyed).toMatchObject({ result: "refused", done: 0 });
  const moved = { files: { "main.ts": "export {};\n" } };
  expect(stack.plan(moved)).toBeRefused("ST0412");
  expect(stack.apply(moved)).toBeRefused("ST0412");
  expect(stack.cloud.resources()).toHaveLength(2);
  expect(stack.apply({ ...moved, updatePins: true })).toSucceed();
  expect(stack.cloud.resources()).toEqual([]);
});
test("the embedded cloud keeps no pins", () => {
  const stack = freshStack();
  stack.apply();
  expect(stack.pinfile).toBeUndefined();
  expect(stack.destroy()).toSucceed();
});
test("what another stack owns is not taken", () => {
  const cloud = freshCloud();
  const dev = freshStack({ cloud });
  const { outputs } = dev.apply();
  const main = `import { s3 } from "stead/aws";\nnew s3.Bucket({ BucketName: "${outputs.name}" }, { id: "b", import: "${outputs.name}" });\n`;
  const prod = freshStack({ cloud, env: "prod", files: { "main.ts": main } });
  expect(prod.apply()).toBeRefused("ST0430");
  expect(prod.apply({ takeOver: ["b"] })).toSucceed();
});
test("a resource that somebody made is imported", () => {
  const stack = freshStack();
  const id = stack.cloud.create("AWS::S3::Bucket", { BucketName: "made-by-hand" });
  const main = `import { s3 } from "stead/aws";\nnew s3.Bucket({}, { id: "b", import: "${id}" });\n`;
  expect(stack.apply({ files: { "main.ts": main } }).step("main:aws.s3.Bucket#b")?.kind).toBe("import");
});
test("a secret is not shown", () => {
  const main = `import { secret } from "stead";\nimport { lambda, secretsmanager, ssm } from "stead/aws";
new secretsmanager.Secret({ SecretString: secret("correct horse") }, { id: "s" });
new ssm.Parameter({ Type: "String", Value: secret("battery staple") }, { id: "p" });\n`;
  const stack = freshStack({ files: { "main.ts": main } });
  expect(stack.apply()).toSucceed();
  const shown = JSON.stringify([stack.cloud.resources(), stack.resources, stack.cloud.resources().map(({ type, id }) => stack.cloud.model(type, id))]);
  expect(shown).not.toContain("correct horse");
  expect(shown).not.toContain("battery staple");
  expect(shown).toContain("[secret]");
});
"#,
    );
    pass(&project);
}

#[test]
fn run_on_a_cloud_gives_the_same_result_each_time() {
    let project = project(
        r#"
test("same", () => {
  const stack = freshStack();
  stack.cloud.faults({ seed: 3, rate: 0.3 });
  const run = stack.apply();
  expect([run, stack.cloud.resources(), stack.cloud.calls]).toMatchSnapshot();
});
"#,
    );
    project.stead(&["test"]).ok();
    let recorded = project.read("__snapshots__/main.test.ts.snap.json");
    assert!(recorded.contains("AWS::SQS::Queue") && recorded.contains("GetResource"), "{recorded}");
    project.stead(&["test", "--ci"]).ok();
}
