//! Programs whose values came out wrong without an error: each gives the value of Node.js, or is refused.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use stead_model::{Input, KnownOutputs, Name, NodeId, Value, resolve};

use crate::common::{Run, diagnostics, program};

const LOCAL: &str = "import * as local from \"stead/local\";\nimport { apply } from \"stead\";\n\
    const d: any = { output: new local.Data({ value: 1 }).echo };\nconst e: any = { output: new local.Data({ value: 2 }).echo };\n[apply, e];\n";

/// Outputs of the resources after apply.
struct Outputs(Value);

impl KnownOutputs for Outputs {
    fn property(&self, _: NodeId, _: &str) -> Result<Option<Value>, stead_model::EvalError> {
        Ok(Some(self.0.clone()))
    }

    fn name(&self, _: NodeId) -> Option<&Name> {
        None
    }
}

/// Returns an output of a program after apply as JSON, where `d.output` has a value, or the code of its refusal.
fn after_apply(text: &str, value: &str, output: &str) -> String {
    let evaluation = match program(&format!("{LOCAL}{text}")).evaluate() {
        Ok(evaluation) => evaluation,
        Err(failure) => {
            let text = diagnostics(&failure.diagnostics);
            return text.split_whitespace().next().unwrap_or_default().to_owned();
        }
    };
    let graph = &evaluation.graph;
    let outputs = Outputs(serde_json::from_str(value).unwrap());
    match resolve(&graph.outputs[output], &graph.exprs, &outputs, &*evaluation.functions) {
        Ok(Some(Input::Known(value))) => value.to_json(),
        other => format!("{other:?}"),
    }
}

/// Asserts that a program with known values only gives these outputs.
fn gives(text: &str, output: &str, wanted: &str) {
    gives_in(program(text), output, wanted);
}

fn gives_in(run: Run, output: &str, wanted: &str) {
    let graph = run.graph();
    assert_eq!(graph.outputs[output].as_known().map(Value::to_json).as_deref(), Some(wanted), "{output}");
}

fn refused(text: &str, code: &str) {
    assert_eq!(after_apply(text, "1", "v"), code, "{text}");
}

#[test]
fn results_of_next_are_the_objects_that_the_program_returns() {
    let order = "const log: any[] = []; const it: any = { i: 0, [Symbol.asyncIterator]() { return this; }, next() { \
        const done = this.i++ === 2; return Promise.resolve({ done, value: this.i }); } }; await Promise.all([(async () => { \
        for await (const x of it) log.push(\"a\" + x); log.push(\"end\"); })(), (async () => { for (let i = 0; i < 6; i++) { \
        await null; log.push(\"b\" + i); } })()]); export const o = log.join();\n";
    gives(order, "o", "\"a1,b0,a2,b1,end,b2,b3,b4,b5\"");
    let page = "class Page { items = [1, 2]; get done() { return false; } } const page = new Page(); const pager: any = { next: () => page }; \
        const p = Promise.resolve(1), q = { next() { return p; } }; \
        export const r = [pager.next() === page, pager.next().items?.length ?? 0, q.next() === p];\n";
    gives(page, "r", "[true,2,true]");
}

