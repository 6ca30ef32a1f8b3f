//! Rows for every function that a program can reach, with an unknown in every position.
//!
//! The engine lists the functions: a new one gets its rows automatically, and one of a type without a sample fails the test.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;

use super::{Row, assert_none_is_wrong, judge};

#[derive(Debug)]
struct Found {
    path: String,
    /// Type whose prototype has the member; empty for other functions.
    owner: String,
    length: usize,
    /// `call`, `get`, `set` or `new`.
    how: String,
}

/// Program that lists all functions of the global object and of prototypes that only syntax reaches.
const WALK: &str = r#"
const seen = new Set<any>(); const found: any[] = [];
const name = (key: any) => typeof key === "symbol" ? `[${key.description}]` : `.${key}`;
function walk(value: any, path: string, owner: string) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return;
  seen.add(value);
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key === "string" && !/^[A-Za-z_$][\w$]*$/.test(key)) continue;
    const at = path === "" ? String(key) : path + name(key);
    const { get, set, value: inner } = Object.getOwnPropertyDescriptor(value, key) as any;
    if (get) found.push([at, owner, 0, "get"]);
    if (set) found.push([at, owner, 1, "set"]);
    if (typeof inner === "function" && key !== "constructor") {
      found.push([at, owner, inner.length, "call"]);
      if (Object.hasOwn(inner, "prototype")) found.push([at, owner, inner.length, "new"]);
    }
    walk(inner, at, key === "prototype" ? path : "");
  }
}
walk(globalThis, "", "");
const hidden: any = {
  ArrayIterator: [][Symbol.iterator](), MapIterator: new Map()[Symbol.iterator](), SetIterator: new Set()[Symbol.iterator](),
  StringIterator: ""[Symbol.iterator](), RegExpStringIterator: "".matchAll(/a/g), Generator: (function* () {})(),
  AsyncGenerator: (async function* () {})(), IteratorHelper: [].values().map((x) => x), TypedArray: new Uint8Array(),
  WrappedIterator: Iterator.from({ next() { return { done: true, value: 1 }; } } as any),
};
export const roots: any = {};
for (const key of Object.keys(hidden)) {
  for (let at = Object.getPrototypeOf(hidden[key]), i = 0; at !== null; at = Object.getPrototypeOf(at), i++) {
    walk(at, `hidden.${key}${".up".repeat(i)}`, `hidden.${key}`);
  }
}
export { found };
"#;

/// Receiver for the methods of each type.
const SAMPLES: &[(&str, &str)] = &[
    ("AggregateError", "new AggregateError([1], 'a')"),
    ("Array", "[2, 1]"),
    ("ArrayBuffer", "new ArrayBuffer(8)"),
    ("AsyncDisposableStack", "new AsyncDisposableStack()"),
    ("BigInt", "5n"),
    ("Boolean", "true"),
    ("DOMException", "new Error('a')"),
    ("DataView", "new DataView(new ArrayBuffer(8))"),
    ("Date", "new Date(0)"),
    ("DisposableStack", "new DisposableStack()"),
    ("FinalizationRegistry", "new FinalizationRegistry(() => {})"),
    ("Function", "((q: any) => q)"),
    ("Iterator", "[2, 1].values()"),
    ("Map", "new Map([['a', 1]])"),
    ("Number", "5"),
    ("Object", "({ a: 1 })"),
    ("Promise", "Promise.resolve(1)"),
    ("RegExp", "/b/g"),
    ("Set", "new Set(['a'])"),
    ("SharedArrayBuffer", "new SharedArrayBuffer(8)"),
    ("String", "'abc'"),
    ("Symbol", "Symbol.iterator"),
    ("TextDecoder", "new TextDecoder()"),
    ("TextEncoder", "new TextEncoder()"),
    ("URL", "new URL('http://a/b')"),
    ("URLSearchParams", "new URLSearchParams('a=b')"),
    ("WeakMap", "new WeakMap()"),
    ("WeakRef", "new WeakRef({})"),
    ("WeakSet", "new WeakSet()"),
    ("hidden.ArrayIterator", "[2, 1].values()"),
    ("hidden.AsyncGenerator", "(async function* () { yield 1; })()"),
    ("hidden.Generator", "(function* (): any { yield 1; })()"),
    ("hidden.IteratorHelper", "[2, 1].values().map((q) => q)"),
    ("hidden.MapIterator", "new Map([['a', 1]]).keys()"),
    ("hidden.RegExpStringIterator", "'ab'.matchAll(/b/g)"),
    ("hidden.SetIterator", "new Set(['a']).values()"),
    ("hidden.StringIterator", "'ab'[Symbol.iterator]()"),
    ("hidden.TypedArray", "new Uint8Array([2, 1])"),
    ("hidden.WrappedIterator", "Iterator.from({ next() { return { done: true, value: 1 }; } } as any)"),
];

