// Statements of generated programs: functions of a random generator that return a block which records its results.

const letters = ["a", "b", "c", "d"];
const small = (r) => String(r.below(7) - 2);

export const snippets = [
  // Classes: fields, private members, statics, accessors, inheritance.
  (r, value) => `const log: any[] = [];
const note = (x: any) => (log.push(x), x);
class Base { ${r.chance(0.5) ? "static" : ""} f = note(${small(r)}); #p = note((${value(r)} as any)); static { log.push("static"); }
  get p() { return this.#p; } set p(v: any) { this.#p = v; } static s = note("s"); [\`k\${note(1)}\`]() { return ${small(r)}; } static #q(x: any) { return #p in x; } static has(x: any) { return Base.#q(x); } }
class Sub extends Base { f2 = note("f2"); constructor(public named = note("default")) { super(); log.push(Object.keys(this)); } get p() { return [super.p]; } toString() { return "sub"; } static override s = "sub s"; }
const it: any = new Sub(); record(() => { ${r.pick(["it.p = 3;", "it.p;", "it.x = it;", ""])} return [log, it.p, Base.has(it), Base.has({}), \`\${it}\`, Sub.s, Base.s, Object.getOwnPropertyNames(Base.prototype), it instanceof Base, it.constructor.name, Sub.length]; });`,
  // Generators and iterators.
  (r) => `const log: any[] = [];
function* inner(n: number): any { try { for (let i = 0; i < n; i++) { const got: any = yield i; if (got) log.push(got); } return "r"; } finally { log.push("fin"); } }
function* outer(): any { const x = yield* inner(${r.below(4)}); log.push(x); yield* [${small(r)}, "z"]; }
record(() => { const g = outer(); const first = g.next(); const second = g.${r.pick(["next('v')", "return(9)", "next()"])}; return [first, second, [...g], log]; });
record(() => { for (const x of inner(5)) { if (x > ${r.below(4)}) ${r.pick(["break", "continue", "return x"])}; log.push(x); } return log; });
record(() => { const [a, b = "d", ...rest] = inner(${r.below(5)}); return [a, b, rest, log]; });`,
  // Destructuring with defaults, in order.
  (r, value) => `const log: any[] = []; const note = (x: any) => (log.push(x), x);
const source: any = { a: (${value(r)} as any), get b() { log.push("b"); return ${small(r)}; }, d: [1, , 3], __proto__: { e: "proto" } };
record(() => { const { a = note("A"), b = note("B"), c: { x = note("x") } = { x: undefined } as any, d: [p, q = note("q"), ...r], [note("e")]: e, ...rest } = source; return [a, b, x, p, q, r, e, rest, log]; });
record(() => { let x: any = 1, y: any = 2; [x, y] = [y, x]; ({ x, y = note(5) } = { x: y } as any); [source.z, ...source.w] = "héllo"; return [x, y, source.z, source.w]; });`,
  // Closures in loops, labels, switch.
  (r) => `record(() => { const fs: any[] = []; for (let i = 0; i < 3; i++) { fs.push(() => i); ${r.chance(0.5) ? "i += 0;" : ""} } for (var j = 0; j < 2; j++) fs.push(() => j); for (const k in { b: 1, a: 2, 1: 3 }) fs.push(() => k); return fs.map((f) => f()); });
record(() => { const seen: any[] = []; outer: for (let i = 0; i < 4; i++) { for (let j = 0; j < 4; j++) { if (j === ${r.below(4)}) continue outer; if (i === ${r.below(4)}) break outer; seen.push([i, j]); } } return seen; });
record(() => { const seen: any[] = []; for (const x of [1, "1", NaN, ${small(r)}, null]) switch (x) { case 1: seen.push("one"); case "1": seen.push("text"); break; default: seen.push("other"); case NaN: seen.push("nan"); } return seen; });
record(() => { let i = 0; const seen: any[] = []; do { i++; if (i === 2) continue; seen.push(i); } while (i < ${2 + r.below(4)}); while (i-- > 0) seen.push(i); return seen; });`,
  // try, catch and finally.
  (r) => `const log: any[] = [];
function f(n: number): any { try { log.push("try"); if (n === 1) throw new TypeError("t"); if (n === 2) return "ret"; return log.length; } catch (e: any) { log.push(e.name); if (${r.chance(0.5)}) throw new RangeError("again", { cause: e }); return "caught"; } finally { log.push("fin"); ${r.pick(["", "if (n === 2) return 'override';", "if (n === 0) throw 'f';"])} } }
record(() => f(${r.below(3)})); record(() => f(1)); record(() => log);
record(() => { for (let i = 0; i < 3; i++) { try { if (i === 1) continue; log.push(i); } finally { if (i === ${r.below(3)}) break; } } return log.length; });
record(() => { try { null!; (undefined as any).x; } catch ({ name, message }: any) { return [name, typeof message]; } });
record(() => { (${r.pick(["null as any)()", "undefined as any).x()", "1 as any)()", "{} as any).x.y", "Symbol() as any) + ''", "1n as any) + 1", "[] as any).reduce((a: any) => a)", "null as any).x = 1", "Object.freeze([1]) as any).push(2)", "'x' as any).y.z", "new Array(-1)) as any", "'x'.repeat(-1)) as any", "(1).toFixed(101)) as any", "new (class { constructor() { return 1; } } as any)()) as any", "(() => { const x = 1; (x as any) = 2; })()) as any", "JSON.parse('{')) as any", "BigInt(1.5)) as any", "new Set(5 as any)) as any", "decodeURIComponent('%')) as any", "(class { constructor() { this; } } as any)()) as any", "Symbol.prototype as any).description", "Object.defineProperty(1 as any, 'x', {})) as any", "new Intl.NumberFormat('en').format(1)) as any"])}; return "no error"; });`,
  // Order of asynchronous steps.
  (r) => `const log: any[] = [];
const step = async (name: string, n: number) => { for (let i = 0; i < n; i++) { log.push(name + i); await ${r.pick(["null", "Promise.resolve()", "{ then(f: any) { f(); } }", "undefined"])}; } return name; };
const failing = Promise.reject(new Error("no")); failing.catch(() => {});
const all = await Promise.${r.pick(["all", "allSettled", "race", "any"])}([step("a", ${r.below(4)}), step("b", ${r.below(4)}), failing, step("c", 1)].${r.pick(["slice(0, 2)", "slice(1)", "reverse()"])}).catch((e: any) => e.name);
queueMicrotask(() => log.push("micro")); Promise.resolve().then(() => log.push("then")).finally(() => log.push("finally")).then(() => log.push("after"));
async function* gen() { try { yield 1; yield Promise.resolve(2); } finally { log.push("closed"); } }
for await (const x of gen()) { log.push(x); if (x === ${1 + r.below(2)}) break; } for await (const x of [Promise.resolve("p"), "q"]) log.push(x);
record(() => [all, log]);`,
  // Getters, setters, symbols and inheritance of objects.
  (r, value) => `const log: any[] = []; const s = Symbol("s"); const proto: any = { get x() { log.push("get"); return this.y; }, set x(v) { log.push(["set", v]); }, [s]: 1, m() { return "proto"; } };
const o: any = { __proto__: proto, y: (${value(r)} as any), m() { return super.m() + "!"; }, get [Symbol.toStringTag]() { return "Tag"; }, ["comp" + 1]: 2, 1e3: "num", 0x10: "hex" };
record(() => { o.x = 5; o.x ${r.pick(["+=", "??=", "||=", "&&=", "-=", "**="])} 2; return [o.x, log, o.m(), String(o), Object.keys(o), s in o, Reflect.ownKeys(proto).length]; });
record(() => { const keys: any[] = []; for (const k in o) keys.push(k); Object.defineProperty(o, "hidden", { value: 1 }); delete o.y; return [keys, Object.keys({ ...o }), JSON.stringify(o), o.hidden, Object.entries(o)]; });
record(() => { const a: any[] = [1, 2, 3]; a.length = ${r.below(5)}; a[${r.below(6)}] = "x"; (a as any).prop = 1; return [a, Object.keys(a), a.length, [...a.keys()]]; });`,
  // Tagged templates, enums, namespaces.
  (r) => `function tag(strings: any, ...holes: any[]) { return [strings.raw.join("|"), strings.join("|"), holes, Object.isFrozen(strings)]; }
record(() => tag\`a\${${small(r)}}\\n\${"x"}\\u0041\`); record(() => String.raw\`\\t\${1}\\x\`); record(() => \`\${[1, [2, 3]]} \${{}} \${null} \${-0} \${1e21}\`);
enum E { A, B = ${small(r)}, C, D = "d" as any, F = B * 2, G = "text".length } enum T { X = "x", Y = \`\${T.X}y\` }
record(() => [E, T, E[0], E.C, E["B"], Object.keys(E)]);
const f = ((...xs: any[]) => xs.length) as any; record(() => [f\`\`, f?.(...[1, 2], ...new Set([3])), f.length, f.name, f.call(null, ...'añ'), f.bind(null, 1).name, f.apply(null, { length: 2 })]);`,
  // Decorators with the semantics of experimentalDecorators.
  (r) => `const log: any[] = []; const d = (name: string) => { log.push("eval " + name); return (target: any, key?: any, third?: any) => { log.push([name, typeof target, typeof key === "symbol" ? "symbol" : key, typeof third]); }; };
const wrapper = (_: any, __: any, property: PropertyDescriptor) => ({ ...property, value: function (this: any, ...args: any[]) { return ["wrapped", property.value.apply(this, args)]; } });
@d("class1") @d("class2") class Decorated { @d("static") static s() {} @d("field") f = log.push("field init"); @d("method") @wrapper m(@d("param") x: any, y: any) { return x; } @d("static field") static sf = log.push("sf"); @d("get") get g() { return 1; } set g(v) {} constructor(@d("ctor") a?: any) {} ${r.chance(0.5) ? '@d("last") static last = 1;' : '@d("comp") ["x" + log.push("key")]() {}'} }
record(() => [log, new Decorated().m(${small(r)}, 2), Decorated.name]);`,
  // Built-in collections with changes during iteration.
  (r) => `record(() => { const m = new Map<any, any>([["a", 1], ["b", 2]]); const seen: any[] = []; for (const [k, v] of m) { seen.push(k); if (v === ${1 + r.below(2)}) { m.delete("b"); m.set("c", 3); } if (seen.length > 5) break; } return [seen, m, m.size]; });
record(() => { const s = new Set<any>([1, 2, 3]); const seen: any[] = []; s.forEach((x) => { seen.push(x); s.delete(x); if (x < ${3 + r.below(3)}) s.add(x + 3); }); return [seen, s]; });
record(() => { const a = [1, 2, 3, 4]; const seen: any[] = []; for (const x of a) { seen.push(x); if (x === 2) a.splice(0, ${r.below(3)}); if (seen.length < 3) a.push(x * 10); } return [seen, a]; });
record(() => { const a: any[] = [5, 1, 4]; a.sort(); const b = a.map(String).reverse(); return [a, b, a.indexOf("1" as any), b.includes("1"), Array.from(a.entries()), Object.assign([], a, { 1: "x" }), a.concat([[1]], 2), a.flat()]; });
record(() => { const w = new WeakMap(); const k = {}; w.set(k, ${small(r)}); return [w.get(k), w.has({})]; });`,
  // Dates.
  (r) => `record(() => { const x = new Date(${1900 + r.below(300)}, ${r.below(16) - 2}, ${r.below(40) - 4}, ${r.below(30) - 3}, ${r.below(70) - 5}, ${r.below(70)}, ${r.below(1100)}); return [x, x.getDay(), x.getMonth(), x.getHours(), x.toISOString(), x.toString(), String(x), x + 1, x.toDateString(), x.toTimeString(), x.toUTCString(), x.toJSON(), JSON.stringify({ x }), +x, x > new Date(0)]; });
record(() => { const x = new Date(${r.below(2000000000)} * 1000); x.setMonth(${r.below(20) - 4}); x.setDate(${r.below(40) - 5}); x.setHours(${r.below(30)}, ${r.below(90)}); return [x, x.toLocaleDateString("en-US"), x.toLocaleTimeString("en-US"), x.toLocaleString("en-US"), x.toLocaleDateString(), x.toLocaleString()]; });`,
  // Numbers as text.
  (r) => `const n = ${(r.next() * 10 ** (r.below(40) - 20)).toString()} * ${r.pick(["1", "-1", "1e9", "3"])};
record(() => [n, String(n), n.toFixed(${r.below(10)}), n.toPrecision(${1 + r.below(21)}), n.toExponential(${r.below(10)}), n.toString(${2 + r.below(35)}), n.toLocaleString(), Math.round(n), Math.trunc(n), n | 0, n >>> 0, n % 7, n * n, Math.fround(n), parseFloat(String(n)), Number(n.toFixed(2)), JSON.stringify(n)]);
record(() => [n.toLocaleString("en-US", { maximumFractionDigits: ${r.below(5)} }), n.toLocaleString("en", { style: "percent" }), n.toLocaleString("en", { minimumFractionDigits: 2 })]);
record(() => { const b = BigInt(${r.below(1000000)}) ** ${r.below(12)}n * ${r.pick(["1n", "-1n"])}; return [b, b.toString(${2 + r.below(35)}), b / 7n, b % 7n, b << 3n, b >> 3n, ~b, b & 255n, BigInt.asIntN(16, b), Number(b), b > 100, b == (Number(b) as any), typeof b, b.toLocaleString()]; });`,
  // Text.
  (r) => { const t = JSON.stringify(Array.from({ length: r.below(12) }, () => r.pick([..."abcXYZ 0159.-_é ñß😀\n\t", "ﬁ", "İ", "\u0301"])).join("")); return `const t = ${t};
record(() => [t.length, [...t], t.toUpperCase(), t.toLowerCase(), t.split(""), t.trim(), t.normalize("NFD").length, t.codePointAt(0), encodeURIComponent(t), escape(t), t.replace(/[a-z]/gi, (m, at) => m + at), t.match(/\\w+/g), t.match(/(?<w>\\w)(?<r>.)?/)?.groups, [...t.matchAll(/[aeiou]|\\d/g)].map((m) => [m[0], m.index]), t.search(/\\s/), t.at(-1), t.padStart(9, "ab"), t.localeCompare("b"), t < "b", JSON.stringify(t), t.replaceAll("a", "$&$&"), t.split(/(\\d)/), btoa(encodeURI(t)), new TextEncoder().encode(t)]);`; },
  // Typed arrays and buffers.
  (r) => `record(() => { const b = new ArrayBuffer(8); const v = new DataView(b); v.setInt16(${r.below(4)}, ${r.below(70000)}, ${r.chance(0.5)}); v.setFloat32(4, ${r.next() * 100}); const u = new Uint8Array(b); u.set([${small(r)}], 1); return [u, new Int32Array(b), v.getUint8(2), v.getFloat32(4), b.slice(1, 3), u.subarray(2, 5), Array.from(u, (x) => x * 2), u.map((x) => x * 2), new Uint8ClampedArray([300, -5, 1.5]), Uint8Array.from("123"), new Float64Array([1, 2]).join(), u.byteOffset, u.BYTES_PER_ELEMENT, Object.keys(u).length]; });
record(() => new ${r.pick(["Uint8Array", "Int32Array", "Float64Array", "BigInt64Array"])}(${r.pick(["-1", "[1, 2]", "2.5", "'3'", "new ArrayBuffer(8), 1", "new ArrayBuffer(16), 8", "{ length: 2 }", "undefined", "null", "new Set([1])"])} as any));`,
  // Optional chaining, logical assignment, comma, in, delete, spread.
  (r, value) => `const o: any = { a: { b: (${value(r)} as any), f() { return this === o.a; } }, n: null, z: 0 };
record(() => [o?.a?.b, o.n?.x.y.z, o.x?.[o.a.b = 1], o.a?.f(), o.a.f?.(), o.q?.(), delete o?.a?.b, o.a, (o.z ??= 5), (o.u ??= 6), (o.z ||= 7), (o.n &&= 8), (1, 2), "a" in o, void 0]);
record(() => { let x: any = 1; x += x++ + ++x; const y = x-- - --x; return [x, y, -x ** 0 === undefined, 2 ** 3 ** 2, (-2) ** 2, 1 < 2 < 3, 3 > 2 > 1, "5" * ("2" as any), "5" + 2, [] + {}, [] == ![], null >= 0, undefined == 0, NaN != NaN, typeof null, typeof undefinedName, !!"" , +[], +{}, 0.1 * 3, 7 % -3, -7 % 3, 5 / 0, 1 / -0]; });`.replace("-x ** 0 === undefined", "(-x) ** 0").replace('"5" * ("2" as any)', '("5" as any) * ("2" as any)').replace("[] + {}", "([] as any) + {}").replace("[] == ![]", "([] as any) == (![] as any)").replace("1 < 2 < 3, 3 > 2 > 1", "((1 < 2) as any) < 3, ((3 > 2) as any) > 1").replace("typeof undefinedName", "typeof (globalThis as any).undefinedName"),
];
