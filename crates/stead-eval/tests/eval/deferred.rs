//! Deferred expressions: their results after apply equal the results of plain JavaScript.

use crate::common::deferred::{HEAD, assert_deferred as assert_deferred_with, plain, resolved};
use crate::common::program;
use stead_model::{EvalError, Input};

fn assert_deferred(cases: &str) {
    assert_deferred_with(cases, |run| run);
}

#[test]
fn methods_of_unknowns_run_after_apply() {
    assert_deferred(
        r#"
u.split(":")[5].toUpperCase()
u.split(":").length
u.replace(/[a-z]+/g, "x")
u.replace("arn", n)
u.replaceAll(":", "/")
l.slice(1).join(",")
l.concat(["d"], u).join(u)
u.slice(0, 3) + "-" + u.slice(-1)
u.substring(4, undefined)
u.trim().padEnd(40, ".")
u.startsWith("arn:")
u.match(/aws:(\w+)/)[1]
n.toString(2)
n.toFixed(2)
l.toSorted()
l.toReversed().at(0)
l.includes("a")
l.at(-1)
m.k[1].x.toUpperCase()
m.hasOwnProperty("k")
u.toString()
[u.toUpperCase(), { a: l.join() }]
"#,
    );
}

#[test]
fn known_text_and_builtin_functions_take_unknowns() {
    assert_deferred(
        r#"
"a:b".concat(u, n)
"arn:aws".includes(u)
"x".padStart(n, "ab")
"abcdefghij".slice(n)
"abc".replace("b", u)
"eu:1".split(u)
Math.max(n, 3, 9)
Math.round(n / 2)
parseInt(u.slice(14), 10)
parseFloat(n)
isNaN(n)
encodeURIComponent(u)
decodeURIComponent(encodeURIComponent(u))
String(n)
String(l)
String.fromCharCode(n * 10)
String.raw`a\n${u}b${n}`
"#,
    );
}

#[test]
fn operators_run_after_apply() {
    assert_deferred(
        r#"
n - 1
2 * n
n / 2
n % 4
n ** 2
n << 1
n >> 1
-n >>> 28
n & 3
n | 8
n ^ 1
-n
+n
~n
n + 1
n + n * (n - 1)
u + 1
(() => { let x = n; x -= 2; x *= n; return x; })()
(() => { const o = { x: n }; o.x -= 1; o["x"] **= 2; return o; })()
(() => { const o = { x: 1 }; (() => o)().x += n; return o; })()
"x".length - n
n - "2"
l.length * 2 - n + [1, 2].length % n
"#,
    );
}

#[test]
fn json_text_of_unknowns_supports_any_indent() {
    assert_deferred(
        r#"
JSON.stringify({ b: 1, a: u })
JSON.stringify({ b: [m, { c: l }], a: n }, null, 2)
JSON.stringify([m, m], null, "\t")
JSON.stringify({ a: { b: { c: m.k, d: 1 }, e: l } }, null, 3)
JSON.stringify(m, null, 2)
JSON.stringify({ a: u, b: 2 }, ["a"])
JSON.stringify(`${u}!`)
"#,
    );
}

