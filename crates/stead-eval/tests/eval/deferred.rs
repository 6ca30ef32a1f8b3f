//! Deferred expressions: their results after apply equal the results of plain JavaScript.

use crate::common::deferred::{
    HEAD, assert_deferred as assert_deferred_with, plain, resolved, with_unknowns,
};
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
u.slice(undefined, 3)
u.at(NaN)
u[0] + u[4]
u.at(-1)
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
u + NaN
u + -Infinity
(n - 7) * -1 + "" + 1 / ((n - 7) * -1 * Infinity)
JSON.stringify({ a: n / 0, b: [n * NaN, 1 / (n - 7)], c: (n - 7) * -1 })
`${n / 0} ${-n / 0} ${0 * n / 0} ${1e21 * n} ${1e-7 * n}`
JSON.stringify([n * 1e20, n * 1e21, n / 3, n * 1e-7])
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
fn missing_members_are_undefined_as_in_javascript() {
    assert_deferred(
        r#"
(({ port = 443 }) => port)(m)
(({ s = "no" }) => s)(m)
((port = 443) => port)(m.port)
((s = "no") => s)(m.s)
(function (a, b = a.none, { c = 3, d = c } = {}) { return [a.s, c, d]; })(m, "b", m)
(() => { const { port = 443, s = "no", k: [] = [] } = { ...{ port: m.port, s: m.s } }; return [port, s]; })()
(() => { const { port = 443, yes } = m, twice = port * 2; return [port, twice, yes]; })()
(() => { let port; ({ port = n } = m); return port; })()
(() => { const out = []; for (const { port = 443 } of [m, { port: 1 }]) out.push(port); return out; })()
(() => { const { none = [u, { a: n }] } = m; return none[1].a; })()
(() => { const { a = 1, b = a } = { a: m.none }; return [a, b]; })()
(() => { const [a = 1, b = 2] = [m.none, m.s]; return [a, b]; })()
(() => { const { s: { length = 9, size = 8 } = "x" } = m; return [length, size]; })()
(async ({ port = 443 }) => port)(m).constructor === Promise ? m.s : 0
new (class { constructor(p = 5, { q = p } = {}) { this.v = [p, q]; } })(m.p, m).v
stead.apply(m.port, (port) => port ?? 443)
stead.all([m.port, m.s], (port, s) => [port === undefined, s])
[m.none, m.s, m.z, null, undefined].join("-")
[1, m.s].join(null)
[m.z, [m.z, 1]].join()
(({ z = 1 }) => z)(m)
`${m.z}` + m.z
m.z + n
m.z * 2
JSON.stringify({ a: m.z, b: [m.z] })
String(m.z)
String([m.none, m.s])
u.match(/(x)?arn/)[0]
u.match(/(x)?arn/).join("+")
[m.k[0], m.k[1].x]
JSON.stringify(u.match(/(x)?arn/))
"#,
    );
}

