//! Determinism, and hostile programs: each gives the right graph or a clear error, within limits.
#![allow(clippy::unwrap_used)]

use crate::common::{Run, names, program, show};

const HEAD: &str = "import { Resource, config, hash } from 'stead';\nimport { Data, RandomString } from 'stead/local';\n[Resource, config, hash];\n";

/// Declarations that follow the hostile code, with unknowns in text, JSON, lists and closures.
const TAIL: &str = r#"
class Group extends Resource {
  constructor(id: string) { super(id); this.fill(['a', 'b']); }
  fill(ids: string[]) { for (let i = 0; i < ids.length; i++) new Data({ value: { at: i } }, { id: ids[i] }); }
}
const group = new Group("g");
const pw = new RandomString({ length: 8 }, { id: "pw" });
const late = (async () => { await null; return new Data({ value: `late ${pw.result}` }, { id: "late", dependsOn: group }); })();
new Data({ value: [pw.result, "x" + pw.result, `${pw.result}!`, JSON.stringify({ z: pw.result, a: [1] }), config.get("list")] }, { id: "all" });
await late;
export const out = { pw: pw.result, list: [1, [2, "three"]], text: [pw.result, 1].join("-") };
"#;

fn dump(run: Run) -> String {
    let graph = run.graph();
    serde_json::to_string(&graph).unwrap()
}

fn hostile(text: &str) -> Run {
    let list = serde_json::from_str("[1,{\"token\":\"t\",\"0\":true}]").unwrap();
    program(&format!("{HEAD}{text}\n{TAIL}")).config("list", list)
}

