//! External values: secrets, existing resources, outputs of other stacks.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common::{program, show};
use insta::assert_snapshot;
use stead_model::Value;

const IMPORTS: &str = "import { all, apply, config, secret, stack, Resource } from \"stead\";\n\
    import * as local from \"stead/local\";\n";

fn with_imports(text: &str) -> crate::common::Run {
    program(&format!("{IMPORTS}{text}"))
}

#[test]
fn secret_flows_through_plain_code_and_its_value_is_not_in_the_graph() {
    let evaluation = with_imports(
        r#"
        const password = config.secret("password");
        const random = new local.RandomString({ length: 8 });
        const derived = secret({ user: "root", token: random.result });
        console.log("the password is", password, [password], { derived });
        new local.Data({ value: `postgres://u:${password}@h` }, { id: "template" });
        new local.Data({ value: [password.toUpperCase().slice(0, 3), password + "!", derived.token] }, { id: "methods" });
        new local.Data({ value: apply(password, (p) => p.length) }, { id: "applied" });
        new local.Data({ value: JSON.stringify({ password }) }, { id: "json" });
        export const out = { password };
        "#,
    )
    .config("password", Value::from("hunter2"))
    .evaluate()
    .unwrap();
    let graph = &evaluation.graph;
    assert_snapshot!(show(graph), @r#"
    dev:main:local.RandomString @main.ts:5:24 length=8
    dev:main:local.Data#template @main.ts:8:9 value=`postgres://u:${secret(config `password`)}@h`
    dev:main:local.Data#methods @main.ts:9:9 value=[.slice(.toUpperCase(secret(config `password`)), 0, 3), (secret(config `password`) + "!"), secret(given to `stead.secret`, #0.result).token]
    dev:main:local.Data#applied @main.ts:10:9 value=f0(secret(config `password`))
    dev:main:local.Data#json @main.ts:11:9 value=`{"password":${json(secret(config `password`))}}`
    > out = {password: secret(config `password`)}
    "#);
    let printed: Vec<&str> = evaluation.console.iter().map(|line| line.text.as_str()).collect();
    assert_snapshot!(printed.join("\n"), @"the password is <a secret (config `password`)> [<a secret (config `password`)>] { derived: <a secret (given to `stead.secret`)> }");
    let everything = format!("{evaluation:?}{}", serde_json::to_string(graph).unwrap());
    assert!(!everything.contains("hunter2") && !everything.contains("root"), "{everything}");
    let marked = |input| graph.exprs.secret_in(input).is_some();
    assert!(graph.nodes.iter().skip(1).flat_map(|node| node.inputs.values()).all(marked));
    assert!(graph.outputs.values().all(marked));
}

#[test]
fn branch_on_a_secret_is_refused() {
    let failure = |text: &str| with_imports(text).config("password", Value::from("hunter2")).failure();
    assert_snapshot!(failure("const p = config.secret(\"password\");\nif (p === \"x\") new local.Data({});"), @"
    ST0117 this expression compares a secret (config `password`), which the program cannot read
      @ main.ts:4:5 +1 this needs the value
      @ main.ts:3:11 +0 marked as secret here
      note: a decision based on a secret would reveal it in the graph, in plans and in state
      help: decide on a value that is not secret, such as another config value
      help: use `stead.apply(value, v => …)`: the function receives the value after apply, and its result is secret too
    ");
    assert_snapshot!(failure("const p = config.secret(\"password\");\nconst q = p.slice(2) ? 1 : 2;"), @"
    ST0117 `?:` branches on a value made from a secret (config `password`), which the program cannot read
      @ main.ts:4:11 +10 this needs the value
      @ main.ts:3:11 +0 marked as secret here
      note: a decision based on a secret would reveal it in the graph, in plans and in state
      help: decide on a value that is not secret, such as another config value
      help: use `stead.apply(value, v => …)`: the function receives the value after apply, and its result is secret too
    ");
    assert_snapshot!(failure("for (const c of secret(\"abc\")) console.log(c);"), @"
    ST0117 this loop iterates over a secret (given to `stead.secret`), which the program cannot read
      @ main.ts:3:17 +13 this needs the value
      @ main.ts:3:17 +0 marked as secret here
      note: a decision based on a secret would reveal it in the graph, in plans and in state
      help: decide on a value that is not secret, such as another config value
      help: use `stead.apply(value, v => …)`: the function receives the value after apply, and its result is secret too
    ");
    assert_snapshot!(failure("new local.Data({ value: secret(() => 1) });"), @"
    ST0111 a secret must be data: a function is not data
      @ main.ts:3:25 +6 here
    ");
    assert_snapshot!(failure("config.secret(\"missing\");"), @"
    ST0103 the program threw: config `missing` is not set for environment `dev`; set it in stead.toml
      @ main.ts:3:1 +13 thrown here
    ");
}

#[test]
fn existing_resources_are_looked_up() {
    let graph = with_imports(
        r#"
        const motd = local.File.get("/etc/motd");
        if (motd.size > 10) new local.Data({ value: motd.content }, { id: "long" });
        class Mine extends local.File {}
        export const same = Mine.get("/etc/motd") instanceof local.File;
        "#,
    )
    .file("exists/local.File//etc/motd.json", r#"{"path":"/etc/motd","content":"welcome","size":14}"#)
    .graph();
    assert_snapshot!(show(&graph), @r#"
    dev:main:local.Data#long @main.ts:5:29 value="welcome"
    > same = true
    "#);
}

#[test]
fn failed_look_up_reports_position_and_reason() {
    let failure = |text: &str| {
        let exists = r#"{"path":"/etc/motd","size":14}"#;
        with_imports(text).file("exists/local.File/motd.json", exists).failure()
    };
    assert_snapshot!(failure("local.File.get(\"/nowhere\");"), @"
    ST0116 there is no local.File with the id `/nowhere`
      @ main.ts:3:1 +14 here
      help: `get` reads an existing resource that this program does not declare; to create one, use `new`
    ");
    assert_snapshot!(failure("local.File.get(\"unreadable\");"), @"
    ST0116 the local.File with the id `unreadable` cannot be read: permission denied
      @ main.ts:3:1 +14 here
    ");
    assert_snapshot!(failure("local.File.get(\"motd\").sise;"), @"
    ST0112 local.File has no property `sise`
      @ main.ts:3:24 +4 read here
      help: did you mean `size`?
    ");
    assert_snapshot!(failure("local.File.get();"), @"
    ST0103 the program threw: TypeError: `File.get` takes the id of an existing resource, as a string
      @ main.ts:3:1 +14 thrown here
    ");
    assert_snapshot!(failure("const r = new local.RandomString({});\nlocal.File.get(r.result);"), @"
    ST0104 `File.get` needs `result` of local.RandomString, which is known only after apply
      @ main.ts:4:1 +14 not known while planning
      @ main.ts:3:11 +3 local.RandomString is declared here
      note: the provider sets `result` when it creates the resource; the program must declare every resource before that
      help: use a value that is known while planning: `config`, `env`, or a property that the program sets
      help: use `stead.apply(value, v => …)`: the function runs once the value is known
    ");
    assert_snapshot!(failure("new local.Data({}, { dependsOn: [local.File.get(\"motd\")] });"), @"
    ST0109 `dependsOn` must be a resource or a list of resources
      @ main.ts:3:22 +9 here
      help: a property that uses a value of another resource already creates the dependency
    ");
    assert_snapshot!(failure("new local.Data({ value: local.File.get(\"motd\") });"), @"
    ST0111 `value` of local.Data: an instance of File is not data
      @ main.ts:3:18 +5 set here
      help: pass a plain object with the values that are needed
    ");
    assert_snapshot!(failure("export const x = apply(1, () => local.File.get(\"motd\").size);"), @"
    ST0110 a function given to `stead.apply` or `stead.ephemeral` performs a look-up
      @ main.ts:3:33 +14 here
      help: do the look-up outside the function, and use its result inside
    ");
}

#[test]
fn outputs_of_another_stack_are_read() {
    let graph = with_imports(
        r#"
        const network = stack("network");
        if (network.outputs.zones.length > 1) new local.Data({ value: network.outputs.vpc }, { id: "net" });
        export const missing = network.outputs.nothing === undefined;
        export const prod = stack("network", { env: "prod", target: "sim" }).outputs.vpc;
        export const named = stack("network", { namespace: "eu" }).outputs.vpc;
        "#,
    )
    .file("stacks/network/dev/local.json", r#"{"vpc":"vpc-1","zones":["a","b"]}"#)
    .file("stacks/network/prod/sim.json", r#"{"vpc":"vpc-2"}"#)
    .file("stacks/network/dev:eu/local.json", r#"{"vpc":"vpc-3"}"#)
    .graph();
    assert_snapshot!(show(&graph), @r#"
    dev:main:local.Data#net @main.ts:5:47 value="vpc-1"
    > missing = true
    > named = "vpc-3"
    > prod = "vpc-2"
    "#);
    let failure = |text: &str| with_imports(text).failure();
    assert_snapshot!(failure("stack(\"network\").outputs;"), @"
    ST0116 there is no stack of project network in environment dev on target local
      @ main.ts:3:1 +5 here
      help: apply that project first; to see the existing stacks: list the stacks
      help: both projects must use the same state: compare `[state] path` in their stead.toml files
    ");
    assert_snapshot!(failure("stack(7 as any);"), @"
    ST0103 the program threw: TypeError: `stead.stack` takes the name of a project
      @ main.ts:3:1 +5 thrown here
    ");
    assert_snapshot!(failure("stack(\"n\", { env: secret(\"x\") });"), @"
    ST0117 `stead.stack(…, { env })` needs a secret (given to `stead.secret`), which the program cannot read
      @ main.ts:3:1 +5 this needs the value
      @ main.ts:3:19 +0 marked as secret here
      note: a decision based on a secret would reveal it in the graph, in plans and in state
      help: decide on a value that is not secret, such as another config value
      help: use `stead.apply(value, v => …)`: the function receives the value after apply, and its result is secret too
    ");
    assert_snapshot!(failure("stack(\"n\").outputs = {} as any;"), @"
    ST0103 the program threw: TypeError: no setter for property
      @ main.ts:3:1 +5 thrown here
    ");
}