#[test]
fn iterators_of_the_program_work_as_in_node() {
    let text = "
const calls: string[] = [];
class Lines { constructor(private n: number) {} [Symbol.iterator]() { let i = 0; const n = this.n; return {
  next: (...a: any[]) => { calls.push(`next${a.length}`); return { get done() { calls.push('done'); return i++ >= n; }, get value() { calls.push('value'); return i; } }; },
  return(...a: any[]) { calls.push(`return${a.length}`); return {}; } }; } }
const out: any[] = [];
for (const x of new Lines(2)) out.push(x);
for (const x of new Lines(9)) { out.push(x); break; }
out.push([...new Lines(2)], Math.max(...new Lines(3)));
const [a, b] = new Lines(5); out.push(a, b);
function* inner(): any { const got = yield* { [Symbol.iterator]: () => ({ next: (v: any) => ({ done: v === 2, value: v }), throw: (v: any) => ({ done: true, value: `t${v}` }) }) } as any; return got; }
const g = inner(); out.push(g.next(), g.next(1), g.next(2));
const h = inner(); h.next(); out.push(h.throw(7));
const twice = { *[Symbol.iterator]() { yield ['p', 1]; yield ['q', 2]; } };
out.push(Array.from(twice), Object.fromEntries(twice), new Map(twice).size, new Set(twice).size, await Promise.all(twice), Array.from({ length: 1, 0: 7 } as any));
let failed: any; try { for (const x of {} as any) out.push(x); } catch (e) { failed = (e as any).constructor.name; }
const from: any = { next() { return { done: true } }, [Symbol.iterator]() { return this; } }; out.push([...from]);
class Own extends Array {} out.push([...Own.from([1, 2])]);
for (const [k, v] of new Map([['k', 1]])) out.push(k, v);
for (const x of new Set([3]).values()) out.push(x);
for (const x of (function* () { yield 4; })()) out.push(x);
for (const x of 'ab') out.push(x);
for await (const x of (async function* () { yield 5; })()) out.push(x);
for await (const x of [Promise.resolve(6)]) out.push(x);
export { out, calls, failed };
";
    gives(
        text,
        "out",
        "[1,2,1,[1,2],3,1,2,{\"done\":false},{\"done\":false,\"value\":1},{\"done\":true,\"value\":2},{\"done\":true,\"value\":\"t7\"},[[\"p\",1],[\"q\",2]],{\"p\":1,\"q\":2},2,2,[[\"p\",1],[\"q\",2]],[7],[],[1,2],\"k\",1,3,4,\"a\",\"b\",5,6]",
    );
    gives(text, "failed", "\"TypeError\"");
    let round = "\"next0\",\"done\",\"value\"";
    let whole = |n: usize| format!("{}\"next0\",\"done\"", format!("{round},").repeat(n));
    let calls =
        format!("[{},{round},\"return0\",{},{},{round},{round},\"return0\"]", whole(2), whole(2), whole(3));
    gives(text, "calls", &calls);
}

#[test]
fn unknown_end_of_an_iteration_is_refused_whatever_makes_it() {
    let alias = "const r: any = { value: 1 }; r.done = d.output.f; const step = () => r; const seen: any[] = []; \
        for (const x of { [Symbol.iterator]: () => ({ next: step }) } as any) { seen.push(x); break; } export const v = seen;\n";
    refused(alias, "ST0104");
    let getter = "const step = () => ({ get done() { return d.output; }, value: 1 }); \
        export const v = [...({ [Symbol.iterator]: () => ({ next: step }) } as any)];\n";
    refused(getter, "ST0104");
    for builtin in ["Array.from(it)", "[...new Set(it)]", "Object.fromEntries(it)", "[await Promise.all(it)]"]
    {
        refused(
            &format!(
                "const r: any = {{ value: [1, 2] }}; r.done = d.output; const step = () => r; \
                 const it: any = {{ [Symbol.iterator]: () => ({{ next: step }}) }}; export const v = {builtin};\n"
            ),
            "ST0104",
        );
    }
    let waiting = "const r: any = { value: 1 }; r.done = d.output; const step = async () => r; const seen: any[] = []; \
        for await (const x of { [Symbol.asyncIterator]: () => ({ next: step }) } as any) seen.push(x); export const v = seen;\n";
    refused(waiting, "ST0104");
}

#[test]
fn getter_of_the_global_object_runs_once() {
    let text = "let n = 0; Object.defineProperty(globalThis, \"tick\", { get: () => ++n }); declare const tick: number; \
        export const a = [tick - 1, tick + 0, `${tick}`, n]; export const b = [typeof tick, n, tick ? n : 0, n, 1 + tick];\n";
    gives(text, "a", "[0,2,\"3\",3]");
    gives(text, "b", "[\"number\",4,5,5,7]");
    gives("declare const gone: any; export const a = typeof gone;\n", "a", "\"undefined\"");
    let with = "let n = 0; const o = { get tick() { return ++n; } }; with (o) { exports.a = [tick - 1, `${tick}`, n]; }\n";
    let run = program("import { a } from './with.cjs';\nexport { a };\n").file("with.cjs", with);
    gives_in(run, "a", "[0,\"2\",2]");
}

