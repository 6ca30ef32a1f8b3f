//! Programs that run or grow without end. Each is stopped with a place, at a limit that a test can afford.

use std::cell::Cell;
use std::time::Duration;

use crate::common::program;

/// Loops and recursion of every kind.
const ENDLESS: &[&str] = &[
    "while (true) {}",
    "for (;;) {}",
    "let i = 0; do { i++; } while (true);",
    "label: while (true) { continue label; }",
    "function f(): any { return f(); } f();",
    "const f = (): any => [f()]; f();",
    "while (true) await null;",
    "async function g(): Promise<void> { while (true) await null; } g();",
    "const q = () => queueMicrotask(q); q();",
    "const p = (): any => Promise.resolve().then(p); p();",
    "function* g() { while (true) yield 1; } for (const x of g()) {}",
    "async function* g() { while (true) yield 1; } for await (const x of g()) {}",
    "function* g() { while (true) yield 1; } new Set(g());",
    "function* g() { while (true) yield [1, 1]; } Object.fromEntries(g() as any);",
    "const o = { get x(): any { return this.x; } }; o.x;",
    "const o: any = { valueOf() { while (true) {} } }; o + 1;",
    "class A { static [Symbol.hasInstance]() { while (true) {} } } ({}) instanceof A;",
    "[2, 1].sort(() => { while (true) {} });",
    "JSON.parse('[1, 2]', () => { while (true) {} });",
    "'a'.replace(/a/, () => { while (true) {} });",
    "const t: any = (s: any): any => t`${t}`; t``;",
    "while (true) try { throw new Error('x'); } catch {}",
    "try { while (true) {} } finally { while (true) {} }",
    "try { (function f(): any { return f(); })(); } catch { while (true) {} }",
    "while (true) console.log('');",
    "export const out = { get x() { while (true) {} } };",
    "export const out = { toJSON() { while (true) {} } }; JSON.stringify(out);",
];

/// Regular expressions that try many ways to match.
const BACKTRACKING: &[&str] = &[
    "/^(a+)+$/.test('a'.repeat(40) + 'b');",
    "('a'.repeat(40) + 'b').replace(/^(a+)+$/, '');",
    "('a'.repeat(40) + 'b').replaceAll(/(a+)+$/g, '');",
    "('a'.repeat(40) + 'b').split(/(a+)+$/);",
    "('a'.repeat(40) + 'b').search(/(a|a)*c/);",
    "[...('a'.repeat(40) + 'b').matchAll(/(a+)+$/g)];",
    "/(?=(a+)+$)b/.test('a'.repeat(40) + 'c');",
    "/(?:(?:(?:a{0,9999}){0,9999}){0,9999}){0,9999}b/.test('aaaaaaaaaaaaaaaaaaaa');",
    "while (true) /^(a|aa)+$/.test('a'.repeat(11) + 'b');",
];

/// Data that grows without end, or is too large at once.
const GROWING: &[&str] = &[
    "let s = 'x'; while (true) s += s;",
    "let s = ''; while (true) s += 'xxxxxxxxxxxxxxxxxxxx';",
    "const a: any[] = []; while (true) a.push(a.length);",
    "const a: any[] = []; while (true) a.push([]);",
    "function* g() { while (true) yield 1; } [...g()];",
    "function* g() { while (true) yield 1; } Array.from(g());",
    "function* g() { while (true) yield 1; } Math.max(...g());",
    "const m = new Map(); for (let i = 0; ; i++) m.set(i, i);",
    "const m = new Set(); for (let i = 0; ; i++) m.add({});",
    "const o: any = {}; for (let i = 0; ; i++) o['k' + i] = i;",
    "let o: any = {}; while (true) o = Object.create(o);",
    "for (let i = 0; ; i++) Symbol.for('a' + i);",
    "const x: any[] = []; for (;;) x.push(new Uint8Array(1e6));",
    "while (true) console.log('x'.repeat(1e6));",
    "const a: any[] = []; a.length = 2 ** 32 - 1; a.fill(0);",
    "const a: any[] = []; a.length = 2 ** 32 - 1; a.map((x) => x);",
    "const a: any[] = []; a.length = 2 ** 32 - 1; [...a];",
    "const a: any[] = []; a.length = 2 ** 32 - 1; JSON.stringify(a);",
    "const a: any[] = []; a.length = 2 ** 32 - 1; JSON.stringify({ a });",
    "const a: any[] = []; a.length = 2 ** 32 - 1; String(a);",
    "const a: any = { length: 2 ** 53 - 1 }; Array.prototype.indexOf.call(a, 1);",
    "Array.from({ length: 2 ** 40 });",
    "Array(1e9).fill(0);",
    "'x'.repeat(2 ** 29);",
    "'x'.padEnd(2 ** 29, 'abc');",
    "2n ** (2n ** 30n);",
    "let b = 3n; while (true) b *= b;",
    "1n << (2n ** 40n);",
    "let v: any = []; for (let i = 0; i < 1e5; i++) v = [v]; JSON.stringify(v);",
    "let v: any = []; for (let i = 0; i < 1e5; i++) v = [v]; structuredClone(v);",
];