/// Arguments in the other positions; each line is one attempt.
const FILLERS: &[[&str; 4]] = &[
    ["'a'", "'b'", "'c'", "'d'"],
    ["1", "2", "1", "2"],
    ["((q: any) => q)", "({ a: 1 })", "((q: any) => q)", "[]"],
    ["[['a', 1]]", "((q: any) => q)", "[1]", "'a'"],
    ["({ a: 1 })", "'a'", "({ value: 1 })", "({ a: 1 })"],
];

/// Forms of the unknown argument: itself, in a list, in an object, from a function.
const FORMS: &[&str] = &["x", "[x, 1]", "({ a: x })", "(() => x)"];

/// Receivers that contain the unknown.
const HOLDING: &[(&str, &str)] = &[
    ("Array", "[x, 2]"),
    ("Map", "new Map([['a', x]])"),
    ("Object", "({ a: x })"),
    ("Promise", "Promise.resolve(x)"),
    ("Iterator", "[x, 2].values()"),
    ("Function", "(() => x)"),
    ("hidden.ArrayIterator", "[x, 2].values()"),
    ("hidden.Generator", "(function* (): any { yield x; })()"),
    ("hidden.IteratorHelper", "[2, 1].values().map(() => x)"),
];

/// Cases that need more than one call.
const MORE: &[&str] = &[
    "const o: any = {}; Object.defineProperty(o, 'k', { value: 1, enumerable: x }); v = Object.keys(o);",
    "const o: any = {}; Object.defineProperty(o, 'k', { value: 1, writable: x }); try { o.k = 2; } catch {} v = o.k;",
    "const o: any = {}; Object.defineProperty(o, 'k', { value: 1, configurable: x }); v = delete o.k;",
    "const o: any = {}; Object.defineProperty(o, 'k', { value: x, enumerable: true }); v = o;",
    "const o: any = {}; Object.defineProperty(o, 'k', { get: x }); v = 1;",
    "const o: any = {}; Object.defineProperties(o, { k: { value: 1, enumerable: x } }); v = Object.keys(o);",
    "const o: any = {}; Reflect.defineProperty(o, 'k', { value: 1, enumerable: x }); v = Object.keys(o);",
    "v = Object.keys(Object.create({}, { k: { value: 1, enumerable: x } }));",
    "v = Object.keys(Object.defineProperty({}, 'k', { value: 1, get enumerable() { return x; } }));",
    "const A = Array; v = A(x).length;",
    "const A: any = Array; v = new A(x).length;",
    "v = [].constructor(x as any).length;",
    "class A extends Array {} v = new (A as any)(x).length;",
    "v = [x, 'a'].sort();",
    "v = [3, 1].sort(() => x);",
    "v = [...new Set([x, 'b'])].length;",
    "v = new Map([['b', 1]]).get(x);",
    "v = JSON.stringify({ a: [x], b: 1 }, null, 2);",
    "v = JSON.stringify({ [`k`]: x }, (k: any, q: any) => q);",
    "v = `${[x, [x]]}`;",
    "v = [x] + '';",
    "v = [x].toString();",
    "v = String([1, [x]]);",
    "v = new Date(x).getTime();",
    "v = Number([x]);",
    "v = ({ valueOf: () => x } as any) * 2;",
    "v = `${{ toString: () => x }}`;",
    "v = [1, 2].map((q: any) => q + x).join('+');",
    "v = JSON.stringify({ toJSON: () => x });",
    "v = JSON.stringify({ toJSON() { return x; } });",
    "v = JSON.stringify({ a: 1 }, () => x);",
    "v = `${new (class { toString() { return `<${x}>`; } })()}`;",
    "v = [new (class { valueOf = () => x; })() as any].map((q: any) => q * 1)[0];",
    "const { a = 3 } = { a: x }; v = a;",
    "const it: any = { [Symbol.iterator]: () => ({ next: () => ({ done: x, value: 1 }) }) }; v = Array.from(it);",
    "const it: any = { [Symbol.iterator]: () => ({ next: () => { const r: any = { value: 1 }; r.done = x; return r; } }) }; v = Array.from(it);",
    "const r: any = { value: 1, done: false }; const it: any = { [Symbol.iterator]: () => ({ next() { const was = { ...r }; r.done = x; return was; } }) }; v = [...it];",
    "class R { value = 1; done: any = x; } const it: any = { [Symbol.iterator]: () => ({ next: () => new R() }) }; v = []; for (const q of it) v.push(q);",
    "const r: any = { value: 1 }; r.done = x; const next = () => r; v = []; for (const q of { [Symbol.iterator]: () => ({ next }) } as any) v.push(q);",
    "const it: any = { [Symbol.iterator]: () => ({ next: () => x }) }; const [a] = it; v = a;",
    "const r: any = { value: 1 }; r.done = x; const it: any = { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(r) }) }; v = (async () => { const a: any = []; for await (const q of it) a.push(q); return a; })();",
    "const r: any = { value: 1 }; r.done = x; const it: any = { [Symbol.asyncIterator]: () => ({ async next() { return r; } }) }; v = (async () => { const a: any = []; for await (const q of it) a.push(q); return a; })();",
    "let n = 0; const it: any = { [Symbol.iterator]: () => ({ next: () => ({ done: n++ > 1, value: x }) }) }; v = [...it];",
    "v = 'abc'.replace(/b/, () => x);",
    "v = structuredClone({ a: x });",
    "v = new Error(x).message;",
    "v = new Error('a', { cause: x }).cause;",
    "v = 'ab'.split('').map(() => x).concat([x]);",
    "v = (x + '').length;",
    "v = [0, 1, 2].slice(0, x);",
    "label: for (const q of [1, 2]) { v = q; if (x) break label; }",
    "v = new Proxy({ a: x } as any, {}).a;",
    "v = new Proxy({} as any, { get: () => x }).a;",
    "v = 'a' in new Proxy({}, { has: () => x });",
    "const p: any = new Proxy({}, { set: () => x }); try { p.a = 1; v = 1; } catch { v = 2; }",
    "v = Reflect.set(new Proxy({}, { set: () => x }), 'a', 1);",
    "v = Reflect.deleteProperty(new Proxy({}, { deleteProperty: () => x }), 'a');",
    "v = Reflect.defineProperty(new Proxy({}, { defineProperty: () => x }), 'a', { value: 1 });",
    "v = Object.isExtensible(new Proxy({}, { isExtensible: () => x }));",
    "v = Reflect.setPrototypeOf(new Proxy({}, { setPrototypeOf: () => x }), null);",
    "v = Reflect.preventExtensions(new Proxy({}, { preventExtensions: () => x }));",
    "v = Object.getPrototypeOf(new Proxy({}, { getPrototypeOf: () => x })) === null;",
    "v = new (new Proxy(class {}, { construct: () => x }))();",
    "v = (new Proxy(() => 1, { apply: () => x }) as any)();",
    "v = Object.keys(new Proxy({}, { ownKeys: () => [x] }));",
    "v = Object.keys(new Proxy({}, { ownKeys: () => x }));",
    "v = Object.keys(new Proxy({ a: 1 }, { getOwnPropertyDescriptor: () => ({ value: 1, configurable: true, enumerable: x }) }));",
    "v = Object.getOwnPropertyDescriptor(new Proxy({ a: 1 }, { getOwnPropertyDescriptor: () => x }), 'a');",
    "v = new Proxy(x, {});",
    "v = new Proxy({}, x);",
    "v = (new Proxy({}, { get: x }) as any).a;",
    "v = Proxy.revocable(x, {}).proxy;",
    "const deep: any = new Proxy(() => {}, { get: () => deep, apply: () => 7 }); v = deep.a.b() + x;",
    "const deep: any = new Proxy(() => {}, { get: () => deep }); v = deep.a ? x : 1;",
    "v = new WeakRef({ a: x }).deref()!.a;",
    "v = new Function('a', 'return a')(x);",
    "v = new Function('a', 'return a + 1')(x);",
    "v = new Function('a', 'return a ? 1 : 2')(x);",
    "v = new Function('a', 'with ({ b: 2 }) { return a === b; }')(x);",
    "v = new Function('return ' + x)();",
];