#[test]
fn function_of_any_name_that_converts_an_object_is_checked() {
    let give = "const give = () => d.output;";
    refused(&format!("{give} const o: any = {{}}; o.valueOf = give; export const v = o + \"\";\n"), "ST0110");
    refused(&format!("{give} export const v = JSON.stringify({{ a: {{ toJSON: give }} }});\n"), "ST0110");
    refused(&format!("{give} class A {{ toString = give; }} export const v = `${{new A()}}`;\n"), "ST0110");
    refused("const o: any = {}; o.toString = () => d.output; export const v = String(o);\n", "ST0110");
    refused(
        &format!("{give} const o: any = {{}}; o[Symbol.toPrimitive] = give; export const v = +o;\n"),
        "ST0110",
    );
    let known = "function give(this: any) { return this.n; } (give as any).extra = 1; const o: any = { n: 1 }, p: any = { n: 2 }; \
        o.valueOf = p.valueOf = give; const q: any = { n: 3, valueOf: give }; class P {} (P.prototype as any).toJSON = P.prototype.toString = function () { return 's'; };\n\
        export const a = [o + 1, p + 1, q + 1, o.valueOf === p.valueOf, q.valueOf === o.valueOf, q.valueOf.name, q.valueOf.extra, `${new P()}`, (P.prototype as any).toJSON === P.prototype.toString];\n";
    gives(known, "a", "[2,3,4,true,true,\"give\",1,\"s\",true]");
}

#[test]
fn member_then_of_an_unknown_is_refused_by_any_spelling() {
    refused("export const v = d.output[\"then\"] === undefined;\n", "ST0104");
    refused("const k = \"th\" + \"en\"; export const v = [d.output[k]];\n", "ST0104");
    refused("const u = d.output, k = [\"then\"] as any; export const v = [u[k]];\n", "ST0104");
    refused("const u = d.output; export const v = [u[[\"th\", \"en\"].join(\"\")]];\n", "ST0104");
    assert_eq!(
        after_apply(
            "const k = \"a\"; const u = d.output; export const v = [u[k], d.output[k]];\n",
            "{\"a\":2}",
            "v"
        ),
        "[2,2]"
    );
    let known = "const o: any = { then: 1, 1: 2, a: { b: 3 } }; const k = 'then', f = () => o; let n = 0; \
        export const a = [o[k], f()['th' + 'en'], o[n + 1], o.a['b'], o['a'][f() && 'b'], ((o.a)[(n++, 'b')] += 1), n];\n";
    gives(known, "a", "[1,1,2,3,3,4,1]");
}

#[test]
fn default_with_a_call_does_not_run_for_a_value_that_may_be_there() {
    let text = "let n = 0; const fresh = () => ++n; const { port = fresh() } = d.output; export const v = [port, n];\n";
    refused(text, "ST0104");
    let pure = "const { port = Math.max(1, \"a\".length) } = d.output; export const v = port;\n";
    assert_eq!(after_apply(pure, "{}", "v"), "1");
}

#[test]
fn default_of_a_target_that_is_assigned_holds_after_apply() {
    let text = "let port: any; const out: any[] = []; for ({ port = 443 } of [d.output]) out.push(port); const o: any = {}; \
        ({ p: o.p = 80 } = { p: d.output.p } as any); const k = 'q'; [((): any => o)()[k] = 81] = [d.output.q]; \
        class A { #x: any; t() { ({ x: this.#x = 5 } = { x: d.output.x }); return this.#x; } } export const v = [out[0], o.p, o.q, new A().t()];\n";
    assert_eq!(after_apply(text, "{}", "v"), "[443,80,81,5]");
    assert_eq!(after_apply(text, "{\"port\":1,\"p\":2,\"q\":3,\"x\":4}", "v"), "[1,2,3,4]");
}

#[test]
fn named_function_keeps_its_name_as_a_member() {
    let text = "const x = 5; const o = { a: function b() { return x; }, c: function () { return x; } }; let f: any; f = () => x; \
        class A { g = () => x; #h = () => x; h() { return this.#h.name; } } const k = (p: any = () => x) => p.name; \
        export const n = [o.a.name, o.c.name, f.name, new A().g.name, new A().h(), k()];\n";
    gives(text, "n", "[\"b\",\"c\",\"f\",\"g\",\"#h\",\"p\"]");
}