/// Built-ins that do much work in each call.
const HEAVY: &[&str] = &[
    "const a = Array.from({ length: 1e4 }, (_, i) => -i); while (true) a.sort();",
    "const a = Array(1e5).fill(1); while (true) a.includes(2);",
    "const a = Array(1e5).fill(1); while (true) a.slice();",
    "const a = Array(1e5).fill(1); while (true) [...a];",
    "const a = Array(1e5).fill(1); while (true) JSON.stringify(a);",
    "const s = 'x'.repeat(1e6); while (true) s.includes('y');",
    "const s = 'x'.repeat(1e6); while (true) s.indexOf('xxxxxxxxxy');",
    "const s = 'ab'.repeat(1e5); while (true) s.split('');",
    "const s = 'ab'.repeat(1e5); while (true) s.toUpperCase();",
    "const s = 'ab'.repeat(1e5); while (true) s.replaceAll('a', 'c');",
    "const a = new Uint8Array(1e6); while (true) a.indexOf(1);",
    "const a = new Uint8Array(1e6); while (true) a.fill(1);",
    "const o = Object.fromEntries(Array.from({ length: 1e4 }, (_, i) => ['k' + i, i])); while (true) Object.keys(o);",
];

/// Steps that are few and cost much: the count of steps would stop these programs after minutes.
const COSTLY: &[&str] = &[
    "while (true) /^(a|aa)+$/.test('a'.repeat(11) + 'b');",
    "while (true) console.log('');",
    "while (true) try { throw new Error('x'); } catch {}",
    "const b = 3n ** 20000n; while (true) b * b;",
    "const b = 3n ** 20000n; while (true) try { b * b; } catch {}",
    "const b = 3n ** 20000n; while (true) `${b}`;",
    "const s = 'ab'.repeat(250); while (true) s.toUpperCase();",
    "const step = async () => { while (true) { await null; `${3n ** 20000n}`; } }; await step();",
    "const s = 'x'.repeat(1e6); while (true) s.indexOf('xxxxxxxxxy');",
];

/// Returns the programs that are not stopped by a limit with a place.
fn escaped(programs: &[&str]) -> Vec<String> {
    let stopped = |code: &&str| {
        let run = program(&format!("{code}\n")).limits(|limits| {
            limits.evaluation_interrupts = 150;
            limits.evaluation_heap = 24 << 20;
        });
        match run.evaluate() {
            Ok(_) => Some("it ended".to_owned()),
            Err(failure) => {
                let text = crate::common::diagnostics(&failure.diagnostics);
                // Some sizes are errors of the language, which a program may catch.
                let limited =
                    text.starts_with("ST0108 ") || text.starts_with("ST0103 the program threw: RangeError");
                let placed = limited && text.contains("\n  @ main.ts:1:");
                (!placed).then_some(text)
            }
        }
    };
    programs.iter().filter_map(|code| stopped(code).map(|why| format!("{code}\n{why}"))).collect()
}

fn assert_none_escapes(programs: &[&str]) {
    let escaped = escaped(programs);
    assert!(escaped.is_empty(), "{} of {}:\n{}", escaped.len(), programs.len(), escaped.join("\n"));
}

#[test]
fn endless_loops_and_recursion_are_stopped() {
    assert_none_escapes(ENDLESS);
}

#[test]
fn backtracking_regular_expressions_are_stopped() {
    assert_none_escapes(BACKTRACKING);
}

#[test]
fn data_that_grows_without_end_is_stopped() {
    assert_none_escapes(GROWING);
}

#[test]
fn loops_of_heavy_builtins_are_stopped() {
    assert_none_escapes(HEAVY);
}

#[test]
fn programs_with_costly_steps_are_stopped_by_processor_time() {
    thread_local! {
        static LOOKS: Cell<u64> = const { Cell::new(0) };
    }
    // Every look at the clock takes a second, so that eight of them end a program.
    let clock = || {
        LOOKS.set(LOOKS.get() + 1);
        Duration::from_secs(LOOKS.get())
    };
    for code in COSTLY {
        let text = program(&format!("{code}\n")).clock(clock).failure();
        assert!(text.starts_with("ST0108 the program runs too long\n  @ main.ts:1:"), "{code}\n{text}");
        assert!(text.contains("\n  note: it was stopped after 8 s of processor time\n"), "{code}\n{text}");
    }
}

#[test]
fn program_that_uses_little_time_is_not_stopped() {
    let clock = || Duration::from_secs(8);
    let text = "let n = 0; for (let i = 0; i < 1e5; i++) n += `${i}`.length;\nexport { n };\n";
    assert_eq!(crate::common::show(&program(text).clock(clock).graph()), "> n = 488890\n");
}