/// Results of functions of the program that the language or a built-in tests or converts, with an unknown in their place.
const HOOKS: &[&str] = &[
    // ToBoolean.
    "const it: any = { [Symbol.iterator]: () => ({ next: () => ({ value: 1, get done() { return x; } }) }) }; v = []; for (const q of it) { v.push(q); break; }",
    "const r: any = { value: 1 }; Object.defineProperty(r, 'done', { get: () => x }); const it: any = { [Symbol.iterator]: () => ({ next() { return r; } }) }; v = [...it].length;",
    "class R { value = 1; get done(): any { return x; } } const it: any = { [Symbol.iterator]: () => ({ next: () => new R() }) }; const [a] = it; v = a;",
    "v = ({} as any) instanceof ({ [Symbol.hasInstance]: () => x } as any);",
    "class C { static [Symbol.hasInstance](): any { return x; } } v = ({} as any) instanceof C;",
    "const C: any = function () {}; Object.defineProperty(C, Symbol.hasInstance, { value: () => x }); v = ({} as any) instanceof C;",
    "const list: any = { length: 1, 0: 'a', [Symbol.isConcatSpreadable]: x }; v = [].concat(list).length;",
    "const list: any = ['a']; list[Symbol.isConcatSpreadable] = x; v = list.concat(['b']).length;",
    "const list: any = ['a']; Object.defineProperty(list, Symbol.isConcatSpreadable, { get: () => x }); v = [].concat(list).length;",
    "v = [...new Set([1]).intersection({ size: 9, has: () => x, keys: () => [].values() } as any)];",
    "v = new Set([1]).isSubsetOf({ size: 9, has: () => x, keys: () => [].values() } as any);",
    "v = new Set([1]).isDisjointFrom({ size: 9, has() { return x; }, keys: () => [].values() } as any);",
    "v = [...new Set([1]).difference(new (class extends Set { has(): any { return x; } })([2]))];",
    "v = [...new Set([1]).union({ size: 1, has: () => true, keys: () => x } as any)];",
    "let n = 0; const next = () => { const r: any = { value: 2 }; r.done = n++ > 0 ? true : x; return r; }; v = [...new Set([1]).union({ size: 1, has: () => true, keys: () => ({ next }) } as any)];",
    "v = [...new Set([1]).symmetricDifference({ size: x, has: () => true, keys: () => [].values() } as any)];",
    // The result of `exec` counts as a match if it is an object.
    "const p: any = /b/; p.exec = () => x; v = p.test('b');",
    "const p: any = /b/; p.exec = () => x; v = 'abc'.search(p);",
    "const p: any = /b/; p.exec = () => x; v = 'abc'.replace(p, '-');",
    "const p: any = /b/; p.exec = () => x; v = 'abc'.match(p);",
    "const p: any = /b/; p.exec = () => x; v = 'abc'.split(p);",
    "class P extends RegExp { exec(): any { return x; } } v = new P('b').test('b');",
    "const p: any = /b/; p.exec = (): any => ['b']; p.exec.call(p, x); v = p.test('b');",
    "const p: any = /b/; p.exec = x; v = p.test('b');",
    // Symbol.toStringTag counts only as a string.
    "v = `${{ get [Symbol.toStringTag]() { return x; } }}`;",
    "v = Object.prototype.toString.call({ [Symbol.toStringTag]: x });",
    "class T { get [Symbol.toStringTag](): any { return x; } } v = String(new T());",
    // ToPrimitive, ToNumber, ToLength, ToPropertyKey.
    "v = `${{ [Symbol.toPrimitive]: () => x }}`;",
    "v = +({ [Symbol.toPrimitive]() { return x; } } as any);",
    "v = ({ valueOf: () => ({}), toString: () => x } as any) + 1;",
    "v = Array.prototype.slice.call({ length: x, 0: 'a' });",
    "v = Array.from({ length: x, 0: 'a' } as any);",
    "v = ({ b: 1 } as any)[{ toString: () => x } as any];",
    "v = [3, 1].sort((() => ({ valueOf: () => x })) as any);",
    "v = Object.groupBy([1], () => x);",
    "v = Map.groupBy([1], () => x).size;",
    "v = 'a'.padEnd({ valueOf: () => x } as any);",
    "v = new Date({ valueOf: () => x } as any).getTime();",
    "v = JSON.stringify({ a: 1 }, null, { valueOf: () => x } as any);",
    // IsCallable.
    "v = JSON.stringify({ toJSON: x });",
    "v = `${{ toString: x }}`;",
    "v = [1].map(x);",
    "v = Array.from([1], x);",
    "v = 'abc'.replace('b', x);",
    "v = (async () => await { then(done: any) { done(x); } })();",
    "v = Promise.resolve(1).then(x);",
    "v = [...{ [Symbol.iterator]: x } as any];",
    "const l: any = [1]; l.constructor = x; v = l.map((q: any) => q);",
    "class A extends Array { static get [Symbol.species](): any { return x; } } v = A.from([1]).map((q: any) => q).length;",
    "v = x.toUpperCase?.();",
    "v = x.a.b?.();",
    "v = x['toUpperCase']?.();",
    "v = x.then;",
    "v = x['then'];",
    "const { then } = x; v = then === undefined;",
    "v = x.a.then === undefined;",
    "v = x.then(1);",
    "v = (x as any)?.then;",
];