#[test]
fn missing_member_is_an_error_that_names_it() {
    let cases = "`${m.hots}`\nm.hots\n\"a\" + m.hots\n[m.hots]\n({ a: { b: m.k[7] } })\nm.hots.port\nString(m.hots)\n\
        JSON.stringify({ a: m.hots })\nl.at(9)\nl[3]\n`${u.match(/(x)?arn/)[1]}`\nn / (n - 7)\nm.k[1].x.y.z\nm.toString\n\
        stead.apply(u, () => undefined)\n`${stead.apply(u, () => undefined)}`\n[stead.apply(u, () => undefined)]\n\
        ({ a: 1, b: stead.apply(u, () => undefined) })\nstead.apply(u, () => ({ a: undefined, b: null }))";
    let found = cases.lines().map(|case| {
        let evaluation = with_unknowns(case).evaluate().unwrap();
        let shown = match resolved(&evaluation, "out") {
            Ok(Some(Input::Known(value))) => value.to_json(),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        };
        format!("{case}\n    {shown}")
    });
    insta::assert_snapshot!(found.collect::<Vec<_>>().join("\n"), @r#"
    `${m.hots}`
        `echo.hots` is undefined, and it is part of a text
    m.hots
        `echo.hots` is undefined
    "a" + m.hots
        `echo.hots` is undefined, and `+` needs it as text
    [m.hots]
        `echo.hots` is undefined
    ({ a: { b: m.k[7] } })
        `echo.k[7]` is undefined
    m.hots.port
        cannot read "port" of `echo.hots`, which is undefined
    String(m.hots)
        `echo.hots` is undefined, and it is part of a text
    JSON.stringify({ a: m.hots })
        `echo.hots` is undefined, and it is part of a text
    l.at(9)
        the result of `at` on `list` is undefined
    l[3]
        `list[3]` is undefined
    `${u.match(/(x)?arn/)[1]}`
        `[1]` of the result of `match` on `result` is undefined, and it is part of a text
    n / (n - 7)
        the result of `/` on `size` is Infinity, which cannot be stored
    m.k[1].x.y.z
        cannot read "z" of `echo.k[1].x.y`, which is undefined
    m.toString
        `echo.toString` is a method of the language, which is not data; call it
    stead.apply(u, () => undefined)
        None
    `${stead.apply(u, () => undefined)}`
        the result of the function given to `stead.apply` at main.ts:6:23 is undefined, and it is part of a text
    [stead.apply(u, () => undefined)]
        an item of a value with the result of the function given to `stead.apply` at main.ts:6:21 is undefined
    ({ a: 1, b: stead.apply(u, () => undefined) })
        {"a":1}
    stead.apply(u, () => ({ a: undefined, b: null }))
        {"b":null}
    "#);
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
        // Methods of an object are not followed while planning.\n\
        const hidden = {{ makes() {{ return new RandomString(); }}, reads() {{ return other.result; }}, caught(v: any) {{ return `${{v}}-${{caught}}`; }} }};\n\
        export const makes = stead.apply(u, () => hidden.makes() && 1);\n\
        export const reads = stead.apply(u, () => hidden.reads());\n\
        export const captures = stead.apply(u, (v: any) => hidden.caught(v));\n\
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
    breaks: the function threw: TypeError: cannot read property 'such' of undefined @ main.ts:18:50
    captures: the function given to `stead.apply` returns a value that is known only after apply @ main.ts:12:25
    fine: Ok(Some(Known(Number(Int(25)))))
    functions: the function given to `stead.apply` must return data: a function is not data @ main.ts:14:26
    loops: the function runs too long @ main.ts:19:1
    makes: a function given to `stead.apply` or `stead.ephemeral` creates a resource @ main.ts:9:35
    nan: the function given to `stead.apply` must return data: NaN cannot be stored @ main.ts:20:20
    promises: the function given to `stead.apply` returns a promise @ main.ts:13:25
    reads: a function given to `stead.apply` or `stead.ephemeral` reads a property that is known only after apply @ main.ts:9:75
    throws: the function threw: RangeError: no 25 @ main.ts:16:9
    ");
}

/// Declarations that functions given to `apply` use; a class is left open.
const DECLARED: &str = "import { RandomString, Data } from \"stead/local\"; import * as local from \"stead/local\";\nimport * as stead from \"stead\"; \
        import { all, apply as later, readText, Resource } from \"stead\";\nconst u: any = new RandomString({}, { id: \"u\" }).result; \
        const pw = new RandomString({}, { id: \"pw\" }); const o: any = { in: [u], deep: { u, k: 1 }, name: \"n\" };\n\
        class Pet extends Resource { name: any = \"p\"; other = pw; u = u; \n";
const CLASS_END: &str = "}\n";

#[test]
fn values_that_a_deferred_function_must_not_use_are_refused_while_planning() {
    let cases = [
        "later(u, (v) => v + caught); const caught = pw.result;",
        "stead.apply(u, (v) => `${v} ${pw.result}`);",
        "all([u], function (v) { return v + o.deep.u; });",
        "later(u, (v) => helper(v)); function helper(v: any) { return inner(v); } const inner = (v: any) => v + pw.result;",
        "later(u, named); function named(v: any) { return v + o.deep.u.length; }",
        "later(u, () => new RandomString());",
        "later(u, () => new local.Data({ value: 1 }));",
        "later(u, () => makes()); const makes = () => new Pet();",
        "later(u, () => readText(\"a.txt\"));",
        "later(u, () => stead.readText(\"a.txt\"));",
        "later(u, () => stead.readBytes(\"a.txt\"));",
        "later(u, () => stead.template(\"a.txt\", {}));",
        "later(u, () => stead.stack(\"x\").outputs);",
        "later(u, () => local.File.get(\"x\"));",
        "let x: any = 1; later(u, () => x); x = pw.result;",
    ];
    let mut found: Vec<String> = cases
        .iter()
        .map(|case| {
            let text = program(&format!("{DECLARED}{CLASS_END}{case}\n")).failure();
            format!("{case}\n    {}", text.lines().take(2).collect::<Vec<_>>().join(""))
        })
        .collect();
    let method = "m() { return later(u, (v) => v + this.u + this.other.result); }";
    let text = program(&format!("{DECLARED}{method}{CLASS_END}new Pet().m();\n")).failure();
    found.push(format!("{method}\n{text}"));
    insta::assert_snapshot!(found.join("\n"), @r#"
    later(u, (v) => v + caught); const caught = pw.result;
        ST0110 this function runs after apply, and it uses `result` of local.RandomString#pw, which is known only after apply  @ main.ts:6:21 +6 not known while planning
    stead.apply(u, (v) => `${v} ${pw.result}`);
        ST0110 this function runs after apply, and it uses `result` of local.RandomString#pw, which is known only after apply  @ main.ts:6:31 +9 not known while planning
    all([u], function (v) { return v + o.deep.u; });
        ST0110 this function runs after apply, and it uses `result` of local.RandomString#u, which is known only after apply  @ main.ts:6:36 +8 not known while planning
    later(u, (v) => helper(v)); function helper(v: any) { return inner(v); } const inner = (v: any) => v + pw.result;
        ST0110 this function runs after apply, and it uses `result` of local.RandomString#pw, which is known only after apply  @ main.ts:6:104 +9 not known while planning
    later(u, named); function named(v: any) { return v + o.deep.u.length; }
        ST0110 this function runs after apply, and it uses `result` of local.RandomString#u, which is known only after apply  @ main.ts:6:54 +15 not known while planning
    later(u, () => new RandomString());
        ST0110 a function given to `stead.apply` or `stead.ephemeral` creates a resource  @ main.ts:6:20 +12 here
    later(u, () => new local.Data({ value: 1 }));
        ST0110 a function given to `stead.apply` or `stead.ephemeral` creates a resource  @ main.ts:6:20 +10 here
    later(u, () => makes()); const makes = () => new Pet();
        ST0110 a function given to `stead.apply` or `stead.ephemeral` creates a resource  @ main.ts:6:50 +3 here
    later(u, () => readText("a.txt"));
        ST0110 a function given to `stead.apply` or `stead.ephemeral` reads a file  @ main.ts:6:16 +8 here
    later(u, () => stead.readText("a.txt"));
        ST0110 a function given to `stead.apply` or `stead.ephemeral` reads a file  @ main.ts:6:16 +14 here
    later(u, () => stead.readBytes("a.txt"));
        ST0110 a function given to `stead.apply` or `stead.ephemeral` reads a file  @ main.ts:6:16 +15 here
    later(u, () => stead.template("a.txt", {}));
        ST0110 a function given to `stead.apply` or `stead.ephemeral` reads a file  @ main.ts:6:16 +14 here
    later(u, () => stead.stack("x").outputs);
        ST0110 a function given to `stead.apply` or `stead.ephemeral` performs a look-up  @ main.ts:6:16 +11 here
    later(u, () => local.File.get("x"));
        ST0110 a function given to `stead.apply` or `stead.ephemeral` performs a look-up  @ main.ts:6:16 +14 here
    let x: any = 1; later(u, () => x); x = pw.result;
        ST0110 this function runs after apply, and it uses `result` of local.RandomString#pw, which is known only after apply  @ main.ts:6:32 +1 not known while planning
    m() { return later(u, (v) => v + this.u + this.other.result); }
    ST0110 this function runs after apply, and it uses `result` of local.RandomString#u, which is known only after apply
      @ main.ts:5:34 +6 not known while planning
      @ main.ts:3:16 +3 local.RandomString#u is declared here
      note: the provider sets `result` when it creates the resource; the program must declare every resource before that
      help: pass it to the function as an argument: `stead.all([a, b], (a, b) => …)`
    ST0110 this function runs after apply, and it uses `result` of local.RandomString#pw, which is known only after apply
      @ main.ts:5:43 +17 not known while planning
      @ main.ts:3:69 +3 local.RandomString#pw is declared here
      note: the provider sets `result` when it creates the resource; the program must declare every resource before that
      help: pass it to the function as an argument: `stead.all([a, b], (a, b) => …)`
    "#);
}

#[test]
fn known_members_shadowed_names_and_functions_that_are_not_deferred_may_be_used() {
    for fine in [
        "later(u, (v) => v + o.name + o.deep.k + o.in.length);",
        "later(u, (u) => u + 1);",
        "later(u, (v) => { const pw = { result: v }; return pw.result; });",
        "later(1, () => 2); const f = () => new Data({ value: 1 });",
        "later(u, (v) => new Date(0).getTime() + new Map([[v, 1]]).size);",
        "later(u, (v) => typeof pw === \"object\" ? 1 : 2);",
    ] {
        program(&format!("{DECLARED}{CLASS_END}{fine}\n")).graph();
    }
}

#[test]
fn functions_of_other_files_are_followed() {
    let shared = "import * as stead from \"stead\";\nimport { RandomString } from \"stead/local\";\n\
        const pw = new RandomString({}, { id: \"pw\" });\nexport const limits = { most: 3 };\n\
        export function adds(v: any) { return inner(v); }\nconst inner = (v: any) => v + pw.result;\n\
        export const makes = () => new RandomString();\nfunction reads() { return stead.readJson(\"a.json\"); }\nexport { reads as opens };\n\
        export default function listed() { return stead.listFiles(\"*\"); }\nexport const fine = (v: any) => `${v} ${limits.most}`;\n";
    let head = "import { apply } from \"stead\";\nimport { RandomString } from \"stead/local\";\nimport * as lib from \"./lib\";\n\
        import listed, { adds, fine, makes, opens } from \"./lib\";\nconst u = new RandomString({}, { id: \"u\" }).result;\n";
    let run = |main: &str| program(&format!("{head}{main}\n")).file("lib.ts", shared);
    let found: Vec<String> = [
        "apply(u, (v) => adds(v));",
        "apply(u, adds);",
        "apply(u, (v) => lib.adds(v));",
        "apply(u, (v) => [v].map(adds)[0]);",
        "apply(u, () => makes());",
        "apply(u, () => opens());",
        "apply(u, () => listed());",
        "apply(u, (v) => through(v)); function through(v: any) { return adds(v); }",
    ]
    .iter()
    .map(|main| format!("{main}\n    {}", run(main).failure().lines().take(2).collect::<Vec<_>>().join("")))
    .collect();
    insta::assert_snapshot!(found.join("\n"), @"
    apply(u, (v) => adds(v));
        ST0110 this function runs after apply, and it uses `result` of local.RandomString#pw, which is known only after apply  @ lib.ts:6:31 +9 not known while planning
    apply(u, adds);
        ST0110 this function runs after apply, and it uses `result` of local.RandomString#pw, which is known only after apply  @ lib.ts:6:31 +9 not known while planning
    apply(u, (v) => lib.adds(v));
        ST0110 this function runs after apply, and it uses `result` of local.RandomString#pw, which is known only after apply  @ lib.ts:6:31 +9 not known while planning
    apply(u, (v) => [v].map(adds)[0]);
        ST0110 this function runs after apply, and it uses `result` of local.RandomString#pw, which is known only after apply  @ lib.ts:6:31 +9 not known while planning
    apply(u, () => makes());
        ST0110 a function given to `stead.apply` or `stead.ephemeral` creates a resource  @ lib.ts:7:32 +12 here
    apply(u, () => opens());
        ST0110 a function given to `stead.apply` or `stead.ephemeral` reads a file  @ lib.ts:8:27 +14 here
    apply(u, () => listed());
        ST0110 a function given to `stead.apply` or `stead.ephemeral` reads a file  @ lib.ts:10:43 +15 here
    apply(u, (v) => through(v)); function through(v: any) { return adds(v); }
        ST0110 this function runs after apply, and it uses `result` of local.RandomString#pw, which is known only after apply  @ lib.ts:6:31 +9 not known while planning
    ");
    run("export const a = apply(u, (v) => fine(v));\nadds(1);").graph();
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
    ST0110 a function given to `stead.apply` or `stead.ephemeral` creates a resource
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
            scope.spawn(|| {
                assert_eq!(resolved(&evaluation, "out").unwrap(), Some(Input::Known("arn!".into())))
            });
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

/// A function reaches `apply` by another name, as an argument, as a result, or as a member of an object or a collection.
#[test]
fn functions_that_reach_apply_by_any_way_are_inspected_while_planning() {
    let head = "import { RandomString } from 'stead/local';\nimport * as fs from 'node:fs';\nimport { mk, wrap } from './lib';\n\
        import { apply } from 'stead';\nconst a: any = new RandomString({}, { id: 'a' }).result;\n\
        const b: any = new RandomString({}, { id: 'b' });\nfunction fn(r: any) { return r + b.result; }\nconst f2 = fn;\n\
        const fns = { one: (r: any) => r + b.result };\nconst map = new Map([['x', (r: any) => r + b.result]]);\n";
    let lib = "import { apply } from 'stead';\nexport const mk = (x: any) => (r: any) => r + x;\n\
        export const wrap = (x: any, f: any) => apply(x, (v) => f(v));\n";
    let run = |code: &str| program(&format!("{head}export const out = {code};\n")).file("lib.ts", lib);
    for (code, place) in [
        ("apply(a, mk(b.result))", "lib.ts:2:47"),
        ("apply(a, f2)", "main.ts:7:"),
        ("apply(a, fns.one)", "main.ts:9:"),
        ("wrap(a, (r: any) => r + b.result)", "main.ts:11:"),
        ("apply(a, map.get('x')!)", "main.ts:10:"),
        ("apply(a, [(r: any) => r + b.result][0]!)", "main.ts:11:"),
        ("apply(a, () => fs.readFileSync('x', 'utf8'))", "main.ts:11:"),
        ("apply(a, () => Date.now())", "main.ts:11:"),
        ("apply(a, () => `${new Date()}`)", "main.ts:11:"),
        ("apply(a, (v: any) => v + Math.random())", "main.ts:11:"),
        ("apply(a, (v: any) => v + crypto.randomUUID())", "main.ts:11:"),
    ] {
        let failure = run(code).failure();
        assert!(
            failure.starts_with("ST0110 ") && failure.contains(&format!("@ {place}")),
            "{code}: {failure}"
        );
    }
    for code in [
        "apply(a, mk('x'))",
        "wrap(a, (r: any) => r + fns.one.name)",
        "apply(a, (v: any) => `${new Date(0).getTime()}${v}`)",
    ] {
        run(code).graph();
    }
    let names = run("[fns.one.name, mk(1).name, fn.name, [(r: any) => b].map((f) => f.name)[0]]").graph();
    assert_eq!(names.outputs["out"].as_known().unwrap().to_json(), "[\"one\",\"\",\"fn\",\"\"]");
}

#[test]
fn negative_zero_stays_negative_in_deferred_values() {
    let text = "import { RandomString } from 'stead/local';\nconst u: any = new RandomString().result;\n\
        const zero: any = u.length - 99;\nexport const out = [`${1 / -(u.indexOf('a') * 0)}`, Math.atan2(-(u.length * 0), -1)];\n";
    let evaluation = program(text).evaluate().unwrap();
    let found = resolved(&evaluation, "out").unwrap();
    let found = found.and_then(Input::into_known).unwrap().to_json();
    assert_eq!(found, "[\"-Infinity\",-3.141592653589793]");
}

/// The language reads `done` of the results of an iterator, and a program reads `done` of a value.
#[test]
fn member_named_done_is_an_ordinary_member_of_an_unknown() {
    let head = "import { Data } from 'stead/local';\nconst u: any = new Data({ value: 1 }).echo;\n";
    for code in ["u.done", "u.a.done", "((): any => { const { done } = u; return done; })()"] {
        program(&format!("{head}export const out = {code};\n")).graph();
    }
    for next in ["next: () => u", "next() { return u; }", "next: u2", "next: () => ({ done: u, value: 1 })"] {
        let text = format!(
            "{head}const u2: any = () => [u][0];\nfor (const x of {{ [Symbol.iterator]: () => ({{ {next} }}) }} as any) {{}}\n"
        );
        let failure = program(&text).failure();
        assert!(failure.contains("known only after apply"), "{next}: {failure}");
    }
}
