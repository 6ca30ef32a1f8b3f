//! Syntax, imports, exceptions, limits, and the walls around a program.

mod common;

use common::program;

#[test]
fn a_syntax_error_has_the_parsers_message_and_place() {
    insta::assert_snapshot!(program("const ä = 1;\nconst x = ;\n").failure(), @"
    ST0101 Unexpected token
      @ main.ts:2:11 +1
    ");
    insta::assert_snapshot!(program("let a = 1;\nlet a = 2;\n").failure(), @"
    ST0101 Identifier `a` has already been declared
      @ main.ts:1:5 +1 `a` has already been declared here
      @ main.ts:2:5 +1 It can not be redeclared here
    ");
    insta::assert_snapshot!(program("const __stead_x = 1;\n").failure(), @"
    ST0101 `__stead_x` is a reserved name
      @ main.ts:1:7 +9 names that start with `__stead` belong to stead
      help: choose another name
    ");
}

#[test]
fn errors_of_all_files_are_reported_together() {
    let run = program("import './a';\nimport './b';\n")
        .file("a.ts", "let x = ;")
        .file("b.ts", "import fs from 'fs';\nfs.x;");
    insta::assert_snapshot!(run.failure(), @"
    ST0101 Unexpected token
      @ a.ts:1:9 +1 
    ST0107 `fs` is a module of Node.js
      @ b.ts:1:16 +4 imported here
      note: a program is evaluated by stead itself, without files, network, clock or processes
      help: use `readText`, `file` or `archive` of the module `stead`, or import a `.json` file
    ");
}

#[test]
fn imports_that_lead_nowhere_say_where_was_looked() {
    let text = "import a from './gone';\nimport b from 'lodash';\nimport c from '../x';\nimport { readFile } from \"node:fs/promises\";\n\
        import * as p from 'stead/gone';\nimport { Fil } from \"stead/local\";\nimport { two } from './one';\nimport { nothing } from 'stead';\n\
        import bad from './bad.json';\nconst d = './x';\nawait import(d);\nexport default [a, b, c, readFile, p, Fil, two, nothing, bad];\n";
    let run = program(text).file("one.ts", "export const one = 1;").file("bad.json", "{\n  \"a\": }");
    insta::assert_snapshot!(run.failure(), @"
    ST0107 an import whose path is computed
      @ main.ts:11:14 +1 this must be a string
      help: write the path out, so that the files of the program are known before it runs
    ST0102 there is no module `./gone`
      @ main.ts:1:15 +8 imported here
      note: looked for gone.ts, gone.mts, gone.js, gone.mjs, gone/index.ts, gone/index.js
    ST0102 there is no module `lodash`
      @ main.ts:2:15 +8 imported here
      note: looked for node_modules/lodash, and for a workspace of that name
      help: for a file of the project, write `./lodash`
      help: for a package, install it into the project
      help: stead's own modules are `stead` and `stead/<provider>`, such as `stead/local`
    ST0102 the import `../x` leads out of the project
      @ main.ts:3:15 +6 imported here
      help: move the file into the project; a program consists of the files below its stead.toml
    ST0107 `node:fs/promises` is a module of Node.js
      @ main.ts:4:26 +18 imported here
      note: a program is evaluated by stead itself, without files, network, clock or processes
      help: use `readText`, `file` or `archive` of the module `stead`, or import a `.json` file
    ST0102 there is no provider `gone`
      @ main.ts:5:20 +12 imported here
    ST0101 `bad.json` is not JSON: expected value at line 2 column 8
      @ bad.json:2:8 +1 here
    ST0102 `stead/local` exports no `Fil`
      @ main.ts:6:10 +3 imported here
      help: did you mean `File`?
    ST0102 `./one` exports no `two`
      @ main.ts:7:10 +3 imported here
      help: it exports: one
    ST0102 `stead` exports no `nothing`
      @ main.ts:8:10 +7 imported here
      help: it exports: Resource, all, apply, archive, base64, config, env, file, hash, namespace, nodeOf, project, readText, secret, stack, target
    ");
}

#[test]
fn a_thrown_error_has_its_place_and_the_way_there() {
    let run = program("import { parse } from './lib';\n\nfunction outer() {\n  return parse('x');\n}\n/* 🦀 */ outer();\n")
        .file("lib.ts", "interface A { x: number }\nexport function parse(text: string): A {\n  /* é */ if (text.length < 5) throw new RangeError(`bad ${text}`, { cause: new Error('deep') });\n  return { x: 1 };\n}\n");
    insta::assert_snapshot!(run.failure(), @"
    ST0103 the program threw: RangeError: bad x
      @ lib.ts:3:38 +59 thrown here
      note: called by outer at main.ts:4:10
      note: called by the module at main.ts:6:9
      note: caused by Error: deep
    ");
}

#[test]
fn places_are_right_behind_characters_of_many_bytes() {
    let text = "const f = (x: any) => x;\nconst s = f('é🦀') + f('é🦀', missing);\nexport default s;\n";
    insta::assert_snapshot!(program(text).failure(), @"
    ST0103 the program threw: ReferenceError: missing is not defined
      @ main.ts:2:29 +7 thrown here
    ");
}

#[test]
fn other_things_can_be_thrown_too() {
    insta::assert_snapshot!(program("function f() {\n  throw 'text';\n}\nf();\n").failure(), @"
    ST0103 the program threw: text
      @ main.ts:2:9 +6 thrown here
    ");
    insta::assert_snapshot!(program("const o: any = undefined;\n\no.x.y;\n").failure(), @"
    ST0103 the program threw: TypeError: cannot read property 'x' of undefined
      @ main.ts:3:1 +1 thrown here
    ");
    insta::assert_snapshot!(program("missing();\n").failure(), @"
    ST0103 the program threw: ReferenceError: missing is not defined
      @ main.ts:1:1 +7 thrown here
    ");
    insta::assert_snapshot!(program("import { config } from 'stead';\nconfig.require('db');\n").failure(), @"
    ST0103 the program threw: config `db` is not set for environment `dev`; set it in stead.toml
      @ main.ts:2:1 +14 thrown here
    ");
}

#[test]
fn asynchronous_failures_are_failures() {
    insta::assert_snapshot!(program("async function f() {\n  await null;\n  throw new Error('late');\n}\nawait f();\n").failure(), @"
    ST0103 the program threw: late
      @ main.ts:3:9 +17 thrown here
    ");
    insta::assert_snapshot!(program("async function f() {\n  await null;\n  throw new Error('unheard');\n}\nf();\n").failure(), @"
    ST0103 the program threw: unheard
      @ main.ts:3:9 +20 thrown here
    ");
    insta::assert_snapshot!(program("const x = 1;\nawait new Promise(() => {});\n").failure(), @"
    ST0103 the program waits for a promise that never settles
      @ main.ts:2:1 +27 it waits at an `await` such as this one
      help: every promise must be resolved by the program itself: nothing comes from outside
    ");
    assert!(
        program("async function f() { throw new Error('heard'); }\nf().catch(() => {});\n")
            .evaluate()
            .is_ok()
    );
}

#[test]
fn what_does_not_end_is_ended() {
    insta::assert_snapshot!(program("let i = 0;\nfor (;;) {\n  i++;\n}\n").limits(|l| l.evaluation_interrupts = 100).failure(), @"
    ST0108 the program runs too long
      @ main.ts:2:1 +3 this is the loop that it was in, or came to
      note: it was stopped after 100 counts of about ten thousand steps each
      help: look for a loop that does not end
    ");
    insta::assert_snapshot!(program("function f(): number {\n  return 1 + f();\n}\nf();\n").failure(), @"
    ST0108 functions call each other too deeply
      @ main.ts:2:14 +1 thrown here
      help: look for a function that calls itself without end
    ");
    insta::assert_snapshot!(program("let s = 'x';\nfor (;;) {\n  s += s;\n}\n").limits(|l| l.evaluation_heap = 32 << 20).failure(), @"
    ST0108 the program takes too much memory
      @ main.ts:3:8 +1 thrown here
      note: it may take 32 MiB
      help: look for a list or a text that grows without end
    ");
    let many = "import { Data } from 'stead/local';\nfor (let i = 0; i < 9; i++) new Data();\n";
    insta::assert_snapshot!(program(many).limits(|l| l.resources = 5).failure(), @"
    ST0108 the program declares more than 5 resources
      @ main.ts:2:29 +10 made here
    ");
    let large = "import { Data } from 'stead/local';\nlet x: any = ['y'.repeat(100)];\nfor (let i = 0; i < 30; i++) x = [x, x];\nnew Data({ value: x });\n";
    insta::assert_snapshot!(program(large).limits(|l| l.property_bytes = 10_000).failure(), @"
    ST0108 `value[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][1][0][1][1][1][1][1][0]` of local.Data: it is larger than a property may be
      @ main.ts:4:12 +5 set here
    ");
}

#[test]
fn loops_that_hide_are_ended_too() {
    let text = "for (;;) { try { for (;;) {} } catch {} }\n";
    assert_eq!(program(text).limits(|l| l.evaluation_interrupts = 100).code(), "ST0108");
    let jobs = "const f = (): unknown => Promise.resolve().then(f);\nf();\n";
    assert_eq!(program(jobs).limits(|l| l.evaluation_interrupts = 100).code(), "ST0108");
    let regex = "/^(a+)+$/.test('a'.repeat(40) + 'b');\n";
    assert_eq!(program(regex).limits(|l| l.evaluation_interrupts = 100).code(), "ST0108");
    let head = "import { RandomString } from 'stead/local';\nlet s: string = new RandomString().result;\n";
    let adds = format!("{head}for (;;) s += 'x';\n");
    assert_eq!(program(&adds).limits(|l| l.evaluation_heap = 32 << 20).code(), "ST0108");
    let lines = "for (;;) console.log('x'.repeat(1000));\n";
    assert_eq!(program(lines).limits(|l| l.evaluation_heap = 8 << 20).code(), "ST0108");
}

#[test]
fn deep_recursion_within_reason_works() {
    assert!(program("function f(n: number): number { return n === 0 ? 0 : 1 + f(n - 1); }\nexport const d = f(10000);\n").evaluate().is_ok());
}

#[test]
fn clock_randomness_and_code_from_text_are_refused() {
    let cases = [
        "Date.now();",
        "new Date();",
        "Date();",
        "Math.random();",
        "eval('1');",
        "Function('return 1')();",
        "(() => {}).constructor('return 1')();",
        "(async () => {}).constructor('1')();",
        "(function* () {}).constructor('1')();",
        "new Function('x');",
        "(class {}).constructor('1');",
    ];
    let wrong: Vec<String> = cases
        .iter()
        .map(|case| (case, program(&format!("\n{case}\n")).failure()))
        .filter(|(_, text)| {
            !text.starts_with("ST0103 a program cannot use") || !text.contains("@ main.ts:2:")
        })
        .map(|(case, text)| format!("{case} {text}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    insta::assert_snapshot!(program("const x = 1 + Math.random();\n").failure(), @"
    ST0103 a program cannot use Math.random()
      @ main.ts:1:15 +11 here
      help: use `new local.RandomString(…)`, which keeps its value, or a value of `config`
    ");
}

#[test]
fn nothing_of_the_host_is_in_reach() {
    let text = "export const found = Object.getOwnPropertyNames(globalThis).sort();\n";
    let graph = program(text).graph();
    insta::assert_snapshot!(common::show(&graph).replace("\",\"", "\n"), @r#"
    > found = ["AggregateError
    Array
    ArrayBuffer
    AsyncDisposableStack
    BigInt
    BigInt64Array
    BigUint64Array
    Boolean
    DataView
    Date
    DisposableStack
    Error
    EvalError
    Float16Array
    Float32Array
    Float64Array
    Function
    Infinity
    Int16Array
    Int32Array
    Int8Array
    Iterator
    JSON
    Map
    Math
    NaN
    Number
    Object
    Promise
    RangeError
    ReferenceError
    Reflect
    RegExp
    Set
    String
    SuppressedError
    Symbol
    SyntaxError
    TextDecoder
    TextEncoder
    TypeError
    URIError
    URL
    URLSearchParams
    Uint16Array
    Uint32Array
    Uint8Array
    Uint8ClampedArray
    WeakMap
    WeakSet
    atob
    btoa
    console
    decodeURI
    decodeURIComponent
    encodeURI
    encodeURIComponent
    escape
    eval
    globalThis
    isFinite
    isNaN
    parseFloat
    parseInt
    queueMicrotask
    structuredClone
    undefined
    unescape"]
    "#);
}

#[test]
fn resources_cannot_be_made_behind_steads_back() {
    let head = "import { Data } from 'stead/local';\nimport { Resource } from 'stead';\n";
    insta::assert_snapshot!(program(&format!("{head}Reflect.construct(Data, []);\n")).failure(), @"
    ST0103 the program threw: TypeError: a resource is made with `new`, and its constructor calls `super` once
      @ main.ts:3:1 +17 thrown here
    ");
    insta::assert_snapshot!(program(&format!("{head}new (Resource as any)();\n")).failure(), @"
    ST0103 the program threw: TypeError: `Resource` itself cannot be made; derive a class from it
      @ main.ts:3:6 +8 thrown here
    ");
    insta::assert_snapshot!(program(&format!("{head}new (class extends Resource {{}})();\n")).failure(), @"
    ST0103 a resource class needs a name
      @ main.ts:3:1 +33 made here
      help: the class is part of the names of its resources: write `class Name extends …`
    ");
    insta::assert_snapshot!(program(&format!("{head}class A extends Data {{ constructor() {{ super(); throw new Error('x'); }} }}\ntry {{ new A(); }} catch {{}}\n")).failure(), @"
    ST0103 the constructor of this local.Data did not finish
      @ main.ts:4:7 +7 made here
      note: the program caught what the constructor threw, and went on without the resource
      help: decide before `new` whether the resource is made, instead of catching the error
    ");
    insta::assert_snapshot!(program(&format!("{head}const d: any = new Data({{ value: 1 }});\nd.value = 2;\n")).failure(), @"
    ST0103 the program threw: TypeError: 'value' is read-only
      @ main.ts:4:1 +1 thrown here
    ");
}

#[test]
fn polluted_prototypes_do_not_reach_the_graph() {
    let text = "import { Data } from 'stead/local';\n(Object.prototype as any).evil = 1;\n\
        Array.prototype[Symbol.iterator] = function* () { yield 666; } as any;\nArray.prototype.push = () => 0;\n\
        Reflect.construct = (() => ({})) as any; Object.defineProperty = (() => ({})) as any;\n\
        new Data({ value: { a: [1] } }, { id: 'x' });\n";
    insta::assert_snapshot!(common::show(&program(text).graph()), @r#"dev:main:local.Data#x @main.ts:6:1 value={"a":[1]}"#);
}

#[test]
fn an_output_that_is_not_data_points_at_its_export() {
    let text = "import * as local from 'stead/local';\nconst a = [undefined];\nexport { a as b };\nexport const c = 1,\n  d = { x: new Map() };\nexport default [() => 1];\nexport * from './more';\nlocal;\n";
    let run = program(text).file("more.ts", "export const e = Symbol('x');\n");
    insta::assert_snapshot!(run.failure(), @"
    ST0111 the output `b`, at `[0]`: undefined is not data
      @ main.ts:3:10 +6 exported here
    ST0111 the output `d`, at `x`: an instance of Map is not data
      @ main.ts:5:3 +1 exported here
      help: use `Object.fromEntries(map)`
    ST0111 the output `default`, at `[0]`: a function is not data
      @ main.ts:6:1 +14 exported here
      help: call it, and pass its result
    ST0111 the output `e`: a symbol is not data
      @ main.ts:7:1 +23 exported here
    ");
}

#[test]
fn what_is_no_class_is_underlined() {
    let text = "import * as local from 'stead/local';\nconst ids = ['a'];\nids.map((id) => [id, new local.Fil({ path: id })]);\n";
    insta::assert_snapshot!(program(text).failure(), @"
    ST0103 the program threw: TypeError: `local.Fil` is not a class; did you mean `local.File`?
      @ main.ts:3:22 +27 thrown here
      note: called by the module at main.ts:3:1
    ");
}