/// Defaults, missing members, namespaces, loops with `await`, and the forms of CommonJS.
const SHAPES: &[&str] = &[
    "const { a = 1 } = x; v = a;",
    "const { a: b = 1, c = b } = x; v = [b, c];",
    "const { a: { b = 1 } = {} } = x; v = b;",
    "const { ['a']: b = 1 } = x; v = b;",
    "let a: any; ({ a = 1 } = x); v = a;",
    "let a: any; ({ a: a = 1 } = { a: x.a }); v = a;",
    "let a: any; [a = 1] = [x.a]; v = a;",
    "const o: any = {}; ({ a: o.p = 1 } = { a: x.a }); v = o.p;",
    "const [a = 1] = [x.a]; v = a;",
    "for (const { a = 1 } of [x]) v = a;",
    "for (var { a = 1 } of [x]) v = a;",
    "v = ((a: any = 1) => a)(x.a);",
    "v = (({ a = 1 }: any) => a)(x);",
    "v = (function ({ a = 1 }: any = {}) { return a; })(x);",
    "v = (function (a: any = 1) { return arguments[0]; })(x.a);",
    "v = (function* (a: any = 1) { yield a; })(x.a).next().value;",
    "v = (async (a: any = 1) => a)(x.a);",
    "v = new (class { p: any; constructor(a: any = 1) { this.p = a; } })(x.a).p;",
    "v = ({ m(a: any = 1) { return a; } }).m(x.a);",
    "v = ((a: any, b: any = a) => b)(1, x.a);",
    "try { throw { a: x.a }; } catch ({ a = 1 }: any) { v = a; }",
    "v = (({ a = new Map() }: any) => a)(x);",
    "let n = 0; v = [(({ a = n++ }: any) => a)(x), n];",
    "v = x.a;",
    "v = [x.a, x.b];",
    "v = `${x.a}`;",
    "v = JSON.stringify({ a: x.a });",
    "v = JSON.stringify([x.a, x[9]]);",
    "v = x[0];",
    "v = x.length;",
    "v = x.a + 1;",
    "v = x.a * 2;",
    "v = [x.a, 1].join('-');",
    "v = (() => x.a)();",
    "const a: any = x.a; v = (({ b = 2 }: any) => b)(a);",
    "v = (async () => { const all: any = []; for (const q of [x, 1]) { await null; all.push(q); } return all; })();",
    "v = (async () => { for await (const q of x) return q; })();",
    "v = (async () => { for await (const { a = 1 } of [x]) return a; })();",
    "v = (async () => { while (await x) break; return 1; })();",
    "v = (async () => (await x) ? 1 : 2)();",
    "v = (async () => { const [a] = await Promise.all([x]); return a; })();",
    "v = (async () => { async function* g() { yield x; } for await (const q of g()) return q; })();",
    "v = (async () => { let n = 0; do { n++; } while (n < (await x)); return n; })();",
    "var a: any = x; { var a: any = a; } v = a;",
    "v = (function () { if (false) { var a: any = 1; } a = x; return a; })();",
    "v = (function () { var a: any = x || 1; return a; })();",
    "v = (function () { return arguments[0]; } as any)(x);",
    "v = (function () { return [].slice.call(arguments); } as any)(x);",
    "v = (function () { return arguments.length > 1 ? arguments[1] : 0; } as any)(1, x);",
    "v = (function (this: any, f: any) { return f.apply(this, arguments); } as any)((_: any, a: any) => a, x);",
    "const exports: any = {}; exports.a = x ? 1 : 2; v = exports;",
    "const exports: any = {}; exports.a = x; exports.b = exports.a; v = exports;",
    "const module: any = { exports: {} }; module.exports = { default: x, __esModule: true }; v = module.exports.default;",
    "const m: any = { default: x }; v = m && m.__esModule ? m : { default: m };",
    "v = (x && x.__esModule) ? x : { default: x };",
    "v = x == null ? void 0 : x.a;",
    "var _a: any; v = (_a = x) === null || _a === void 0 ? void 0 : _a.b;",
    "v = Object.prototype.hasOwnProperty.call({ a: x }, 'a');",
    "v = Object.prototype.hasOwnProperty.call(x, 'a');",
    "v = ({}).toString.call(x);",
    "v = typeof x === 'object' && x !== null;",
    "v = isFinite(x);",
    "for (var k in { a: x }) v = k;",
];

