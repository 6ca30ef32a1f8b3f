//! TypeScript features: decorators, namespaces, enums; and unsupported syntax.

use crate::common::{program, show};

#[test]
fn decorators_follow_experimental_decorators() {
    let text = r#"import { Resource } from "stead";
import { Data } from "stead/local";
const log: string[] = [];
function tag(label: string) {
  log.push(`made ${label}`);
  return (target: any, key?: string, property?: PropertyDescriptor) => {
    log.push(`${label}:${typeof target === "function" ? target.name : target.constructor.name}.${key ?? ""}${property ? "!" : ""}`);
  };
}
function twice(_target: unknown, _key: string, property: PropertyDescriptor) {
  const method = property.value;
  return { ...property, value(this: unknown, ...args: unknown[]) { return [method.apply(this, args), method.apply(this, args)]; } };
}
function param(target: any, key: string | undefined, index: number) { log.push(`param ${key} ${index}`); }
function sealed<T extends new (...args: any[]) => object>(base: T) { Object.freeze(base.prototype); return base; }
@sealed
@tag("first")
@tag("second")
class Site extends Resource {
  @tag("field") name = "site";
  @tag("static") static count = 0;
  constructor(id: string, @param _x = 1) { super(id); }
  @twice @tag("method") make(@param id: string) { return new Data({}, { id: `${id}${Site.count++}` }).value; }
  @tag("getter") get size() { return 1; }
}
const site = new Site("a");
site.make("m");
export { log };
export const kind = [Site.name, site instanceof Site, Object.isFrozen(Site.prototype)];
"#;
    insta::assert_snapshot!(show(&program(text).graph()), @r#"
    dev:main:Site#a @main.ts:26:14
    dev:main/Site#a:local.Data#m0 @main.ts:23:58 in 0
    dev:main/Site#a:local.Data#m1 @main.ts:23:58 in 0
    > kind = ["Site",true,true]
    > log = ["made field","field:Site.name","made method","param make 0","method:Site.make!","made getter","getter:Site.size!","made static","static:Site.count","made first","made second","param undefined 1","second:Site.","first:Site."]
    "#);
}

#[test]
fn error_in_a_decorator_is_reported_at_the_decorator() {
    let text = "function bad(): any {\n  throw new Error('no');\n}\nclass A {\n  @bad m() {}\n}\nnew A();\n";
    insta::assert_snapshot!(program(text).failure(), @"
    ST0103 the program threw: no
      @ main.ts:2:9 +15 thrown here
      note: called by the module at main.ts:5:4
    ");
    let unknown = "import { RandomString } from 'stead/local';\nconst u: any = new RandomString().result;\n@u class A {}\nnew A();\n";
    insta::assert_snapshot!(program(unknown).failure(), @"
    ST0110 this calls `result` of local.RandomString, which is known only after apply
      @ main.ts:3:2 +1 not known while planning
      @ main.ts:2:16 +3 local.RandomString is declared here
      note: the provider sets `result` when it creates the resource; the program must declare every resource before that
      help: template literals, operators, property access, methods and `JSON.stringify` work on such values
      help: use `stead.apply(value, v => …)`: the function runs once the value is known
    ");
}

#[test]
fn namespaces_enums_and_merging_with_classes_work() {
    let text = r#"
namespace Outer { export const x = 1; export namespace Inner { export const y = x + 1; } export type T = string; }
namespace Types { export type A = 1; } namespace Types { export type B = 2; }
enum Color { Red, Green = 5, Blue, Text = "t", Computed = Outer.x * 10 }
const enum Flag { A = 1 << 0, B = 1 << 1, Both = A | B }
class Box { static make() { return Box.size; } } namespace Box { export const size = 3; }
function f() { return f.count; } namespace f { export let count = 4; }
abstract class Shape<T extends string = string> { constructor(readonly kind: T, protected n?: number) {} abstract area(): number; }
class Square extends Shape<"sq"> { area() { return (this.n ?? 2) ** 2; } override toString() { return `${this.kind}`; } }
const check = { a: 1 } satisfies Record<string, number>;
export const all = [Outer.Inner.y, Color.Green, Color[6], Color.Text, Color.Computed, Flag.Both, Box.make(), f(), new Square("sq").area(), `${new Square("sq")}`, check!.a as number];
"#;
    insta::assert_snapshot!(show(&program(text).graph()), @r#"> all = [2,5,"Blue","t",10,3,3,4,4,"sq",1]"#);
}

#[test]
fn unsupported_syntax_is_reported_with_its_position() {
    insta::assert_snapshot!(program("const a = 1;\nexport const r = /[a-z]--\\d/v.test(`${a}`);\n").failure(), @"
    ST0101 the flag `v` of regular expressions is not supported
      @ main.ts:2:18 +12 here
      help: use the flag `u`, and write set operations out as alternatives
    ");
    insta::assert_snapshot!(program("import fs = require('fs');\nfs.x;\n").failure(), @r#"
    ST0107 `import … = require(…)` is CommonJS syntax, which is not supported
      @ main.ts:1:1 +26 here
      help: write `import … from "…"`
    "#);
    insta::assert_snapshot!(program("const x = 1;\nexport = x;\n").failure(), @"
    ST0107 `export =` is CommonJS syntax, which is not supported
      @ main.ts:2:1 +11 here
      help: write `export default`
    ");
}

#[test]
fn accessor_field_is_a_getter_and_a_setter() {
    let text = "class A {\n  accessor x = 1;\n  static accessor y = 2;\n}\nconst a = new A();\na.x = 3;\nA.y = 4;\nexport const all = [a.x, A.y, Object.keys(a).length, typeof Object.getOwnPropertyDescriptor(A.prototype, 'x')?.get];\n";
    insta::assert_snapshot!(show(&program(text).graph()), @r#"> all = [3,4,0,"function"]"#);
}

#[test]
fn json_is_imported_as_default_or_by_key() {
    let text = "import whole, { version, if as condition } from './data.json';\nimport * as all from './data.json' with { type: 'json' };\nimport { list } from './list.json';\n\
        export const read = [whole['with space'], version, condition, Object.keys(all)];\nlist;\n";
    let run =
        program(text).file("data.json", "{\"version\": \"1\", \"if\": 2, \"with space\": 3, \"default\": 4}");
    insta::assert_snapshot!(run.file("list.json", "[1]").failure(), @"
    ST0102 `./list.json` has no export `list`
      @ main.ts:3:10 +4 imported here
      help: it exports: default
    ");
    let text = text.replace("import { list }", "import list");
    let run = program(&text)
        .file("data.json", "{\"version\": \"1\", \"if\": 2, \"with space\": 3, \"default\": 4}");
    insta::assert_snapshot!(show(&run.file("list.json", "[1]").graph()), @r#"> read = [3,"1",2,["default","if","version"]]"#);
}

#[test]
fn namespace_blocks_see_exports_of_the_other_blocks() {
    let text = r#"
const x = "outside";
namespace A { export let x = 1; const own = "own"; export enum E { One = 1 } export function f() { return own; } export const { p, q: [r] } = { p: 2, q: [3] }; export namespace Deep { export const d = 4; } }
export namespace A { const own = 10; export const y = x + own; x = 7; x++; export const all = { x, E, p, q: r, f: f(), d: Deep.d }; export function shadow(x: number) { return x; } export class K { x = x; } }
namespace A { export const z = [y, ((p) => p)("inner"), shadow(5), new K().x, `${x}`, typeof E]; { const y = "block"; z.push(y); } }
namespace B.C { export const one = 1; } namespace B.D { export const two = C.one + 1; } namespace B { export const three = C.one + D.two; }
class Box { static size = 1; } namespace Box { export const a = 1; } namespace Box { export const b = a + Box.size; }
export const result = [A.x, A.y, A.all, A.z, B.three, Box.b, x];
"#;
    insta::assert_snapshot!(show(&program(text).graph()), @r#"> result = [8,11,{"E":{"1":"One","One":1},"d":4,"f":"own","p":2,"q":3,"x":8},[11,"inner",5,8,"8","object","block"],3,2,"outside"]"#);
}

#[test]
fn exported_variable_of_a_namespace_has_one_value() {
    let code = "namespace N { export let v = 1; v++; v += 2; export let w: number; export const set = (x: number) => { w = x; [v] = [v + 1]; };\n\
        export let d = 1, e = 2, g = 0; ({ d, e = d, other: g } = { d: 7, other: 8 } as any);\n\
        export namespace Inner { export var deep = 'a'; deep = deep + 'b'; } }\nN.set(5);\nN.w++;\n\
        namespace N { export const seen = () => [v, w]; }\nexport const out = [N.v, N.w, N.Inner.deep, N.seen(), N.d, N.e, N.g];\n";
    insta::assert_snapshot!(show(&program(code).graph()), @r#"> out = [5,6,"ab",[5,6],7,7,8]"#);
}

#[test]
fn built_ins_have_the_names_lengths_and_flags_of_node() {
    let text = r#"const owners: any = {
  Array, Object, Reflect, JSON, Math, Number, Promise, Date, Error, RegExp, Map, Set, WeakMap, WeakSet, String, Symbol, BigInt,
  Boolean, ArrayBuffer, Uint8Array, Bytes: Object.getPrototypeOf(Uint8Array),
};
const odd: string[] = [];
for (const owner of Object.keys(owners)) {
  for (const at of [owners[owner], owners[owner].prototype]) {
    for (const key of at === undefined ? [] : Reflect.ownKeys(at)) {
      const { value, enumerable, writable, configurable } = Object.getOwnPropertyDescriptor(at, key)!;
      if (typeof value !== "function" || typeof key === "symbol" || key === "constructor") continue;
      if (value.name !== key) odd.push(`${owner}.${key} is ${value.name}`);
      if (enumerable || !writable || !configurable) odd.push(`flags of ${owner}.${key}`);
    }
  }
}
const lengths = [
  [].filter, [].flat, [].includes, JSON.parse, JSON.stringify, Number.isInteger, Object.is, new Map().set, new Set().add, [].at,
  "".concat, "".includes, Math.max, Date.UTC, Promise.prototype.then, Array.isArray, Function.prototype.toString,
];
export const found = [...odd.sort(), lengths.map((f) => f.length).join(" ")];"#;
    let graph = program(text).graph();
    insta::assert_snapshot!(graph.outputs["found"].as_known().unwrap().to_json(), @r#"["Date.toGMTString is toUTCString","Set.keys is values","String.trimLeft is trimStart","String.trimRight is trimEnd","1 0 1 2 3 1 2 2 1 1 1 1 2 7 2 1 0"]"#);
}