#[test]
fn repeated_runs_give_the_same_bytes() {
    let first = dump(hostile(""));
    for _ in 0..5 {
        assert_eq!(dump(hostile("")), first);
    }
    let names = names(&hostile("").graph());
    insta::assert_snapshot!(names.join("\n"), @"
    dev:main:Group#g
    dev:main/Group#g:local.Data#a
    dev:main/Group#g:local.Data#b
    dev:main:local.RandomString#pw
    dev:main:local.Data#all
    dev:main:local.Data#late
    ");
}

#[test]
fn order_of_files_and_keys_does_not_change_the_graph() {
    let main = "import { b } from './b';\nimport { a } from './a';\nexport const all = [a, b];\n";
    let a =
        "import { Data } from 'stead/local';\nexport const a = new Data({ value: { y: 1, x: 2 } }).echo;\n";
    let one = program(main).file("a.ts", a).file("b.ts", &a.replace("a =", "b ="));
    let two = program(main)
        .file("b.ts", &a.replace("a =", "b ="))
        .file("a.ts", a)
        .file("zzz.ts", "")
        .file("0.ts", "");
    assert_eq!(dump(one), dump(two));
}

/// Each line changes a built-in or class that the prelude might depend on.
const POLLUTION: &[&str] = &[
    "Array.prototype.map = (() => { throw new Error('map'); }) as any;",
    "Array.prototype.push = Array.prototype.slice = Array.prototype.concat = (() => []) as any;",
    "Array.prototype[Symbol.iterator] = function* () { yield 666; } as any;",
    "Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true });",
    "(Object.prototype as any).x = 1; (Object.prototype as any).id = 'evil'; (Object.prototype as any).value = 'evil';",
    "Object.defineProperty(Object.prototype, 'get', { get() { return () => 'evil'; } });",
    "(Object.prototype as any).get = () => 'evil'; (Object.prototype as any).set = () => 'evil';",
    "(Object.prototype as any).enumerable = false; (Object.prototype as any).writable = true; (Object.prototype as any).configurable = true;",
    "for (const key of ['node', 'target', 'type', 'declared', 'inputs', 'options', 'name', 'getter', 'token', 'members', '0', '1', 'length']) Object.defineProperty(Object.prototype, key, { set() {}, get() { return 'evil'; }, configurable: true });",
    "for (const key of ['0', '1', '2']) Object.defineProperty(Array.prototype, key, { set() {}, get() { return 'evil'; }, configurable: true });",
    "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = (() => 'evil') as any;",
    "(Function.prototype as any)[Symbol.hasInstance] ??= null;",
    "Promise.prototype.then = (() => { throw new Error('then'); }) as any;",
    "Promise.resolve = Promise.reject = (() => 'evil') as any; (globalThis as any).Promise = undefined;",
    "(Object.prototype as any).toJSON = undefined; (Object.prototype as any).then = undefined;",
    "String.prototype.split = String.prototype.replace = String.prototype.slice = (() => ['evil']) as any;",
    "String.prototype.toString = String.prototype.valueOf = () => 'evil';",
    "WeakMap.prototype.get = WeakMap.prototype.has = WeakMap.prototype.set = (() => 'evil') as any; WeakSet.prototype.has = WeakSet.prototype.add = (() => true) as any;",
    "Map.prototype.get = Map.prototype.set = Set.prototype.has = (() => 'evil') as any;",
    "Object.defineProperty = Object.freeze = Object.create = Object.hasOwn = Object.keys = Object.entries = (() => ({})) as any;",
    "Reflect.construct = Reflect.apply = Reflect.ownKeys = Reflect.getPrototypeOf = Reflect.defineProperty = (() => ({})) as any;",
    "Symbol.prototype.toString = () => 'evil'; Error.prototype.toString = () => 'evil'; Error.captureStackTrace = (() => {}) as any;",
    "for (const name of ['Array', 'Object', 'Reflect', 'Symbol', 'JSON', 'Map', 'WeakMap', 'Error', 'TypeError', 'String', 'console', 'TextEncoder']) { if (name !== 'JSON') delete (globalThis as any)[name]; }",
    "Object.freeze(globalThis); Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(Function.prototype); Object.freeze(Promise.prototype);",
    "String.prototype.concat = (() => 'evil') as any;",
    "RegExp.prototype.exec = RegExp.prototype.test = (() => null) as any;",
    "Object.setPrototypeOf(Array.prototype, null);",
    "Object.defineProperty(Data, 'name', { value: 'Evil' });",
    "Object.defineProperty(Data, Symbol.hasInstance, { value: () => false });",
    "Object.setPrototypeOf(Data, class {} as any);",
    "(Data as any).prototype = {}; (Data.prototype as any).value = 'evil';",
    "Object.defineProperty(Data.prototype, 'value', { get: () => 'evil' });",
    "Object.defineProperty(Resource.prototype, 'constructor', { value: 1 });",
];

#[test]
fn modified_builtins_do_not_change_the_graph() {
    let clean = show(&hostile("").graph()).replace("@main.ts:", "@");
    let shift = |text: &str| -> String {
        // Each case is one line, so positions do not move.
        text.replace("@main.ts:", "@")
    };
    let mut wrong = Vec::new();
    for case in POLLUTION {
        match hostile(case).evaluate() {
            Ok(evaluation) => {
                let text = shift(&show(&evaluation.graph));
                if text != clean {
                    wrong.push(format!("{case}\n{text}"));
                }
            }
            Err(failure) => {
                let text = crate::common::diagnostics(&failure.diagnostics);
                // The hostile line itself may fail; the prelude must not.
                if !text.contains("@ main.ts:4:") || !text.starts_with("ST0103") {
                    wrong.push(format!("{case}\n{text}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\nclean:\n{clean}", wrong.join("\n"));
}

/// Functions from text are instrumented, so they cannot inspect an unknown either.
#[test]
fn code_from_text_is_instrumented() {
    let makers = [
        "Function",
        "new Function",
        "({}).constructor.constructor",
        "[].map.constructor",
        "(Data as any).constructor",
        "(new Data() as any).constructor.constructor",
        "(config.get as any).constructor",
        "(console.log as any).constructor",
        "(hash as any).constructor",
        "new (class extends (Function as any) {})",
        "((p: any, b: any) => Reflect.construct(Object.getPrototypeOf(() => {}).constructor, [p, b]))",
    ];
    for maker in makers {
        let text = format!(
            "{HEAD}const f: any = ({maker} as any)('a', 'return a + 1');\nexport const two = f(1);\n"
        );
        let text = text
            .replace("(new Function as any)", "new (Function as any)")
            .replace("(new (class", "new (class")
            .replace("{}) as any)('a'", "{})('a'");
        assert!(show(&program(&text).graph()).contains("> two = 2"), "{maker}");
        let text = format!(
            "{HEAD}const f: any = ({maker} as any)('a', 'if (a) return 1; return 2;');\nexport const two = f(new RandomString().result);\n"
        );
        let text = text
            .replace("(new Function as any)", "new (Function as any)")
            .replace("(new (class", "new (class")
            .replace("{}) as any)('a'", "{})('a'");
        let refused = program(&text).failure();
        assert!(
            refused.starts_with("ST0104 this statement branches on `result`")
                && refused.contains("@ main.ts:4:"),
            "{maker}\n{refused}"
        );
    }
    let late = "const f: any = (async () => {}).constructor('a', 'return await a');\nexport const x = await f(3);\nexport const y = [...(function* () {}).constructor('yield 1; yield 2')()];\n";
    assert_eq!(show(&program(&format!("{HEAD}{late}")).graph()), "> x = 3\n> y = [1,2]\n");
    let invalid = "let name = ''; try { new Function('a b', ''); } catch (e: any) { name = e.name; }\nexport { name };\n";
    assert_eq!(show(&program(invalid).graph()), "> name = \"SyntaxError\"\n");
    let unknown = program(&format!("{HEAD}new Function(new RandomString().result);\n")).failure();
    assert!(unknown.starts_with("ST0110 `Function` needs"), "{unknown}");
}

#[test]
fn getters_run_once_and_create_their_resources_once() {
    let text = r#"import { Data, File } from "stead/local";
let count = 0;
const data = new Data({ get value() { count++; return new File({ path: "made" }, { id: `f${count}` }).path; } }, { id: "d" });
class Named extends Data { static get name() { count += 10; return "Other"; } child = new Data({}, { id: "child" }); }
new Named({ value: 1 }, { get id() { count += 100; return "n"; } });
export const seen = [count, data.value];
"#;
    insta::assert_snapshot!(show(&program(text).graph()), @r#"
    dev:main:local.Data#d @main.ts:3:14 value="made"
    dev:main/Data#d:local.File#f1 @main.ts:3:55 in 0 path="made"
    dev:main:local.Data#n @main.ts:5:1 value=1
    dev:main/Other#n:local.Data#child @main.ts:4:87 in 2
    > seen = [111,"made"]
    "#);
}

#[test]
fn classes_that_imitate_resources_are_refused() {
    let cases = [
        "class Fake {} Object.setPrototypeOf(Fake, Data); new (Fake as any)();",
        "function Old() {} Object.setPrototypeOf(Old, Resource); new (Old as any)();",
        "class Twice extends Data { constructor() { super(); Reflect.construct(Data, [], Twice); } } new Twice();",
        "class Borrow extends Data { constructor() { super(); } } Reflect.construct(Borrow, []);",
        "class Other extends Data { constructor() { new Data(); Reflect.construct(Data, [], Other); super(); } } new Other();",
    ];
    let mut wrong = Vec::new();
    for case in cases {
        let text = match program(&format!("{HEAD}{case}\n")).evaluate() {
            Ok(evaluation) => format!("no failure: {}", show(&evaluation.graph)),
            Err(failure) => crate::common::diagnostics(&failure.diagnostics),
        };
        if !text.starts_with("ST0103") || !text.contains("@ main.ts:4:") {
            wrong.push(format!("{case}\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn excessive_programs_are_stopped_with_a_code() {
    let cases = [
        ("'x'.repeat(2 ** 30);", "ST0108"),
        ("let s = 'x'.repeat(100); for (;;) s = s.replaceAll('x', 'x'.repeat(1000));", "ST0108"),
        ("'x'.padStart(2 ** 30 - 10, 'y');", "ST0108"),
        ("const a: unknown[] = []; for (;;) a.push({});", "ST0108"),
        ("Array.from({ length: 2 ** 31 });", "ST0108"),
        ("new Array(2 ** 28).fill(0);", "ST0108"),
        ("new Uint8Array(2 ** 30);", "ST0108"),
        ("const m = new Map(); for (let i = 0; ; i++) m.set(i, i);", "ST0108"),
        ("[...(function* () { for (;;) yield 1; })()];", "ST0108"),
        ("/(x+x+)+y/.test('x'.repeat(50));", "ST0108"),
        ("const f = (n: number): number => f(n + 1) + 1; f(0);", "ST0108"),
        // The engine's cycle check is quadratic in the depth: most of the stack is used up before.
        (
            "let deep: any = []; for (let i = 0; i < 1e5; i++) deep = [deep]; const f = (n: number): any => (n === 0 ? JSON.stringify(deep) : f(n - 1)); f(20000);",
            "ST0108",
        ),
        ("JSON.parse('['.repeat(1e6));", "ST0108"),
        ("let deep: any = []; for (let i = 0; i < 3e5; i++) deep = [deep]; structuredClone(deep);", "ST0108"),
        ("let deep: any = []; for (let i = 0; i < 3e5; i++) deep = [deep]; `${deep}`;", "ST0108"),
        (
            "let deep: any = []; for (let i = 0; i < 1e5; i++) deep = [deep]; new Data({ value: deep });",
            "ST0111",
        ),
        ("class A { get x(): any { return this.x; } } new A().x;", "ST0108"),
        ("const o: any = {}; o.toString = () => `${o}`; `${o}`;", "ST0108"),
        ("async function f() { for (;;) await null; } await f();", "ST0108"),
        ("async function f(): Promise<void> { await null; return f(); } await f();", "ST0108"),
        ("const loop = () => queueMicrotask(loop); loop();", "ST0108"),
        ("for await (const x of (async function* () { for (;;) yield 1; })()) x;", "ST0108"),
        ("const p: any = { then(r: any) { queueMicrotask(() => r(p)); } }; await p;", "ST0108"),
        ("const a: any[] = []; a[2 ** 32 - 2] = 1; new Data({ value: a });", "ST0111"),
        ("const a: any[] = []; a[2 ** 32 - 2] = 1; a.indexOf(2);", "ST0108"),
        ("const a: any[] = []; a[2 ** 32 - 2] = 1; a.join();", "ST0108"),
        ("const a: any[] = []; a[2 ** 32 - 2] = 1; a.forEach(() => {});", "ST0108"),
        ("const a: any[] = []; a[2 ** 32 - 2] = 1; a.reverse();", "ST0108"),
        ("const a: any[] = []; a[2 ** 32 - 2] = 1; a.sort();", "ST0108"),
        ("const a: any[] = []; a[2 ** 32 - 2] = 1; [...a];", "ST0108"),
        ("const a: any[] = []; a.length = 2 ** 32 - 1; a.fill(1);", "ST0108"),
        ("const a: any[] = []; a.length = 2 ** 32 - 1; a.includes(1);", "ST0108"),
        ("Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);", "ST0108"),
        ("export const a: any[] = []; a.length = 2 ** 32 - 1;", "ST0111"),
    ];
    let mut wrong = Vec::new();
    for (case, code) in cases {
        let started = std::time::Instant::now();
        let run = program(&format!("{HEAD}{case}\n")).limits(|limits| {
            limits.evaluation_heap = 64 << 20;
            limits.evaluation_interrupts = 200;
        });
        let text = match run.evaluate() {
            Ok(evaluation) => format!("no failure: {:.200}", show(&evaluation.graph)),
            Err(failure) => crate::common::diagnostics(&failure.diagnostics),
        };
        let seconds = started.elapsed().as_secs();
        if !text.starts_with(code) || seconds > 20 {
            wrong.push(format!("{seconds} s: {case}\n{:.600}", text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn stopped_program_has_a_position() {
    let failure = |text: &str, heap: usize, interrupts: u64| {
        let run = program(&format!("{HEAD}{text}")).limits(|limits| {
            limits.evaluation_heap = heap;
            limits.evaluation_interrupts = interrupts;
        });
        run.failure()
    };
    let endless = "function spin() {\n  for (;;) {}\n}\nspin();\n";
    insta::assert_snapshot!(failure(endless, 128 << 20, 50), @"
    ST0108 the program runs too long
      @ main.ts:4:1 +8 last known position
      @ main.ts:5:3 +3 probably in this loop
      note: it was stopped after about 500000 steps
      note: called by the module at main.ts:7:1
      help: check for a loop that does not end
    ");
    let late = "async function spin() {\n  await null;\n  for (;;) {}\n}\nawait spin();\n";
    insta::assert_snapshot!(failure(late, 128 << 20, 50), @"
    ST0108 the program runs too long
      @ main.ts:5:3 +5 last known position
      @ main.ts:6:3 +3 probably in this loop
      note: it was stopped after about 500000 steps
      help: check for a loop that does not end
    ");
    let grows = "const all: unknown[] = [];\nfor (;;) {\n  all.push({ size: [all.length] });\n}\n";
    let text = failure(grows, 16 << 20, 5000);
    assert!(text.starts_with("ST0108 the program uses too much memory\n  @ main.ts:"), "{text}");
    assert!(text.contains("@ main.ts:5:1 +3 probably in this loop\n"), "{text}");
}

/// The engine loses an allocation failure inside a job: no promise settles.
#[test]
fn memory_limit_inside_a_job_is_reported() {
    let chains = [
        "async function f(): Promise<void> { await null; return f(); } await f();",
        "const p: any = { then(r: any) { queueMicrotask(() => r(p)); } }; const all = []; for (;;) { all.push(p); await null; }",
        "await new Promise(() => { const more = (): unknown => Promise.all([null, null]).then(() => [more(), more()]); more(); });",
    ];
    for chain in chains {
        for heap in [6, 7, 8, 9, 12, 16] {
            let run = program(&format!("{HEAD}{chain}\n")).limits(|limits| {
                limits.evaluation_heap = heap << 20;
                limits.evaluation_interrupts = 100_000;
            });
            let text = run.failure();
            assert!(
                text.starts_with("ST0108 the program uses too much memory"),
                "{heap} MiB: {chain}\n{text}"
            );
        }
    }
}

#[test]
fn exception_in_a_microtask_is_reported() {
    let text = "queueMicrotask(() => {\n  throw new Error('late');\n});\n";
    insta::assert_snapshot!(program(text).failure(), @"
    ST0103 the program threw: late
      @ main.ts:2:9 +17 thrown here
    ");
}

#[test]
fn holes_of_sparse_arrays_are_reported() {
    insta::assert_snapshot!(program(&format!("{HEAD}const a: any[] = []; a[3] = 1;\nnew Data({{ value: a }});\n")).failure(), @"
    ST0111 `value[0]` of local.Data: undefined is not data
      @ main.ts:5:12 +5 set here
    ST0111 `value[1]` of local.Data: undefined is not data
      @ main.ts:5:12 +5 set here
    ST0111 `value[2]` of local.Data: undefined is not data
      @ main.ts:5:12 +5 set here
    ");
}
