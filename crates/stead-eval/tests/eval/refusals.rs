//! Operations that must fail, with their error messages.

use crate::common::{diagnostics, program};

const HEAD: &str = "import { File, RandomString, Data } from \"stead/local\";\nimport { Resource } from \"stead\";\n\
    const pw = new RandomString({}, { id: \"pw\" });\nconst data = new Data();\nconst u = pw.result; const l = data.list;\n";

fn code_of(statement: &str) -> String {
    let text = format!("{HEAD}{statement}\nexport {{}};\n");
    match program(&text).evaluate() {
        Ok(_) => "silent".to_owned(),
        Err(failure) => {
            let first = &failure.diagnostics[0];
            assert_eq!(failure.diagnostics.len(), 1, "{statement}\n{}", diagnostics(&failure.diagnostics));
            let place =
                first.labels.first().map(|label| format!("{}:{}", label.place.line, label.place.column));
            format!("{} {}", first.code, place.unwrap_or_else(|| "nowhere".to_owned()))
        }
    }
}

/// Asserts that each line is a statement that is refused with one of the codes at its own line.
fn assert_refused(cases: &str, codes: &[&str]) {
    let wanted = |found: &str| codes.iter().any(|code| found.starts_with(&format!("{code} 6:")));
    let results = cases.lines().filter(|case| !case.is_empty()).map(|case| (case, code_of(case)));
    let wrong: Vec<String> = results
        .filter(|(_, found)| !wanted(found))
        .map(|(case, found)| format!("{case}   {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn if_on_an_unknown_names_property_resource_and_positions() {
    let text = "import { RandomString } from \"stead/local\";\nconst pw = new RandomString({}, { id: \"pw\" });\n\
        /* é🦀 */ if (1 && pw.result) { new RandomString(); }\n";
    insta::assert_snapshot!(program(text).failure(), @"
    ST0104 this statement branches on `result` of local.RandomString#pw, which is known only after apply
      @ main.ts:3:19 +9 not known while planning
      @ main.ts:2:12 +3 local.RandomString#pw is declared here
      note: the provider sets `result` when it creates the resource; the program must declare every resource before that
      help: use a value that is known while planning: `config`, `env`, or a property that the program sets
    ");
}

const LOGIC: &str = r#"
if (u) {}
if (!u) {}
while (u) {}
do {} while (u);
for (; u;) {}
u ? 1 : 2;
u && 1;
u || 1;
u ?? 1;
switch (u) {}
switch (1) { case u: }
u === 1;
1 !== u;
u == null;
u < 1;
1 >= u;
typeof u;
typeof data.echo.x;
'a' in u;
u in {};
u instanceof Object;
u?.x;
u?.();
data.echo?.x.y;
for (const x of l) {}
for (const x in l) {}
[...l];
Math.max(...l);
({ ...u });
const [a] = l;
let a; [a] = l;
const { x, ...r } = data.echo;
({})[u];
({ [u]: 1 });
class A { [u] = 1 }
let x: any = u; x ||= 1;
let x: any = u; x ??= 1;
const o: any = { x: u }; o.x &&= 1;
const o: any = { x: u }; (() => o)().x ||= 1;
throw u;
class B extends (u as any) {}
new (u as any)();
function* g() { yield* l; } [...g()];
new Array(data.echo);
Array(data.echo);
if ((0, u)) {}
if (true ? u : 1) {}
class P { #x = u; t() { return this.#x ||= 'a'; } } new P().t();
const f = (a: any) => a ? 1 : 2; f(u);
if (`${u}`) {}
if (u + 'x') {}
(u + 1) === '1';
const { [u]: z } = {} as any;
"#;

#[test]
fn syntax_that_inspects_an_unknown_is_refused() {
    assert_refused(LOGIC, &["ST0104"]);
}

#[test]
fn nested_pattern_on_an_unknown_is_refused() {
    // The engine reports the previous statement, because it compiles the pattern before its source.
    for case in
        ["const { a: [b] } = { a: l };", "const f = ([a]: any) => a; f(l);", "for (const [a] of [l]) {}"]
    {
        assert!(code_of(case).starts_with("ST0104"), "{case} {}", code_of(case));
    }
}

const BUILTINS: &str = r#"
'ab'.repeat(u as any);
Object(u);
const A = Array; A(u as any);
const A = Array; new A(u as any);
[].constructor(u as any);
Reflect.construct(Array, [u]);
JSON.parse('1', u as any);
new Number(u);
l.keys();
u.matchAll(/x/g);
u.constructor;
[1].filter(() => u);
[1].find(() => u);
[1].findIndex(() => u);
[1].findLast(() => u);
[1].findLastIndex(() => u);
[1].some(() => u);
[1].every(() => u);
[u].filter(Boolean);
[1].includes(u as any);
[u].includes('a');
[u].indexOf('a');
[u].lastIndexOf('a');
[1].indexOf(u as any);
[l].flat();
[1].flatMap(() => l);
[[l]].flat(2);
[1].concat(l as any);
new Map([[u, 1]]);
new Set([u]);
new Map().get(u);
new Map().has(u);
new Set().add(u);
new Set().has(u);
new WeakMap().has(u as any);
Map.groupBy([1], () => u);
Object.groupBy([1], () => u);
Number.isInteger(u);
Number.isNaN(u);
Number.isFinite(u);
Number.isSafeInteger(u);
Array.isArray(l);
Object.is(u, 1);
Boolean(u);
new Boolean(u);
Object.keys(u);
Object.entries(u);
Object.assign({}, u);
Object.getPrototypeOf(u);
Object.isFrozen(u);
Object.freeze(u);
Reflect.ownKeys(u as any);
Reflect.has(u as any, 'x');
Array.from(l);
Promise.all(l);
new Uint8Array(l as any);
Object.fromEntries(l as any);
Object.prototype.toString.call(u);
new RegExp(u);
[1].values().filter(() => u as any).toArray();
[1].values().some(() => u as any);
new Uint8Array(1).some(() => u as any);
Function.prototype.toString.call(u);
Number(u);
[1, 2].sort(() => u as any);
[u, 'b'].sort();
[u, 'b'].toSorted();
new Date(u);
BigInt(u);
Symbol(u);
JSON.parse(u);
[1].at(u as any);
[1, 2].slice(u as any);
[].length = u as any;
new Error(u);
Symbol.for(u);
[1].with(u as any, 1);
[3].fill(1, u as any);
/x/.test(u);
Reflect.apply(u as any, null, []);
[1].map(u as any);
[1, 2].reduce(u as any);
"#;

#[test]
fn builtins_that_inspect_a_value_refuse_an_unknown() {
    assert_refused(BUILTINS, &["ST0104", "ST0110"]);
}

const TYPED_MISTAKES: &str = r#"
const f = u.split; f(':');
u.noSuchMethod();
-(u as any).x.y++;
u.foo;
u.lenght;
u[0].foo;
u.length.foo;
u.length[0];
l[0].map((x: any) => x);
l.trim();
u.join();
l.length.toUpperCase();
`${u}`.foo;
(u + 1).foo;
u.split(':')[0].foo;
u.split(':').foo;
u.includes('a').foo;
u.trim().join();
(u.length * 2).foo;
const { foo } = u as any;
const { foo = 1 } = u as any;
const t: any = u.trim; `${t}`;
"#;

const OPERATIONS: &str = r#"
l.map((x: any) => x);
l.forEach(() => {});
u.replace(/a/g, (x: any) => x);
u.replace({ [Symbol.replace]: () => 1 } as any, 'x');
l.push('a');
l.sort();
u.split(Symbol() as any);
u * 2n;
u - ({} as any).x;
JSON.stringify({ a: data.echo }, ['a']);
JSON.stringify({ a: data.echo }, null, '--');
Math.max(u as any, undefined as any);
let x: any = u; x++;
u + {};
u + undefined;
u + Symbol();
u + 1n;
(u as any).x = 1;
delete (u as any).x;
const a = [u]; `${a}`;
[u] + 'x';
JSON.stringify({ a: u }, (k, v) => v);
`${pw}`;
pw + 'x';
data.echo();
"#;

#[test]
fn operations_that_cannot_be_deferred_are_refused() {
    assert_refused(OPERATIONS, &["ST0110"]);
}

#[test]
fn members_and_methods_that_the_type_does_not_have_are_refused() {
    assert_refused(TYPED_MISTAKES, &["ST0112"]);
    let text = format!("{HEAD}export const out = `${{l[0].lenght}}`;\n");
    insta::assert_snapshot!(program(&text).failure(), @"
    ST0112 `list[0]` of local.Data is a string, which has no member `lenght`
      @ main.ts:6:28 +6 read here
      help: did you mean `length`?
    ");
    let text = format!("{HEAD}export const out = new File({{ path: \"a\" }}).size.toFixde(2);\n");
    insta::assert_snapshot!(program(&text).failure(), @"
    ST0112 `size` of local.File is a whole number, which has no member `toFixde`
      @ main.ts:6:49 +7 read here
      help: did you mean `toFixed`?
    ");
    let text = format!("{HEAD}const f = u.split;\nexport const out = f;\n");
    insta::assert_snapshot!(program(&text).failure(), @"
    ST0112 `split` is a method of `result` of local.RandomString#pw, which is a string; a method is not data
      help: call it: `split(…)`
    ");
}

#[test]
fn reference_of_the_wrong_type_is_refused_at_its_property() {
    let text = format!(
        "{HEAD}new RandomString({{ length: u }}, {{ id: \"a\" }});\nnew File({{ path: new File({{ path: \"b\" }}).size,\n  \
         content: `${{u}}` }}, {{ id: \"b\" }});\nnew File({{ path: l }}, {{ id: \"c\" }});\nnew File({{ path: l[0] }}, {{ id: \"d\" }});\n\
         new RandomString({{ length: u.length + 1 }}, {{ id: \"e\" }});\nnew RandomString({{ length: data.echo.n }}, {{ id: \"f\" }});\n"
    );
    insta::assert_snapshot!(program(&text).failure(), @"
    ST0106 local.RandomString#a: `length` must be a whole number, but it is a string: `result` of local.RandomString#pw, known after apply
      @ main.ts:6:20 +6 here
    ST0106 local.File#b: `path` must be a string, but it is a whole number: `size` of local.File, known after apply
      @ main.ts:7:12 +4 here
    ST0106 local.File#c: `path` must be a string, but it is a list of strings: `list` of local.Data, known after apply
      @ main.ts:9:12 +4 here
    ");
}

#[test]
fn deferred_value_above_the_size_limit_is_refused() {
    let doubled = |start: &str, step: &str| {
        let text = format!(
            "{HEAD}let s: any = {start};\nfor (let i = 0; i < 60; i++) {{\n  s = {step};\n}}\nexport const out = s;\n"
        );
        let all = program(&text).failure();
        all.lines().take(2).collect::<Vec<_>>().join("")
    };
    let steps = [
        "s + s",
        "`${s}${s}`",
        "s.concat(s)",
        "[s, s].join()",
        "JSON.stringify([s, s])",
        "(s + s).toUpperCase()",
        "String([s, [s]])",
    ];
    let found: Vec<String> = steps.iter().map(|step| format!("{step}: {}", doubled("u", step))).collect();
    insta::assert_snapshot!(found.join("\n"), @"
    s + s: ST0108 this makes a value of more than 16 MiB from a value made from `result` of local.RandomString#pw, which is known only after apply  @ main.ts:8:11 +1 not known while planning
    `${s}${s}`: ST0108 this makes a value of more than 16 MiB from a value made from `result` of local.RandomString#pw, which is known only after apply  @ main.ts:8:14 +1 not known while planning
    s.concat(s): ST0108 this makes a value of more than 16 MiB from a value made from `result` of local.RandomString#pw, which is known only after apply  @ main.ts:8:16 +1 not known while planning
    [s, s].join(): ST0108 this makes a value of more than 16 MiB from a value made from `result` of local.RandomString#pw, which is known only after apply  @ main.ts:8:7 +11 not known while planning
    JSON.stringify([s, s]): ST0108 this makes a value of more than 16 MiB from a value made from `result` of local.RandomString#pw, which is known only after apply  @ main.ts:8:7 +14 not known while planning
    (s + s).toUpperCase(): ST0108 this makes a value of more than 16 MiB from a value made from `result` of local.RandomString#pw, which is known only after apply  @ main.ts:8:12 +1 not known while planning
    String([s, [s]]): ST0108 this makes a value of more than 16 MiB from a value made from `result` of local.RandomString#pw, which is known only after apply  @ main.ts:8:7 +6 not known while planning
    ");
    // A number stays small.
    let text = format!(
        "{HEAD}let n: any = u.length;\nfor (let i = 0; i < 60; i++) n = n + n;\nexport const out = n;\n"
    );
    program(&text).graph();
}

#[test]
fn refusal_fails_the_evaluation_even_if_caught() {
    let text = format!("{HEAD}let yes = false;\ntry {{ if (u) yes = true; }} catch {{ yes = true; }}\n");
    insta::assert_snapshot!(program(&text).failure(), @"
    ST0104 this statement branches on `result` of local.RandomString#pw, which is known only after apply
      @ main.ts:7:11 +1 not known while planning
      @ main.ts:3:12 +3 local.RandomString#pw is declared here
      note: the provider sets `result` when it creates the resource; the program must declare every resource before that
      help: use a value that is known while planning: `config`, `env`, or a property that the program sets
    ");
}

#[test]
fn callback_for_a_method_of_an_unknown_is_refused_at_the_method() {
    let text = "import { Data } from \"stead/local\";\n\nfunction upper(of: Data) {\n  const list = of.list;\n  \
        return list.map((x: string) => x.toUpperCase());\n}\nexport const out = upper(new Data());\n";
    insta::assert_snapshot!(program(text).failure(), @"
    ST0110 `map` calls a function of the program on `list` of local.Data, which is known only after apply
      @ main.ts:5:15 +3 not known while planning
      @ main.ts:7:26 +3 local.Data is declared here
      note: the provider sets `list` when it creates the resource; the program must declare every resource before that
      help: use `stead.apply(value, v => v.map(…))`
    ");
}

#[test]
fn missing_property_is_refused_with_the_nearest_name() {
    let text = "import { File } from \"stead/local\";\nconst file = new File({ path: \"a\" });\n\
        export const big = { s: file.path, t: file.sise };\n";
    insta::assert_snapshot!(program(text).failure(), @"
    ST0112 local.File has no property `sise`
      @ main.ts:3:44 +4 read here
      @ main.ts:2:14 +3 the resource is declared here
      help: did you mean `size`?
    ");
}

#[test]
fn all_inputs_that_violate_their_schema_are_reported_at_their_properties() {
    let text = "import { File, RandomString } from \"stead/local\";\nnew File({ path: 1, contnt: \"x\",\n  mode: \"9\" });\n\
        const inputs: any = { length: \"8\" };\nnew RandomString(inputs);\nnew File({} as any, { id: \"f\" });\n";
    insta::assert_snapshot!(program(text).failure(), @r#"
    ST0106 local.File: local.File has no property `contnt`
      @ main.ts:2:21 +6 here
      help: did you mean `content`?
    ST0106 local.File: `mode` cannot be "9"
      @ main.ts:3:3 +4 here
      help: use one of: 0644, 0600
    ST0106 local.File: `path` must be a string, but it is a number
      @ main.ts:2:12 +4 here
    ST0106 local.RandomString: `length` must be a whole number, but it is a string
      @ main.ts:5:1 +24 here
    ST0106 local.File#f: `path` is missing
      @ main.ts:6:1 +32 here
      help: local.File needs `path`: some text
    "#);
}

#[test]
fn values_that_are_not_data_are_refused_with_their_path() {
    let text = "import { Data, File } from \"stead/local\";\nclass Point { x = 1; }\nconst cycle: any = {}; cycle.self = cycle;\n\
        const file = new File({ path: \"a\" });\n\
        new Data({ value: { f: () => 1, s: Symbol(), p: new Point(), m: new Map(), n: [new Set(), new Date(0)] } });\n\
        new Data({ value: cycle });\nnew Data({ value: file });\nnew Data({ value: [NaN, 1 / 0, 1n, undefined] });\n\
        new Data({ value: Promise.resolve(1) });\nnew Data([] as any);\nnew Data(file.size as any);\nnew Data(new Map() as any);\n\
        export const out = { p: new Point() };\n";
    insta::assert_snapshot!(program(text).failure(), @"
    ST0111 `value.f` of local.Data: a function is not data
      @ main.ts:5:12 +5 set here
      help: call it, and pass its result
    ST0111 `value.s` of local.Data: a symbol is not data
      @ main.ts:5:12 +5 set here
    ST0111 `value.p` of local.Data: an instance of Point is not data
      @ main.ts:5:12 +5 set here
      help: pass a plain object with the values that are needed
    ST0111 `value.m` of local.Data: an instance of Map is not data
      @ main.ts:5:12 +5 set here
      help: use `Object.fromEntries(map)`
    ST0111 `value.n[0]` of local.Data: an instance of Set is not data
      @ main.ts:5:12 +5 set here
      help: use `[...set]`
    ST0111 `value.n[1]` of local.Data: an instance of Date is not data
      @ main.ts:5:12 +5 set here
      help: use `date.toISOString()`
    ST0111 `value.self` of local.Data: the value contains itself
      @ main.ts:6:12 +5 set here
    ST0111 `value[0]` of local.Data: NaN cannot be stored
      @ main.ts:8:12 +5 set here
    ST0111 `value[1]` of local.Data: Infinity cannot be stored
      @ main.ts:8:12 +5 set here
    ST0111 `value[2]` of local.Data: a bigint is not data
      @ main.ts:8:12 +5 set here
    ST0111 `value[3]` of local.Data: undefined is not data
      @ main.ts:8:12 +5 set here
    ST0111 `value` of local.Data: an instance of Promise is not data
      @ main.ts:9:12 +5 set here
      help: `await` it first
    ST0111 the properties of local.Data must be a plain object, known while planning
      @ main.ts:10:1 +19 declared here
    ST0111 the properties of local.Data must be a plain object, known while planning
      @ main.ts:11:1 +26 declared here
    ST0111 the properties of local.Data must be a plain object, known while planning
      @ main.ts:12:1 +26 declared here
    ");
}

#[test]
fn duplicate_name_is_refused_with_both_positions() {
    let text = "import { Data } from \"stead/local\";\nnew Data({}, { id: \"a\" });\nnew Data({}, { id: \"a\" });\n\
        new Data({}, { gid: \"g\" });\n  new Data({}, { gid: \"g\" });\n";
    insta::assert_snapshot!(program(text).failure(), @"
    ST0105 two resources have the name `dev:main:local.Data#a`
      @ main.ts:3:1 +25 second declaration
      @ main.ts:2:1 +25 first declaration
      help: give one of them another `id`
    ST0105 two resources have the name `dev#g`
      @ main.ts:5:3 +26 second declaration
      @ main.ts:4:1 +26 first declaration
      help: a `gid` must be unique in its environment: change one of them
    ");
}
