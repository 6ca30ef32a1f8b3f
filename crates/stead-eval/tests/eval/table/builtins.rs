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

#[test]
fn every_builtin_defers_or_refuses_an_unknown_in_every_position() {
    let more = MORE.iter().map(|code| Row { name: "call more this".to_owned(), code: (*code).to_owned() });
    let rows: Vec<Row> = functions().iter().flat_map(rows).chain(more).collect();
    assert!(rows.len() > 5000, "{} rows are too few for the functions of the engine", rows.len());
    assert_none_is_wrong(&judge(&rows));
}