#[test]
fn ordinary_code_passes_unknowns_through() {
    assert_deferred(
        r#"
[u, 1].map((x) => `<${x}>`).join("")
[u, n].slice(1).concat([l]).reverse()
[...[u], 2, ...[n]]
({ ...{ a: u }, b: 1 })
new Map([["a", u]]).get("a")
[...new Map([["a", u], ["b", n]]).values()]
Object.fromEntries(Object.entries({ a: u }).map(([k, v]) => [k, v + "!"]))
[[u], [n]].flat().length + n
(await Promise.all([u, Promise.resolve(n)]))
(await (async () => u)()).length
new (class { x = u; #y = n; get y() { return this.#y; } })().y
(() => { const seen: any[] = []; [u, n].forEach((x) => seen.push(x)); return seen; })()
((s: any, ...holes: any[]) => s.raw.join("|") + holes.join("/"))`a${u}b${n}c`
(function* () { yield u; })().next().value
[u, n].reduce((a, b) => a + b, "")
Array.from([u, n], (x) => x + 1)
structuredClone === undefined ? u : u
Object.assign({}, { a: u })
[1, u].at(1)
"#,
    );
}

#[test]
fn functions_given_to_apply_run_after_apply_with_plain_values() {
    assert_deferred(
        r#"
stead.apply(u, (arn) => arn.split(":").map((part) => part.length).filter((n) => n > 2))
stead.apply(l, (list) => { const out = {}; for (const x of list) out[x] = list.indexOf(x); return out; })
stead.all([u, n, 3], (a, b, c) => (b > c ? a : "no"))
stead.all([{ deep: [u] }, l], (a, b) => [...b, ...a.deep])
stead.apply(stead.apply(n, (n) => n * 2), (n) => n + 1)
stead.apply(u, (v) => `${v}`.length).toFixed(1)
"#,
    );
    assert_eq!(plain("stead.apply(1, (x) => x + 1)"), "2");
}

#[test]
fn function_with_known_arguments_runs_immediately() {
    let text = "import { all, apply } from \"stead\";\nexport const a = apply(\"x\", (v) => v + \"y\");\n\
        export const b = all([1, [2]], (x, y) => ({ sum: x + y[0] }));\nexport const c = apply(1, () => undefined);\n";
    let graph = program(text).graph();
    assert_eq!(graph.outputs["a"], Input::Known("xy".into()));
    assert_eq!(graph.outputs["b"].as_known().unwrap().to_json(), r#"{"sum":3}"#);
    assert!(!graph.outputs.contains_key("c"));
}

#[test]
fn forbidden_actions_of_a_deferred_function_are_errors_with_positions() {
    let text = format!(
        "{HEAD}const other = new RandomString({{}}, {{ id: \"other\" }});\nconst caught: any = other.result;\n\
        export const makes = stead.apply(u, () => new RandomString() && 1);\n\
        export const reads = stead.apply(u, () => other.result);\n\
        export const captures = stead.apply(u, (v: any) => `${{v}}-${{caught}}`);\n\
        export const promises = stead.apply(u, async (v: any) => v);\n\
        export const functions = stead.apply(u, (v: any) => () => v);\n\
        export const throws = stead.apply(u, (v: any) => {{\n  throw new RangeError(`no ${{v.length}}`);\n}});\n\
        export const breaks = stead.apply(u, (v: any) => v.no.such);\n\
        export const loops = stead.apply(u, () => {{ for (;;) {{}} }});\n\
        export const nan = stead.apply(u, (v: any) => v * 1);\n\
        export const fine = stead.apply(u, (v: any) => v.length);\n"
    );
    let evaluation = program(&text).limits(|limits| limits.evaluation_interrupts = 300).evaluate().unwrap();
    let mut found = String::new();
    for output in evaluation.graph.outputs.keys() {
        let line = match resolved(&evaluation, output) {
            Err(EvalError::Threw { message, place }) => {
                format!(
                    "{message} @ {}",
                    place.map_or_else(|| "nowhere".to_owned(), |place| place.to_string())
                )
            }
            other => format!("{other:?}"),
        };
        found += &format!("{output}: {line}\n");
    }
    insta::assert_snapshot!(found, @"
    breaks: the function threw: TypeError: cannot read property 'such' of undefined @ main.ts:16:50
    captures: the function given to `stead.apply` returns a value that is known only after apply @ main.ts:10:25
    fine: Ok(Known(Number(Int(25))))
    functions: the function given to `stead.apply` must return data: a function is not data @ main.ts:12:26
    loops: the function runs too long @ main.ts:17:1
    makes: a function given to `stead.apply` creates a resource @ main.ts:8:43
    nan: the function given to `stead.apply` must return data: NaN cannot be stored @ main.ts:18:20
    promises: the function given to `stead.apply` returns a promise @ main.ts:11:25
    reads: a function given to `stead.apply` reads a property that is known only after apply @ main.ts:9:43
    throws: the function threw: RangeError: no 25 @ main.ts:14:9
    ");
}

#[test]
fn function_that_runs_immediately_follows_the_rules_of_deferred_functions() {
    let text = format!("{HEAD}export const out = stead.apply(1, () => [u]);\n");
    insta::assert_snapshot!(program(&text).failure(), @"
    ST0110 the function given to `stead.apply` returns a value that is known only after apply
      @ main.ts:6:20 +11 here
      help: pass it to the function as an argument: `stead.all([a, b], (a, b) => …)`
    ");
    let text = format!("{HEAD}stead.apply(1, () => new RandomString());\n");
    insta::assert_snapshot!(program(&text).failure(), @"
    ST0110 a function given to `stead.apply` creates a resource
      @ main.ts:6:22 +18 here
      help: every resource must be known before apply: create the resource outside the function, and let the function compute one of its properties
    ");
}

#[test]
fn deferred_functions_outlive_the_evaluation_and_run_from_any_thread() {
    let text = format!(
        "{HEAD}const suffix = [\"!\"];\nexport const out = stead.apply(u, (v: any) => v.slice(0, 3) + suffix[0]);\n"
    );
    let evaluation = program(&text).evaluate().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(resolved(&evaluation, "out").unwrap(), Input::Known("arn!".into())));
        }
    });
}

#[test]
fn resource_as_input_expands_to_its_properties_and_adds_a_dependency() {
    let text = "import { File, Data } from \"stead/local\";\nconst file = new File({ path: \"a\", mode: \"0600\" });\n\
        new Data({ value: { file, list: [file.size] } });\n";
    insta::assert_snapshot!(crate::common::show(&program(text).graph()), @r#"
    dev:main:local.File @main.ts:2:14 mode="0600" path="a"
    dev:main:local.Data @main.ts:3:1 value={file: {digest: #0.digest, mode: "0600", path: "a", size: #0.size}, list: [#0.size]} {"dependsOn":[0]}
    "#);
}

#[test]
fn group_as_input_is_refused() {
    let text = "import { Data } from \"stead/local\";\nimport { Resource } from \"stead\";\nclass G extends Resource {}\n\
        new Data({ value: new G(\"g\") });\n";
    assert_eq!(program(text).code(), "ST0111");
}
