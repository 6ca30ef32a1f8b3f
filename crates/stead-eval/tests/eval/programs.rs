//! Valid programs and their graphs.

use crate::common::{names, program, show};
use stead_eval::ConsoleLevel;
use stead_model::{Input, Value};

#[test]
fn resource_with_an_id_becomes_a_node_with_its_inputs() {
    let graph = program(
        r#"import * as local from "stead/local";
const readme = new local.File({ path: "README", content: "hello" }, { id: "readme" });
export const path = readme.path;
export const size = readme.size;
"#,
    )
    .graph();
    insta::assert_snapshot!(show(&graph), @r#"
    dev:main:local.File#readme @main.ts:2:16 content="hello" path="README"
    > path = "README"
    > size = #0.size
    "#);
}

#[test]
fn unknowns_flow_through_plain_code() {
    let graph = program(
        r#"import { File, RandomString, Data } from "stead/local";
const pw = new RandomString({ length: 8 });
const data = new Data();
const user = { name: "ann", password: pw.result };
const { password, ...rest } = user;
const greet = (x: string) => `hi ${x}!`;
new File({ path: `/tmp/${pw.result}`, content: "pw=" + pw.result + "\n" });
new File({ path: greet(password), content: String(data.echo.deep[3].name) });
new File({ path: "c", content: ["a", pw.result, null, ["b", password]].join("-") });
let text = "";
text += pw.result;
const box: Record<string, string> = { t: "" };
box.t += text;
box["t"] += "!";
export const list = [pw.result, 1, { x: data.list[0] }, ...[password]];
export const boxed = box.t;
export const length = pw.result.length;
export { rest };
export const awaited = await Promise.resolve(pw.result);
export const fromMap = new Map([["k", pw.result]]).get("k");
export const number = data.echo + 1;
export const array = `${[pw.result, 1]} ${String([password])}`;
export const resource = JSON.stringify({ pw });
"#,
    )
    .graph();
    insta::assert_snapshot!(show(&graph), @r#"
    dev:main:local.RandomString @main.ts:2:12 length=8
    dev:main:local.Data @main.ts:3:14
    dev:main:local.File @main.ts:7:1 content=(("pw=" + #0.result) + "\n") path=`/tmp/${#0.result}`
    dev:main:local.File#2 @main.ts:8:1 content=`${#1.echo.deep[3].name}` path=`hi ${#0.result}!`
    dev:main:local.File#3 @main.ts:9:1 content=`a-${item #0.result}--${item `b,${item #0.result}`}` path="c"
    > array = `${`${item #0.result},1`} ${`${`${item #0.result}`}`}`
    > awaited = #0.result
    > boxed = (("" + ("" + #0.result)) + "!")
    > fromMap = #0.result
    > length = #0.result.length
    > list = [#0.result, 1, {x: #1.list[0]}, #0.result]
    > number = (#1.echo + 1)
    > resource = `{"pw":{"length":8,"result":${json(#0.result)}}}`
    > rest = {"name":"ann"}
    "#);
}

#[test]
fn json_of_unknowns_keeps_the_order_of_keys() {
    let graph = program(
        r#"import { RandomString, Data } from "stead/local";
const pw = new RandomString();
const data = new Data();
export const policy = JSON.stringify({ z: 1, a: pw.result, list: [data.echo, "x"], none: undefined });
export const pretty = JSON.stringify({ z: pw.result, a: [1] }, null, 2);
export const whole = JSON.stringify(data.echo);
export const known = JSON.stringify({ b: 1, a: [1, { c: null }] }, null, 1);
export const only = JSON.stringify({ b: pw.result, a: 1 }, ["b"]);
"#,
    )
    .graph();
    insta::assert_snapshot!(show(&graph), @r#"
    dev:main:local.RandomString @main.ts:2:12
    dev:main:local.Data @main.ts:3:14
    > known = "{\n \"b\": 1,\n \"a\": [\n  1,\n  {\n   \"c\": null\n  }\n ]\n}"
    > only = `{"b":${json(#0.result)}}`
    > policy = `{"z":1,"a":${json(#0.result)},"list":[${json(#1.echo)},"x"]}`
    > pretty = `{
      "z": ${json(#0.result)},
      "a": [
        1
      ]
    }`
    > whole = `${json(#1.echo)}`
    "#);
}

const SITE: &str = r#"import { Resource } from "stead";
import { File } from "stead/local";
import { Network } from "./net/vpc";

class Site extends Resource {
  readonly index: File;
  extra = new File({ path: "field" }, { id: "field" });
  constructor(id?: string) {
    const early = new File({ path: "early" }, { id: "early" });
    super(id);
    this.index = new File({ path: early.path }, { id: "index" });
    ["a", "b"].map((name) => new File({ path: name }));
    helper();
  }
  add() {
    return new File({ path: "added" }, { id: "added" });
  }
  async later() {
    await null;
    await null;
    return new File({ path: "late" }, { id: "late" });
  }
}
function helper() {
  return new File({ path: "helper" }, { id: "helper" });
}
const site = new Site();
const named = new Site("blog");
new Site();
site.add();
await named.later();
new Network("x");
"#;

const NETWORK: &str = r#"import { Resource } from "stead";
import * as local from "stead/local";
export class Network extends Resource {
  constructor(id: string) {
    super(id);
    new Inner();
  }
}
class Inner extends Resource {
  static shared = new local.File({ path: "shared" });
  constructor() {
    super();
    new local.File({ path: "inner" });
  }
}
"#;

#[test]
fn groups_scope_the_resources_they_create() {
    let graph = program(SITE).file("net/vpc.ts", NETWORK).graph();
    insta::assert_snapshot!(show(&graph), @r#"
    dev:net.vpc:local.File @net/vpc.ts:10:19 path="shared"
    dev:main:Site @main.ts:27:14
    dev:main/Site:local.File#early @main.ts:9:19 in 1 path="early"
    dev:main/Site:local.File#field @main.ts:7:11 in 1 path="field"
    dev:main/Site:local.File#index @main.ts:11:18 in 1 path="early"
    dev:main/Site:local.File @main.ts:12:30 in 1 path="a"
    dev:main/Site:local.File#2 @main.ts:12:30 in 1 path="b"
    dev:main/Site:local.File#helper @main.ts:25:10 in 1 path="helper"
    dev:main:Site#blog @main.ts:28:15
    dev:main/Site#blog:local.File#early @main.ts:9:19 in 8 path="early"
    dev:main/Site#blog:local.File#field @main.ts:7:11 in 8 path="field"
    dev:main/Site#blog:local.File#index @main.ts:11:18 in 8 path="early"
    dev:main/Site#blog:local.File @main.ts:12:30 in 8 path="a"
    dev:main/Site#blog:local.File#2 @main.ts:12:30 in 8 path="b"
    dev:main/Site#blog:local.File#helper @main.ts:25:10 in 8 path="helper"
    dev:main:Site#2 @main.ts:29:1
    dev:main/Site#2:local.File#early @main.ts:9:19 in 15 path="early"
    dev:main/Site#2:local.File#field @main.ts:7:11 in 15 path="field"
    dev:main/Site#2:local.File#index @main.ts:11:18 in 15 path="early"
    dev:main/Site#2:local.File @main.ts:12:30 in 15 path="a"
    dev:main/Site#2:local.File#2 @main.ts:12:30 in 15 path="b"
    dev:main/Site#2:local.File#helper @main.ts:25:10 in 15 path="helper"
    dev:main/Site:local.File#added @main.ts:16:12 in 1 path="added"
    dev:main/Site#blog:local.File#late @main.ts:21:12 in 8 path="late"
    dev:main:Network#x @main.ts:32:1
    dev:net.vpc/Network#x:Inner @net/vpc.ts:6:5 in 24
    dev:net.vpc/Network#x/Inner:local.File @net/vpc.ts:13:5 in 25 path="inner"
    "#);
}

#[test]
fn class_that_extends_a_provider_class_is_provisioned() {
    let graph = program(
        r#"import * as local from "stead/local";
class Page extends local.File {
  title: string;
  #secret = 1;
  constructor(name: string) {
    super({ path: `${name}.html` }, { id: name });
    this.title = name.toUpperCase();
    new local.File({ path: `${name}.css` });
  }
  get both() { return `${this.title} ${this.path} ${this.size} ${this.#secret}`; }
}
class Special extends Page {}
const page = new Page("index");
const special = new Special("special");
export const both = page.both;
export const is = [page instanceof Page, page instanceof local.File, special instanceof Page];
export const unset = page.content === undefined;
"#,
    )
    .graph();
    insta::assert_snapshot!(show(&graph), @r#"
    dev:main:local.File#index @main.ts:13:14 path="index.html"
    dev:main/Page#index:local.File @main.ts:8:5 in 0 path="index.css"
    dev:main:local.File#special @main.ts:14:17 path="special.html"
    dev:main/Special#special:local.File @main.ts:8:5 in 2 path="special.css"
    > both = `INDEX index.html ${#0.size} 1`
    > is = [true,true,true]
    > unset = true
    "#);
}

#[test]
fn unnamed_siblings_are_numbered_and_a_gid_is_the_whole_name() {
    let graph = program(
        r#"import { Resource } from "stead";
import { File, Data } from "stead/local";
for (let i = 0; i < 3; i++) new File({ path: `f${i}` });
new Data();
new File({ path: "named" }, { id: "a/b:c#d%e" });
class G extends Resource {
  constructor(options?: { gid: string }) { super(undefined, options); new Data(); }
}
new G();
new G();
new G({ gid: "global" });
"#,
    )
    .namespace("eu")
    .graph();
    insta::assert_snapshot!(names(&graph).join("\n"), @"
    dev:eu:main:local.File
    dev:eu:main:local.File#2
    dev:eu:main:local.File#3
    dev:eu:main:local.Data
    dev:eu:main:local.File#a%2Fb%3Ac%23d%25e
    dev:eu:main:G
    dev:eu:main/G:local.Data
    dev:eu:main:G#2
    dev:eu:main/G#2:local.Data
    dev:eu#global
    dev:eu:main/G#global:local.Data
    ");
}

#[test]
fn modules_json_files_and_stead_modules_are_imported() {
    let graph = program(
        r#"import { config, env, namespace, project, target } from "stead";
import settings from "./settings.json" with { type: "json" };
import { twice } from "./lib/index.js";
import thrice, { type Only } from "./lib";
import type { Nothing } from "./missing";
import { sqs } from "stead/aws";
const dynamic = await import("./dyn");
enum Size { Small = 1, Large }
namespace Kinds { export const one = "one"; }
export const all = [env, namespace ?? "none", project, target, settings.deep.list[1], twice(2), thrice(2)];
export const set = [config.get("name"), config.require("list"), config.number("n"), config.boolean("b"), config.get("x") ?? "unset"];
export const more = [Size.Large, Size[1], Kinds.one, dynamic.value satisfies string];
const q = new sqs.Queue({}, { id: "jobs" });
export const arn = q.Arn;
"#,
    )
    .file("settings.json", "{\"deep\": {\"list\": [1, \"two\"]}, \"__proto__\": {\"x\": 1}}")
    .file("lib/index.ts", "export * from './twice';\nexport default function thrice(x: number) { return x * 3; }\nexport type Only = 1;")
    .file("lib/twice.ts", "export const twice = (x: number): number => x * 2;")
    .file("dyn.ts", "export const value = 'dynamic';")
    .config("name", Value::from("shop"))
    .config("list", Value::from(vec![Value::from(1), Value::Null]))
    .config("n", Value::from(5))
    .config("b", Value::from(true))
    .graph();
    insta::assert_snapshot!(show(&graph), @r#"
    dev:main:aws.sqs.Queue#jobs @main.ts:13:11
    > all = ["dev","none","shop","local","two",4,6]
    > arn = #0.Arn
    > more = [2,"Small","one","dynamic"]
    > set = ["shop",[1,null],5,true,"unset"]
    "#);
}

#[test]
fn exported_resources_become_maps_and_functions_are_skipped() {
    let graph = program(
        r#"import { File } from "stead/local";
export const readme = new File({ path: "a" });
export const nested = { files: [readme] };
export function f() {}
export class C {}
export const nothing = undefined;
export default 42;
"#,
    )
    .graph();
    insta::assert_snapshot!(show(&graph), @r#"
    dev:main:local.File @main.ts:2:23 path="a"
    > default = 42
    > nested = {files: [{digest: #0.digest, mode: #0.mode, path: "a", size: #0.size}]}
    > readme = {digest: #0.digest, mode: #0.mode, path: "a", size: #0.size}
    "#);
}

#[test]
fn console_output_is_collected_with_positions() {
    let evaluation = program(
        r#"import { RandomString } from "stead/local";
const pw = new RandomString({}, { id: "pw" });
console.log("password", pw.result, { a: [1, "x"], pw });
function warn() { console.warn(new TypeError("bad"), null, undefined, 1n, () => 1); }
/* 🦀é */ warn();
"#,
    )
    .evaluate()
    .unwrap();
    let lines = evaluation
        .console
        .iter()
        .map(|line| format!("{:?} {} @{}", line.level, line.text, line.place.as_ref().unwrap()));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    Info password <`result` of local.RandomString#pw, known after apply> { a: [1, "x"], pw: <local.RandomString#pw> } @main.ts:3:1
    Warn TypeError: bad null undefined 1n <anonymous function> @main.ts:4:19
    "#);
    assert_eq!(evaluation.console[1].level, ConsoleLevel::Warn);
}

#[test]
fn same_program_gives_the_same_bytes() {
    let text = r#"import { File, RandomString } from "stead/local";
const all = Array.from({ length: 50 }, (_, i) => new RandomString({ length: i }));
const files = all.map((r, i) => new File({ path: `/tmp/${i}/${r.result}`, content: JSON.stringify({ i, r: r.result }) }));
export const dates = [new Date(2020, 0, 1).toISOString(), new Date("2020-06-01T12:00:00").getHours(), new Date(0).toString()];
export const sizes = files.map((f) => f.size);
"#;
    let bytes = || serde_json::to_string(&program(text).graph()).unwrap();
    let first = bytes();
    assert_eq!(first, bytes());
    assert!(first.contains("2020-01-01T00:00:00.000Z"));
    assert!(first.contains("Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)"));
}

#[test]
fn instrumented_language_features_keep_their_semantics() {
    let graph = program(
        r#"
const order: string[] = [];
const o = { get a() { order.push("get"); return 1; }, set a(v: number) { order.push(`set${v}`); } };
function obj() { order.push("obj"); return o; }
function val() { order.push("val"); return 5; }
obj().a += val();
let n: number | undefined; n ??= 3; n ||= 4; n &&= 7;
const m: Record<string, number | undefined> = {}; m["x"] ??= 2; m[`y`] ||= 3; m.x &&= 9;
class P { #v = 1; inc() { this.#v += 2; this.#v ||= 5; return this.#v; } static s = 1; static { P.s += 1; } }
class Q extends P { inc() { return super.inc() + 1; } }
function* gen() { yield* [1, 2]; yield 3; }
const tag = (s: TemplateStringsArray, ...v: unknown[]) => s.raw.join("|") + v.join(",");
const [first, ...others] = gen();
let swap1 = 1, swap2 = 2; [swap1, swap2] = [swap2, swap1];
const u: { deep?: { f?: () => number } } = {};
label: for (const i of [1, 2, 3]) { for (;;) { if (i === 2) break label; continue label; } }
switch (typeof undeclared) { case "undefined": order.push("undeclared"); break; default: order.push("wrong"); }
const big = 2n ** 64n;
export const out = [order, n, m, new Q().inc(), P.s, first, others, swap1, swap2, u?.deep?.f?.() ?? "none",
  tag`a${1}b\n${2}`, `${[1, 2]} ${{}} ${null}`, "a" + 1 + 2, 1 + 2 + "a", String(big), [3, 1, 2].toSorted(), "x" in { x: 1 },
  [1, 2, 3].filter((x) => x > 1), [[1], [2, [3]]].flat(), new Set([1, 1]).size, Boolean(""), [1, NaN].includes(NaN)];
"#,
    )
    .graph();
    insta::assert_snapshot!(show(&graph), @r#"> out = [["obj","get","val","set6","undeclared"],7,{"x":9,"y":3},4,2,1,[2,3],2,1,"none","a|b\\n|1,2","1,2 [object Object] null","a12","3a","18446744073709551616",[1,2,3],true,[2,3],[1,2,[3]],1,false,true]"#);
}

/// `semantics.json` holds the output of Node.js 20 for the same program without types.
#[test]
fn instrumented_code_gives_the_results_of_node() {
    let graph = program(include_str!("fixtures/semantics.ts")).graph();
    let Some(Value::String(text)) = graph.outputs["out"].as_known() else { panic!("no text") };
    let ours: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
    let node: Vec<serde_json::Value> = serde_json::from_str(include_str!("fixtures/semantics.json")).unwrap();
    assert_eq!(ours, node);
}

#[test]
fn modules_may_import_each_other_and_the_entry() {
    let graph = program(
        "import { Base, names } from './base';\nexport class Mine extends Base {}\nexport const all = names();\n",
    )
    .file(
        "base.ts",
        "import { Resource } from 'stead';\nimport * as main from './main';\n\
         export class Base extends Resource { constructor() { super(); } }\n\
         export const names = () => typeof main.Mine;\n",
    )
    .graph();
    insta::assert_snapshot!(show(&graph), @r#"> all = "function""#);
}

#[test]
fn resources_created_before_super_belong_to_the_instance_under_construction() {
    let graph = program(
        r#"import { Resource } from "stead";
import { Data } from "stead/local";
class Inner extends Resource {
  constructor(id: string, made?: () => void) { const early = new Data({}, { id: "early" }); super(id); made?.(); void early; }
}
class Outer extends Inner {
  inner: Inner;
  constructor() {
    const before = new Data({}, { id: "before" });
    super("outer", () => new Data({}, { id: "callback" }));
    const arrow = () => new Data({}, { id: "arrow" });
    this.inner = new Inner("in", () => arrow());
    void before;
  }
}
export default class extends Outer {}
const outer = new Outer();
(function (this: Outer) { new Data({}, { id: "borrowed" }); }).call(outer);
new Data({}, { id: "top" });
"#,
    )
    .graph();
    insta::assert_snapshot!(names(&graph).join("\n"), @"
    dev:main:Outer#outer
    dev:main/Outer#outer:local.Data#before
    dev:main/Outer#outer:local.Data#early
    dev:main/Outer#outer:local.Data#callback
    dev:main/Outer#outer:Inner#in
    dev:main/Outer#outer/Inner#in:local.Data#early
    dev:main/Outer#outer:local.Data#arrow
    dev:main/Outer#outer:local.Data#borrowed
    dev:main:local.Data#top
    ");
}

#[test]
fn object_that_several_resources_hold_is_one_value_in_the_graph() {
    let graph = program(
        r#"import { Data } from "stead/local";
let value: any = { text: "a long text, which is worth keeping only once: ............" };
for (let level = 0; level < 3; level++) value = new Data({ value: { level, inner: value } }, { id: `d${level}` }).value;
const changing = { n: 1 };
new Data({ value: changing }, { id: "before" });
changing.n = 2;
new Data({ value: changing }, { id: "after" });
"#,
    )
    .graph();
    let value = |at: usize| match &graph.nodes[at].inputs["value"] {
        Input::Known(Value::Map(map)) => map,
        other => panic!("{other:?}"),
    };
    for at in 1..3 {
        assert!(matches!(&value(at)["inner"], Value::Map(inner) if inner.is_same(value(at - 1))), "{at}");
    }
    assert_eq!((&value(3)["n"], &value(4)["n"]), (&Value::from(1), &Value::from(2)));
}