/// Functions without rows. The first cannot be replaced, and throws a `TypeError` for an unknown; the next return source
/// positions. A proxy of a list is not data, so `MORE` has the rows for proxies.
const LEFT_OUT: &[&str] = &[
    "Function.prototype[Symbol.hasInstance]",
    "Function.prototype.lineNumber",
    "Function.prototype.columnNumber",
    // `node.rs` tests its functions.
    "Intl",
    "Proxy",
];

fn sample(owner: &str) -> String {
    if owner.ends_with("Error") {
        return format!("new {owner}('a')");
    }
    if owner.ends_with("Array") && !matches!(owner, "Array" | "hidden.TypedArray") {
        return format!("new {owner}(2)");
    }
    let found = SAMPLES.iter().find(|(name, _)| *name == owner);
    found.unwrap_or_else(|| panic!("{owner} has no sample: add one to `SAMPLES`")).1.to_owned()
}

/// Returns an expression that evaluates to the function.
fn reach(path: &str) -> String {
    let Some(rest) = path.strip_prefix("hidden.") else { return format!("({path} as any)") };
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let mut at = format!("Object.getPrototypeOf({})", sample(&format!("hidden.{}", &rest[..end])));
    let mut rest = &rest[end..];
    while let Some(above) = rest.strip_prefix(".up") {
        at = format!("Object.getPrototypeOf({at})");
        rest = above;
    }
    format!("({at} as any){rest}")
}