#[test]
fn result_of_a_deferred_match_has_no_members_besides_its_items() {
    let text = "const { index = -1 } = d.output.match(/b/); export const v = index;\n";
    refused(text, "ST0112");
    refused("export const v = d.output.match(/b/).groups;\n", "ST0112");
    assert_eq!(after_apply("export const v = d.output.match(/b/)[0];\n", "\"abc\"", "v"), "\"b\"");
}

#[test]
fn sloppy_code_assigns_to_a_frozen_object_in_silence_as_in_node() {
    let text = "const f = Object.freeze({ n: 1 }), get = () => f; try { get().n += 1; exports.r = \"ignored\"; } catch { exports.r = \"threw\"; }\n";
    let run =
        |text: &str| program("import { r } from './sloppy.cjs';\nexport { r };\n").file("sloppy.cjs", text);
    gives_in(run(text), "r", "\"ignored\"");
    gives_in(run(&format!("'use strict'; {text}")), "r", "\"threw\"");
}

#[test]
fn function_of_the_language_with_two_names_is_one() {
    let text = "export const v = [Array.prototype.values === Array.prototype[Symbol.iterator], (\"\" as any).trimLeft === \"\".trimStart, \
        (\"\" as any).trimRight === \"\".trimEnd, Uint8Array.prototype.toString === Array.prototype.toString, \
        Number.parseFloat === parseFloat, Number.parseInt === parseInt, Map.prototype.entries === Map.prototype[Symbol.iterator], \
        Set.prototype.keys === Set.prototype.values, (Date.prototype as any).toGMTString === Date.prototype.toUTCString, \
        URLSearchParams.prototype.entries === URLSearchParams.prototype[Symbol.iterator], \
        Uint8Array.prototype.values === Uint8Array.prototype[Symbol.iterator], `${new Uint8Array([1, 2])}`];\n";
    gives(text, "v", "[true,true,true,true,true,true,true,true,true,true,true,\"1,2\"]");
}

#[test]
fn last_match_of_all_regular_expressions_is_refused() {
    for member in ["$1", "lastMatch", "['$&']", "input"] {
        let member = if member.starts_with('[') { member.to_owned() } else { format!(".{member}") };
        refused(&format!("/b/.test('abc'); export const v = (RegExp as any){member};\n"), "ST0103");
    }
}

#[test]
fn function_that_reaches_apply_by_another_way_may_not_use_an_unknown() {
    let cases = [
        "let f: any; f = (v: any) => v + e.output; export const v = apply(d.output, f);\n",
        "class A { f = (v: any) => v + e.output; } export const v = apply(d.output, new A().f);\n",
        "class B {} class A extends B { f = (v: any) => v + e.output; } export const v = apply(d.output, new A().f);\n",
        "export const v = apply(d.output, 1 > 0 ? (v: any) => v + e.output : (v: any) => v);\n",
        "const n: any = null; export const v = apply(d.output, n ?? ((v: any) => v + e.output));\n",
        "const g = (f = (v: any) => v + e.output) => apply(d.output, f); export const v = g();\n",
        "const g = ({ f = (v: any) => v + e.output }: any) => apply(d.output, f); export const v = g({});\n",
        "const o: any = {}; o.f = (v: any) => v + e.output; export const v = apply(d.output, o.f);\n",
    ];
    for case in cases {
        refused(case, "ST0110");
    }
}

#[test]
fn names_of_node_that_a_program_does_not_have_refuse_when_they_are_used() {
    let text = "class MyError extends DOMException {} \
        export const v = [typeof DOMException, typeof Headers, typeof WebAssembly, typeof WebAssembly.compile, ({} as any) instanceof Response, typeof MyError];\n";
    gives(text, "v", "[\"function\",\"function\",\"object\",\"function\",false,\"function\"]");
    for used in [
        "new Headers()",
        "new DOMException('x')",
        "new BroadcastChannel('x')",
        "WebAssembly.compile(1 as any)",
        "new FormData()",
    ] {
        refused(&format!("export const v = {used};\n"), "ST0103");
    }
}
