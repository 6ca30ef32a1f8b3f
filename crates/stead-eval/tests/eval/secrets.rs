//! Secrets: of config, of other stacks, of properties, and ephemeral ones.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use insta::assert_snapshot;
use stead_eval::Evaluation;
use stead_model::{
    EvalError, Input, Inputs, Kept, KnownOutputs, Moment, Name, NodeId, Secret, Stored, Value, resolve_at,
};

use crate::common::{Run, program, show};

const IMPORTS: &str = "import * as stead from \"stead\";\nimport { config, secret, ephemeral, apply, all, stack } from \"stead\";\n\
    import * as local from \"stead/local\"; import { Database } from \"stead/db\";\n";

fn with_imports(text: &str) -> Run {
    program(&format!("{IMPORTS}{text}"))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn hidden(text: &str) -> Value {
    Value::secret(Value::from(text))
}

/// A secret whose key is not at hand.
fn locked() -> Value {
    Value::Secret(Secret::stored(Stored::Sealed(stead_model::Ciphertext("sealed".to_owned()))))
}

struct Outputs;

impl KnownOutputs for Outputs {
    fn property(&self, _: NodeId, property: &str) -> Result<Option<Value>, EvalError> {
        Ok(Some(Value::from(format!("the {property}"))))
    }

    fn name(&self, _: NodeId) -> Option<&Name> {
        None
    }
}

/// Returns the outputs after apply.
fn resolved(evaluation: &Evaluation, moment: Moment, inputs: &Inputs) -> Value {
    let all = resolve_at(moment, inputs, &evaluation.graph.exprs, &Outputs, &*evaluation.functions);
    let all = all.unwrap_or_else(|error| panic!("{error}"));
    Value::Map(all.iter().map(|(key, input)| (key.clone(), input.as_known().unwrap().clone())).collect())
}

fn evaluated(run: Run) -> Evaluation {
    run.evaluate().unwrap_or_else(|failure| panic!("{}", crate::common::diagnostics(&failure.diagnostics)))
}

#[test]
fn secret_keeps_its_value_for_every_kind_of_input() {
    let evaluation = evaluated(with_imports(
        r#"
        const r = new local.RandomString({});
        const inner = secret("in");
        export const text = secret("a");
        export const nothing = secret(null);
        export const nested = secret({ list: [1, { deep: true }], inner });
        export const deferred = secret({ a: r.result, b: [r.result, inner] });
        export const twice = secret(secret(7));
        export const partly = { open: 1, hidden: secret("x") };
        "#,
    ));
    let value = resolved(&evaluation, Moment::Plan, &evaluation.graph.outputs);
    assert_snapshot!(value.to_json(), @r#"{"deferred":"[secret]","nested":"[secret]","nothing":"[secret]","partly":{"hidden":"[secret]","open":1},"text":"[secret]","twice":"[secret]"}"#);
    let revealed = value.revealed().unwrap();
    assert_snapshot!(revealed.to_json(), @r#"{"deferred":{"a":"the result","b":["the result","in"]},"nested":{"inner":"in","list":[1,{"deep":true}]},"nothing":null,"partly":{"hidden":"x","open":1},"text":"a","twice":7}"#);
}

#[test]
fn size_of_a_secret_counts_against_the_limits() {
    let long = "const long = \"x\".repeat(2000);\n";
    let limit = |run: Run| run.limits(|limits| limits.property_bytes = 1000).code();
    assert_eq!(limit(with_imports(&format!("{long}secret(long);"))), "ST0108");
    assert_eq!(limit(with_imports("config.get(\"p\");").config("p", hidden(&"x".repeat(2000)))), "ST0108");
    let many = "const long = \"x\".repeat(100000); for (let i = 0; i < 200; i++) secret(long + i);";
    assert_eq!(with_imports(many).limits(|limits| limits.evaluation_heap = 8 << 20).code(), "ST0108");
    let grows = "let s: any = secret(\"x\".repeat(100000)); for (let i = 0; i < 12; i++) s = `${s}${s}`;";
    assert_eq!(with_imports(grows).code(), "ST0108");
}

#[test]
fn secret_config_value_is_a_deferred_secret() {
    let run = |text: &str| {
        with_imports(text)
            .config("password", hidden("canary"))
            .config("port", hidden("5432"))
            .config("flag", Value::secret(Value::Bool(true)))
            .config("locked", locked())
            .config(
                "db",
                Value::Map([("host", Value::from("h")), ("key", hidden("canary"))].into_iter().collect()),
            )
            .config("list", [Value::from("open"), hidden("canary")].into_iter().collect())
    };
    let evaluation = evaluated(run(r#"
        const db = config.get<any>("db");
        console.log(config.get("password"), db, config.get("list"));
        if (db.host === "h") new local.Data({ value: config.require("password") }, { id: "a" });
        export const all = [config.get("password"), config.secret("password"), config.number("port"), config.boolean("flag")];
        export const inside = [db, config.get("db.key"), config.get("list"), config.secret("db")];
        "#));
    assert_snapshot!(show(&evaluation.graph), @r#"
    dev:main:local.Data#a @main.ts:7:30 value=secret(config `password`)
    > all = [secret(config `password`), secret(config `password`), secret(config `port`), secret(config `flag`)]
    > inside = [{host: "h", key: secret(config `db.key`)}, secret(config `db.key`), ["open", secret(config `list[1]`)], secret(config `db`)]
    "#);
    assert_snapshot!(evaluation.console[0].text, @"<a secret (config `password`)> { host: \"h\", key: <a secret (config `db.key`)> } [\"open\", <a secret (config `list[1]`)>]");
    let everything = format!("{evaluation:?}{}", serde_json::to_string(&evaluation.graph).unwrap());
    assert!(!everything.contains("canary") && !everything.contains("5432"), "{everything}");
    let value = resolved(&evaluation, Moment::Plan, &evaluation.graph.outputs).revealed().unwrap();
    assert_snapshot!(value.to_json(), @r#"{"all":["canary","canary",5432,true],"inside":[{"host":"h","key":"canary"},"canary",["open","canary"],{"host":"h","key":"canary"}]}"#);
    assert_snapshot!(run("config.number(\"password\");").failure(), @"
    ST0103 the program threw: TypeError: config `password` must be a number, not a string
      @ main.ts:4:1 +13 thrown here
    ");
    assert_snapshot!(run("if (config.get(\"password\") === \"x\") new local.Data({});").code(), @"ST0117");
    // Nothing needs the value while the program is evaluated.
    let evaluation = evaluated(run("export const x = `${config.number(\"locked\")}`;"));
    let outputs = &evaluation.graph.outputs;
    let why = resolve_at(Moment::Plan, outputs, &evaluation.graph.exprs, &Outputs, &*evaluation.functions);
    assert!(matches!(why.unwrap_err().error, EvalError::Locked(_)));
}

#[test]
fn secret_key_of_a_schema_hides_only_itself() {
    let graph = with_imports(
        r#"
        const { db, token } = config.schema({
          db: { host: stead.t.string(), key: stead.t.string().secret() },
          token: stead.t.integer(),
        });
        if (db.host === "h") new local.Data({ value: [db.key, token] });
        export const table = config.get("db");
        "#,
    )
    .config("db", json(r#"{"host":"h","key":"canary"}"#))
    .config("token", hidden("7"))
    .graph();
    assert_snapshot!(show(&graph), @r#"
    dev:main:local.Data @main.ts:9:30 value=[secret(config `db.key`), secret(config `token`)]
    > table = {host: "h", key: secret(config `db.key`)}
    "#);
    assert!(!format!("{graph:?}").contains("canary"));
}

#[test]
fn secret_of_another_stack_or_a_look_up_is_a_deferred_secret() {
    let sealed =
        r#"{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"\"canary\""}"#;
    let evaluation = evaluated(
        with_imports(
            r#"
            const { outputs } = stack("network");
            const found = Database.get("main");
            console.log(outputs, found.url);
            if (outputs.open === 1 && found.host === "h") new local.Data({ value: [outputs.key, outputs.nested, found.url] });
            export const again = outputs.key.length;
            "#,
        )
        .file("stacks/network/dev/local.json", &format!(r#"{{"open":1,"key":{sealed},"nested":{{"a":[{sealed}]}}}}"#))
        .file("exists/db.Database/main.json", r#"{"host":"h","url":"canary"}"#),
    );
    assert_snapshot!(show(&evaluation.graph), @"
    dev:main:local.Data @main.ts:8:59 value=[secret(output `key` of project network in environment dev on target local), {a: [secret(output `nested.a[0]` of project network in environment dev on target local)]}, secret(`url` of db.Database `main`)]
    > again = secret(output `key` of project network in environment dev on target local).length
    ");
    assert!(!format!("{evaluation:?}").contains("canary"));
    let value = resolved(&evaluation, Moment::Plan, &evaluation.graph.outputs);
    let six = Value::secret(Value::from(6));
    assert_eq!(value, Value::Map([("again", six)].into_iter().collect()));
}

#[test]
fn property_that_the_schema_or_the_option_marks_is_a_secret() {
    let evaluation = evaluated(with_imports(
        r#"
        const a = new Database({ name: "n", password: "canary", mode: "a" }, { id: "a" });
        const b = new Database(
          { name: "canary", settings: { token: "canary", size: "1" }, ports: [1, 2] },
          { id: "b", sensitive: ["name", "settings.token", "ports[*]", "host"] },
        );
        const r = new local.RandomString({}, { id: "r" });
        const c = new Database({ name: r.result, password: secret("canary") }, { id: "c", sensitive: "settings.token" });
        console.log(a.password, a.name, b.name, b.settings, b.host);
        export const read = [a.password, a.mode, a.url, a.host, b.name, b.settings, b.host, c.settings.token, c.settings.size, c.password];
        export const whole = a;
        "#,
    ));
    assert_snapshot!(show(&evaluation.graph), @r#"
    dev:main:db.Database#a @main.ts:5:19 mode=secret(`mode` of db.Database#a) name="n" password=secret(`password` of db.Database#a)
    dev:main:db.Database#b @main.ts:6:19 name=secret(option `sensitive`) ports=[secret(option `sensitive`), secret(option `sensitive`)] settings={size: "1", token: secret(option `sensitive`)} {"sensitive":["name","settings.token","ports[*]","host"]}
    dev:main:local.RandomString#r @main.ts:10:19
    dev:main:db.Database#c @main.ts:11:19 name=#2.result password=secret(given to `stead.secret`) {"sensitive":["settings.token"]}
    > read = [secret(`password` of db.Database#a), secret(`mode` of db.Database#a), secret(`url` of db.Database#a, #0.url), #0.host, secret(option `sensitive`), {size: "1", token: secret(option `sensitive`)}, secret(option `sensitive`, #1.host), secret(option `sensitive`, #3.settings.token), #3.settings.size, secret(given to `stead.secret`)]
    > whole = {host: #0.host, mode: secret(`mode` of db.Database#a), name: "n", password: secret(`password` of db.Database#a), settings: #0.settings, url: secret(`url` of db.Database#a, #0.url)}
    "#);
    let everything = format!("{evaluation:?}{}", serde_json::to_string(&evaluation.graph).unwrap());
    assert!(!everything.contains("canary"), "{everything}");
    let value = resolved(&evaluation, Moment::Plan, &evaluation.graph.nodes[0].inputs);
    assert_snapshot!(value.revealed().unwrap().to_json(), @r#"{"mode":"a","name":"n","password":"canary"}"#);
}

#[test]
fn mistake_in_a_secret_property_or_in_its_pattern_is_reported_without_the_value() {
    let failure = |text: &str| with_imports(text).failure();
    assert_snapshot!(failure("new Database({ mode: \"canary\", password: 7 as any });"), @"
    ST0106 db.Database: `mode` does not fit its schema; the reason is not shown, because it is secret
      @ main.ts:4:16 +4 here
    ST0106 db.Database: `password` must be a string, but it is a number
      @ main.ts:4:32 +8 here
    ");
    assert_snapshot!(failure("new Database({}, { sensitive: [\"pasword\"] });"), @"
    ST0109 `sensitive`: there is no property `pasword`
      @ main.ts:4:20 +9 here
      help: did you mean `password`?
    ");
    assert_snapshot!(failure("new Database({}, { sensitive: [\"ports.first\", \"name.x\"] });"), @"
    ST0109 `sensitive`: `ports.first` matches nothing: there is no `first`
      @ main.ts:4:20 +9 here
    ST0109 `sensitive`: `name.x` matches nothing: there is no `x`
      @ main.ts:4:20 +9 here
    ");
    assert_snapshot!(failure("class G extends stead.Resource {}\nnew G(\"g\", { sensitive: \"a\" } as any);"), @"
    ST0109 `sensitive` does not apply to a group
      @ main.ts:5:14 +9 here
      help: set it on the resources in the group
    ");
}

#[test]
fn ephemeral_value_is_made_when_the_provider_is_called() {
    let evaluation = evaluated(
        with_imports(
            r#"
            const size = 3;
            const token = ephemeral(() => `${config.require("issuer")}-${"x".repeat(size)}`);
            const both = all([secret("s"), token], (a, b) => a + b);
            console.log(token, [both]);
            new local.Data({ value: { token, header: `Bearer ${token}`, both, up: token.toUpperCase(), pair: { token }.token } });
            "#,
        )
        .config("issuer", Value::from("canary")),
    );
    let graph = &evaluation.graph;
    assert_snapshot!(show(graph), @"dev:main:local.Data @main.ts:9:13 value={both: f1(secret(given to `stead.secret`), ephemeral(f0)), header: `Bearer ${ephemeral(f0)}`, pair: ephemeral(f0), token: ephemeral(f0), up: .toUpperCase(ephemeral(f0))}");
    assert_snapshot!(evaluation.console[0].text, @"<an ephemeral value> [<made from a secret (given to `stead.secret`)>]");
    let inputs = &graph.nodes[0].inputs;
    let planned = resolved(&evaluation, Moment::Plan, inputs);
    assert!(!planned.to_json().contains("canary") && planned.revealed().is_err());
    let called = resolved(&evaluation, Moment::Call, inputs);
    let mut count = 0;
    called.each_secret(&mut Vec::new(), &mut |secret, _| {
        assert_eq!(secret.recorded(), Kept::Nothing);
        count += 1;
    });
    assert_eq!(count, 5);
    assert_snapshot!(called.revealed().unwrap().to_json(), @r#"{"value":{"both":"scanary-xxx","header":"Bearer canary-xxx","pair":"canary-xxx","token":"canary-xxx","up":"CANARY-XXX"}}"#);
}

#[test]
fn ephemeral_value_is_refused_where_it_would_be_recorded_or_seen() {
    let failure = |text: &str| with_imports(text).failure();
    assert_snapshot!(failure("const e = ephemeral(() => 1);\nexport const out = { a: [`${e}`] };"), @"
    ST0118 the output `out` is an ephemeral value, which is never recorded
      @ main.ts:5:14 +3 exported here
      @ main.ts:4:11 +0 made ephemeral here
      note: the outputs of a stack are part of its state, and an ephemeral value exists only while a provider is called
      help: remove the export, or export a value that is not computed from it
      help: if the value may be stored encrypted, use `stead.secret` instead of `stead.ephemeral`
    ");
    assert_snapshot!(failure("const e = ephemeral(() => 1);\nif (e > 1) new local.Data({});"), @"
    ST0117 this expression compares an ephemeral value, which exists only while a provider is called
      @ main.ts:5:5 +1 this needs the value
      @ main.ts:4:11 +0 made ephemeral here
      note: its function runs right before the call of the provider, and no plan and no state has the value
      help: decide on a value that is known while planning, such as `config` or `env`
      help: compute with it in its function, or in `stead.apply(value, v => …)`, whose result is ephemeral too
    ");
    assert_snapshot!(failure("const r = new local.RandomString({});\nnew local.Data({ value: ephemeral(() => r.result) });"), @"
    ST0110 this function runs when the provider is called, and it uses `result` of local.RandomString, which is known only after apply
      @ main.ts:5:41 +8 not known while planning
      @ main.ts:4:11 +3 local.RandomString is declared here
      note: the provider sets `result` when it creates the resource; the program must declare every resource before that
      help: combine the two values outside of it: `stead.all([value, ephemeral], (a, b) => …)`
    ");
    assert_snapshot!(failure("new local.Data({ value: stead.ephemeral(() => new local.Data({})) });"), @"
    ST0110 a function given to `stead.apply` or `stead.ephemeral` creates a resource
      @ main.ts:4:51 +10 here
      help: every resource must be known before apply: create the resource outside the function, and let the function compute one of its properties
    ");
    assert_snapshot!(failure("ephemeral(7 as any);"), @"
    ST0103 the program threw: TypeError: `stead.ephemeral` takes a function: `stead.ephemeral(() => …)`
      @ main.ts:4:1 +9 thrown here
    ");
}

#[test]
fn deferred_function_with_a_secret_shows_neither_its_error_nor_its_output() {
    let evaluation = evaluated(with_imports(
        r#"
        const p = secret("canary");
        new local.Data({ value: apply(p, (v) => { console.log(v); throw new Error(v); }) }, { id: "a" });
        new local.Data({ value: ephemeral(() => { throw new Error("can" + "ary"); }) }, { id: "b" });
        new local.Data({ value: p.repeat(-1) }, { id: "c" });
        new local.Data({ value: stead.cidr.host(p, 1) }, { id: "d" });
        new local.Data({ value: apply(p, (v) => { console.error(v); return v.length; }) }, { id: "e" });
        "#,
    ));
    let graph = &evaluation.graph;
    for node in &graph.nodes[..4] {
        let why = resolve_at(Moment::Call, &node.inputs, &graph.exprs, &Outputs, &*evaluation.functions);
        let why = format!("{:?}", why.unwrap_err());
        assert!(
            why.contains("not shown because it computed with a secret") && !why.contains("canary"),
            "{why}"
        );
    }
    assert_eq!(
        resolved(&evaluation, Moment::Call, &graph.nodes[4].inputs).to_json(),
        r#"{"value":"[secret]"}"#
    );
    assert!(evaluation.console.is_empty());
}

#[test]
fn known_input_is_never_a_secret_in_the_clear() {
    let graph = with_imports("new Database({ password: \"canary\", settings: { a: \"b\" } });").graph();
    let clear = |input: &Input| input.as_known().is_some_and(Value::has_secrets);
    assert!(!graph.nodes.iter().flat_map(|node| node.inputs.values()).any(clear));
}

#[test]
fn default_or_choice_that_depends_on_a_secret_is_secret() {
    let evaluation = evaluated(
        with_imports(
            r#"
            const p: any = secret({ a: "x" });
            const { missing = "default" } = p;
            const number = p.a * 2;
            export const out = [missing, isNaN(number), [p.none, "b"].join("-"), p.none ? 1 : 2, number || "none"];
            "#,
        )
        .allow_branches(),
    );
    let value = resolved(&evaluation, Moment::Plan, &evaluation.graph.outputs);
    assert_snapshot!(value.to_json(), @r#"{"out":["[secret]","[secret]","[secret]","[secret]","[secret]"]}"#);
    assert_snapshot!(value.revealed().unwrap().to_json(), @r#"{"out":["default",true,"-b",2,"none"]}"#);
}