fn rows(found: &Found) -> Vec<Row> {
    let receiver = match (&*found.owner, found.path.rsplit_once(['.', '['])) {
        ("", Some((owner, _))) => format!("({owner} as any)"),
        ("", None) => "undefined".to_owned(),
        (owner, _) => sample(owner),
    };
    let holding = HOLDING.iter().find(|(owner, _)| *owner == found.owner).map(|(_, sample)| *sample);
    let positions = if found.how == "get" { 0 } else { found.length.min(3) + 1 };
    let mut all = Vec::new();
    for (filler, fillers) in FILLERS.iter().enumerate() {
        let mut row = |receiver: &str, position: Option<usize>, given: &str| {
            let least = position.map_or(0, |position| position + 1);
            let count = if found.how == "set" { 1 } else { found.length.min(4).max(least).min(4) };
            let argument = |at| if Some(at) == position { given } else { fillers[at] };
            let arguments: Vec<&str> = (0..count).map(argument).collect();
            let what = position.map_or("this".to_owned(), |position| format!("argument {position}"));
            let name = format!("{} {} {what}: {given}, filler {filler}", found.how, found.path);
            all.push(Row { name, code: code(found, receiver, &arguments) });
        };
        for position in 0..positions {
            FORMS.iter().for_each(|form| row(&receiver, Some(position), form));
        }
        if found.how != "new" {
            row("x", None, "x");
            holding.iter().for_each(|holding| row(holding, None, holding));
        }
    }
    let mut seen = BTreeSet::new();
    all.retain(|row: &Row| seen.insert(row.code.clone()));
    all
}

fn code(found: &Found, receiver: &str, arguments: &[&str]) -> String {
    let function = reach(&found.path);
    let member = found.path.rsplit_once("prototype").map_or(found.path.as_str(), |(_, member)| member);
    let keep = if receiver == "x" || found.owner.is_empty() { "" } else { "r = o;" };
    let list = arguments.join(", ");
    match found.how.as_str() {
        "new" => format!("v = new {function}({list});"),
        "get" => {
            let at = format!("{}, {}", holder(&function), key(member));
            format!("const o: any = {receiver}; v = Reflect.get({at}, o); {keep}")
        }
        "set" => {
            let at = format!("{}, {}", holder(&function), key(member));
            format!("const o: any = {receiver}; v = Reflect.set({at}, {list}, o); {keep}")
        }
        _ => {
            let comma = if arguments.is_empty() { "" } else { ", " };
            format!("const o: any = {receiver}; v = {function}.call(o{comma}{list}); {keep}")
        }
    }
}

/// Returns the object that contains the last member of a path.
fn holder(function: &str) -> String {
    let inner = function.trim_start_matches('(');
    let end = inner.rfind(['.', '[']).unwrap_or(inner.len());
    if function.starts_with("((") || function.contains("getPrototypeOf") {
        let end = function.rfind(['.', '[']).unwrap();
        return function[..end].to_owned();
    }
    let path = inner.split(" as any").next().unwrap();
    let end = if path.ends_with(']') { path.rfind('[').unwrap() } else { path.rfind('.').unwrap_or(end) };
    path[..end].to_owned()
}

fn key(member: &str) -> String {
    match member.rsplit_once('[') {
        Some((_, symbol)) => symbol.trim_end_matches(']').to_owned(),
        None => format!("{:?}", member.rsplit_once('.').map_or(member, |(_, name)| name)),
    }
}

fn functions() -> Vec<Found> {
    let graph = crate::common::program(WALK).graph();
    let found = graph.outputs["found"].as_known().unwrap().to_json();
    let all: Vec<(String, String, usize, String)> = serde_json::from_str(&found).unwrap();
    let all = all.into_iter().map(|(path, owner, length, how)| Found { path, owner, length, how });
    // Modules of Node.js that the first use of a global name loads; `node.rs` tests them.
    let lazy = |found: &Found| {
        found.owner.is_empty() && !found.path.contains('.') && matches!(&*found.how, "get" | "set")
    };
    all.filter(|found| !LEFT_OUT.contains(&found.path.as_str()) && !lazy(found)).collect()
}

fn listed(name: &str, codes: &[&str]) -> Vec<Row> {
    codes.iter().map(|code| Row { name: name.to_owned(), code: (*code).to_owned() }).collect()
}

#[test]
fn every_hook_of_the_language_defers_or_refuses_an_unknown() {
    assert_none_is_wrong(&judge(&listed("hook", HOOKS)));
}

#[test]
fn defaults_missing_members_async_loops_and_commonjs_defer_or_refuse_an_unknown() {
    assert_none_is_wrong(&judge(&listed("shape", SHAPES)));
}

#[test]
fn every_builtin_defers_or_refuses_an_unknown_in_every_position() {
    let more = MORE.iter().map(|code| Row { name: "call more this".to_owned(), code: (*code).to_owned() });
    let rows: Vec<Row> = functions().iter().flat_map(rows).chain(more).collect();
    assert!(rows.len() > 5000, "{} rows are too few for the functions of the engine", rows.len());
    assert_none_is_wrong(&judge(&rows));
}
