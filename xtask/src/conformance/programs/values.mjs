// Values and calls of built-ins that generated programs combine, as source text.

export const primitives = [
  "undefined", "null", "true", "false", "0", "-0", "1", "-1", "2.5", "-7", "1e21", "1e-7", "0.1 + 0.2", "NaN", "Infinity", "-Infinity",
  "2 ** 31", "2 ** 32 + 1", "2 ** 53", "5e-324", "123456789.123", "''", "'a'", "'B'", "'0'", "'12'", "' 7 '", "'1e3'", "'0x1F'", "'abc'", "'é'",
  "'e\\u0301'", "'ß'", "'İ'", "'😀'", "'\\ud83d'", "'a,b,,c'", "'Hello World'", "'\\u00a0x\\ufeff'", "0n", "1n", "-5n", "2n ** 64n", "'10n'", "Symbol.iterator",
];

export const objects = [
  "{}", "[]", "[1, 2, 3]", "[1, , 3]", "['b', 'a', 'C', '10', '9']", "[3, 10, 1, -0, NaN, undefined, null]", "[[1, [2, [3]]], 4]", "[0, -0, NaN]",
  "{ a: 1, b: { c: [2] } }", "{ valueOf() { return 42; } }", "{ toString() { return 'str'; } }", "{ 2: 'two', 1: 'one', b: 'b', a: 'a', '-1': 'neg' }",
  "{ [Symbol.toPrimitive](hint: string) { return hint === 'number' ? 7 : `hint ${hint}`; } }", "new Date(0)", "new Date(NaN)", "new Date(Date.UTC(2024, 1, 29, 12, 34, 56, 789))",
  "/a(b)?c/gi", "/(?<y>\\d{4})-(?<m>\\d\\d)/u", "new Map([[1, 'a'], ['1', 'b'], [NaN, 'c'], [-0, 'z']])", "new Set([3, 1, '1', NaN, NaN, 0, -0])",
  "new Uint8Array([1, 255, 256, -1])", "new Float32Array([0.1, -0, NaN])", "new Int16Array([40000, -1])", "new BigInt64Array([1n, -1n])", "Object.create(null)", "Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, hidden: { value: 3 } })",
  "new String('xy')", "new Number(-0)", "new Boolean(false)", "(() => 1)", "function named(a: any, b: any) { return a; }", "class K { static s = 1; m() {} }", "Object.freeze({ f: 1 })",
  "{ get g() { return 5; }, set s(v: any) {} }", "{ ...'hi' }", "{ length: 2, 0: 'x', 1: 'y' }", "new Error('boom')", "new ArrayBuffer(4)", "{ toJSON() { return 'json'; } }", "Object(1n)", "[,]", "new Array(3)",
];

export const operators = ["+", "-", "*", "/", "%", "**", "<<", ">>", ">>>", "&", "|", "^", "==", "!=", "===", "!==", "<", "<=", ">", ">="];
export const unary = ["+", "-", "~", "!", "typeof ", "void "];

const numbers = ["0", "-0", "1", "-1", "2", "3", "1.5", "10", "-3", "NaN", "Infinity", "-Infinity", "undefined", "'2'", "100", "2 ** 32", "null"];
const counts = ["0", "1", "2", "3", "5", "-1", "1.9", "NaN", "undefined", "'2'", "100"];
const texts = ["''", "'a'", "'b'", "','", "'abc'", "'Hello World'", "'l'", "' '", "'😀'", "'é'", "'aXbXc'", "'$&'", "'$1-$2'", "'$$'", "'$<y>'", "undefined", "null", "1", "'straße'", "'İstanbul'", "'ǅ'", "'\\ud83d x'", "'2024-05'", "'ﬁ'", "'Σας'", "'a\\nb'"];
const patterns = ["/l/g", "/(l)(o)?/", "/[aeiou]/gi", "/(?<y>\\d+)-(?<m>\\d+)/", "/\\b/g", "/(?:)/g", "/^./gm", "/\\p{Lu}/gu", "/(?<=l)o/", "/(?!b)./gs", "/./gu", "/(a)|(b)/g", "/x*/y", "/\\w+/gd", "/(\\w)\\1/", "/[^\\x00-\\x7f]/g", "/\\u{1F600}/u"];
const callbacks = ["(x: any) => x", "(x: any) => x > 1", "(x: any, i: any) => i", "(x: any) => [x, x]", "(x: any) => typeof x", "(x: any) => String(x)", "(_: any, i: any, all: any) => all.length - i", "undefined", "1"];
const reducers = ["(a: any, b: any) => a + b", "(a: any, b: any) => `${a}${String(b)}`", "(a: any, b: any, i: any) => [a, b, i]"];
const comparators = ["undefined", "(a: any, b: any) => a - b", "() => 0", "(a: any, b: any) => String(b).length - String(a).length", "null"];
// Functions are left out: compilers print their text differently. Errors are left out: their own keys differ.
export const data = objects.filter((one) => !/^(class|function|\(\(\) |new Error|{ toJSON)/.test(one));
const any = [...primitives, ...data];
const lists = objects.filter((one) => one.startsWith("[") || one.startsWith("new Array(")).concat("[5, 1, 4, 1, 5, 9, 2, 6]", "['x', 'y', 'z']", "[1, 2, 3, 4, 5]", "[undefined, , null, 0]", "[true, false]");
const strings = texts.filter((one) => one.startsWith("'"));
const nums = ["0", "-0", "1", "-1", "0.5", "1.005", "255", "1e21", "1e-7", "123.456", "-1.5", "NaN", "Infinity", "2 ** 53", "5e-324", "1.7976931348623157e308", "0.000001", "1e100", "4.35", "25", "-0.0000001", "1234.5678"];
// Doubles of many sizes, the same in every run: a linear congruential generator gives the digits.
let seed = 20;
const fraction = () => (seed = (seed * 1664525 + 1013904223) % 4294967296) / 4294967296;
const doubles = Array.from({ length: 400 }, (_, i) => String((fraction() - 0.4 + fraction() * 2 ** -32) * [1, 2, 20, 1500, 1e9, 1e-9, 1e200, 1e-200][i % 8]));
const radix = ["undefined", "2", "10", "16", "36", "1", "37", "8"];
const dates = ["new Date(0)", "new Date(NaN)", "new Date(8.64e15)", "new Date(8.64e15 + 1)", "new Date(-1)", "new Date(2024, 1, 29, 23, 59, 59, 999)", "new Date('2024-02-03')", "new Date('2024-02-03T04:05:06')", "new Date('2024-02-03T04:05:06.789+05:30')", "new Date(2024, 11)", "new Date(99, 0)", "new Date(-1, 0)", "new Date(2024, 0, 1, 0, 0, 0, -1)", "new Date('2024')", "new Date(Date.UTC(1969, 6, 20, 20, 17, 40))", "new Date(null as any)", "new Date(undefined as any)", "new Date(true as any)", "new Date(new Date(5))", "new Date('Thu, 01 Jan 1970 00:00:00 GMT')", "new Date(1e12 + 0.9)"];
export const dateTexts = [
  "2024-02-03", "2024/02/03", "02/03/2024", "2024-2-3", "2024-02-30", "2024-13-01", "2024-02-03 10:20", "2024-02-03 10:20:30", "2024-02-03T10:20", "2024-02-03T10:20:30", "2024-02-03T10:20:30Z", "2024-02-03T10:20:30.5Z",
  "2024-02-03T10:20:30.123456Z", "2024-02-03T10:20:30+01:00", "2024-02-03T24:00:00", "2024-02-03T24:00:01", "Feb 3, 2024", "3 Feb 2024", "February 3, 2024 10:20 PM", "Sat Feb 03 2024", "Sat, 03 Feb 2024 10:20:30 GMT", "Sat, 03 Feb 2024 10:20:30 +0200",
  "Sat Feb 03 2024 10:20:30 GMT+0100 (CET)", "2024", "2024-02", "+002024-02-03T00:00:00Z", "-000001-01-01T00:00:00Z", "-000000-01-01T00:00:00Z", "2024-02-03T10", "20240203", "12:30", "", "abc", "2024-02-03T10:20:30 Z", " 2024-02-03", "2024-02-03 ", "1/2/99", "1/2/49", "1/2/50", "2024-W05-1",
  "2024-02-03T10:20:60Z", "2024-02-03T10:60Z", "Feb 30 2024", "Feb 3", "10 Feb", "2024 Feb 3", "Feb-03-2024", "2024.02.03", "3.2.2024", "2024-02-03T10:20:30EST", "Feb 3 2024 10:20 EST", "Feb 3 2024 10:20:30 PST", "Feb 3 2024 10:20 UTC", "Feb 3 2024 10:20 am", "Feb 3 2024 12:00 am", "Feb 3 2024 12:00 pm", "Feb 3 2024 13:00 pm", "Saturday, February 3, 2024", "2024-02-03t10:20:30z", "0", "1", "12", "13", "32", "99", "100", "1970-01-01T00:00:00.000+00:00",
];

// Calls: receiver expressions, method, argument pools.
export const calls = [
  ...["at", "charAt", "charCodeAt", "codePointAt"].map((name) => [strings, name, [numbers]]),
  ...["slice", "substring", "substr"].map((name) => [strings, name, [numbers, numbers]]),
  ...["includes", "startsWith", "endsWith", "indexOf", "lastIndexOf"].map((name) => [strings, name, [texts, numbers]]),
  ...["padStart", "padEnd"].map((name) => [strings, name, [counts, texts]]),
  ...["trim", "trimStart", "trimEnd", "toUpperCase", "toLowerCase", "isWellFormed", "toWellFormed", "toLocaleUpperCase", "toLocaleLowerCase", "toString", "valueOf"] .map((name) => [[...strings, "'\\u00a0x\\ufeff'", "'ŉ'", "'ﬃ'", "'ΑΣ'"], name, []]),
  [strings, "normalize", [["undefined", "'NFC'", "'NFD'", "'NFKC'", "'NFKD'", "'x'"]]],
  [strings, "repeat", [counts]], [strings, "concat", [any, any]], [strings, "split", [[...texts, ...patterns], numbers]],
  [strings, "replace", [[...texts, ...patterns], [...texts, "(m: any) => `<${m}>`", "(...args: any[]) => args.length"]]],
  [strings, "replaceAll", [[...texts, ...patterns], [...texts, "(m: any) => `<${m}>`"]]],
  [strings, "match", [[...patterns, ...texts]]], [strings, "search", [[...patterns, ...texts]]],
  [strings, "localeCompare", [texts]],
  ...["at", "with"].map((name) => [lists, name, [numbers, primitives]]),
  ...["map", "filter", "find", "findIndex", "findLast", "findLastIndex", "some", "every", "flatMap", "forEach"].map((name) => [lists, name, [callbacks]]),
  ...["reduce", "reduceRight"].flatMap((name) => [[lists, name, [reducers]], [lists, name, [reducers, primitives]]]),
  ...["includes", "indexOf", "lastIndexOf"].map((name) => [lists, name, [primitives, numbers]]),
  ...["slice"].map((name) => [lists, name, [numbers, numbers]]),
  ...["splice", "toSpliced"].map((name) => [lists, name, [numbers, numbers, primitives]]),
  ...["sort", "toSorted"].map((name) => [lists, name, [comparators]]),
  ...["reverse", "toReversed", "keys", "values", "entries", "pop", "shift", "toString", "toLocaleString"].map((name) => [lists, name, []]),
  ...["push", "unshift", "concat"].map((name) => [lists, name, [any, any]]),
  [lists, "join", [texts]], [lists, "flat", [numbers]], [lists, "fill", [primitives, numbers, numbers]], [lists, "copyWithin", [numbers, numbers, numbers]],
  ...["toFixed", "toPrecision", "toExponential"].map((name) => [nums, name, [["undefined", "0", "1", "2", "5", "20", "100", "101", "-1"]]]),
  [nums, "toString", [radix]], [nums, "toLocaleString", []], [nums, "valueOf", []],
  ...["toString", "toISOString", "toJSON", "toUTCString", "toDateString", "toTimeString", "toLocaleString", "toLocaleDateString", "toLocaleTimeString", "getTime", "getFullYear", "getMonth", "getDate", "getDay", "getHours", "getMinutes", "getSeconds", "getMilliseconds", "getTimezoneOffset", "getUTCDay", "valueOf", "getYear"].map((name) => [dates, name, []]),
  ...["setFullYear", "setMonth", "setDate", "setHours", "setMinutes", "setSeconds", "setMilliseconds", "setTime", "setUTCHours", "setUTCMonth"].map((name) => [dates, name, [numbers, numbers]]),
  [patterns, "test", [texts]], [patterns, "exec", [texts]], [patterns, "toString", []],
  ...["has", "get", "delete"].map((name) => [["new Map([[1, 'a'], [NaN, 'c'], [-0, 'z']])"], name, [primitives]]),
  ...["has", "add", "delete"].map((name) => [["new Set([1, '1', NaN, 0])"], name, [primitives]]),
  ...["set", "subarray", "slice", "fill", "at", "with", "indexOf", "includes"].map((name) => [["new Uint8Array([1, 2, 3])", "new Float64Array([1.5, -0, NaN])", "new Int8Array([-1, 127])"], name, [["[9]", ...numbers], numbers]]),
  ...["sort", "toSorted", "reverse", "toReversed", "join", "toString", "keys", "entries", "toLocaleString"].map((name) => [["new Uint8Array([10, 9, 200])", "new Float32Array([3, NaN, -0, 0, -1])", "new BigInt64Array([3n, -1n])"], name, []]),
  [["5n", "-255n", "2n ** 70n"], "toString", [radix]], [["5n", "1234567n"], "toLocaleString", []],
  ...["hasOwnProperty", "propertyIsEnumerable"].map((name) => [objects.map((one) => `(${one} as any)`), name, [["'a'", "'length'", "0", "Symbol.iterator"]]]),
  ...["toString", "valueOf", "toLocaleString"].map((name) => [any, name, []]),
];

// Global functions.
export const globals = [
  ...["String", "Number", "Boolean", "BigInt", "Object", "Array", "isNaN", "isFinite", "Number.isInteger", "Number.isSafeInteger", "Number.isNaN", "Number.isFinite", "Array.isArray", "Array.of", "Object.keys", "Object.values", "Object.entries", "Object.getOwnPropertyNames", "Object.isFrozen", "Object.isSealed", "Symbol.keyFor", "encodeURIComponent", "encodeURI", "decodeURIComponent", "escape", "unescape", "structuredClone", "JSON.stringify", "Array.from", "Object.fromEntries", "Object.assign", "Object.freeze", "Symbol"].map((name) => [name, [any]]),
  ...["parseFloat", "Number", "BigInt", "JSON.parse", "encodeURI", "decodeURI", "btoa", "atob", "escape"].map((name) => [name, [["'12px'", "'0x1F'", "'0b101'", "'-0'", "'1_000'", "' 12 '", "''", "'{\"a\":[1,2,{\"b\":null}]}'", "'[1e3,-0.0]'", "'{\"__proto__\":1}'", "'nul'", "'1,2'", "'%41'", "'%'", "'%E0%A4'", "'aGk='", "'é'", "'😀'", "'{\"a\":1,\"a\":2}'", "'\"\\\\u0041\"'", "'1e1000'", "'.5'", "'5.'", "'+5'", "'Infinity'", "'-Infinity'", "'0o17'", "'[1,]'", "'\\u2028'"]]]),
  ["parseInt", [["'12px'", "'0x1F'", "'z'", "' -42'", "''", "1e21", "0.0000005", "null", "'123456789012345678901234567890'"], radix]],
  ["Date.parse", [dateTexts.map((one) => JSON.stringify(one))]],
  ["Date.UTC", [numbers, numbers, numbers, numbers]],
  ...["abs", "ceil", "floor", "round", "trunc", "sign", "fround", "clz32", "sqrt"].map((name) => [`Math.${name}`, [[...nums, "0.5", "-0.5", "2.5", "-2.5", "0.49999999999999994", "'3'", "null"]]]),
  ...["max", "min", "hypot", "imul"].map((name) => [`Math.${name}`, [[...nums, "'3'"], nums]]),
  ...["acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "exp", "expm1", "log", "log10", "log1p", "log2", "sin", "sinh", "tan", "tanh"].map((name) => [`Math.${name}`, [[...nums, ...doubles, "'3'", "null"]]]),
  ...["atan2", "pow", "hypot"].map((name) => [`Math.${name}`, [[...nums, ...doubles, "'3'"], [...nums, ...doubles]]]),
  ["Object.is", [primitives, primitives]], ["String.fromCharCode", [["65", "0x1F600", "-1", "55357"], ["66", "0xDE00"]]], ["String.fromCodePoint", [["65", "0x1F600", "-1", "1.5"]]], ["String.raw", [["{ raw: 'abc' }", "{ raw: ['a', 'b'] }"], ["1", "'x'"]]],
  ["Array.from", [["{ length: 3 }", "'a😀b'", "new Set([1, 2])", "new Map([[1, 2]])", "5"], callbacks]],
  ["JSON.stringify", [["{ toJSON() { return 'json'; } }", "{ a: new Date(0) }", "new Error('boom')", ...any], ["null", "['a', 'b', 1]", "(k: any, v: any) => (typeof v === 'number' ? v * 2 : v)", "(k: any, v: any) => (k === 'a' ? undefined : v)"], ["undefined", "0", "2", "11", "'--'", "'\\t'", "'longer than ten'", "true"]]],
  ["JSON.parse", [["'{\"a\":[1,2,{\"b\":3}]}'", "'[1,[2,3]]'"], ["(k: any, v: any) => (Array.isArray(v) ? v.length : v)", "function (this: any, k: any, v: any) { return k === '0' ? undefined : v; }", "(k: any, v: any) => (k === '' ? v : `${k}=${JSON.stringify(v)}`)"]]],
  ["BigInt.asUintN", [["8", "64", "0"], ["-1n", "256n", "2n ** 65n"]]], ["BigInt.asIntN", [["8", "64"], ["255n", "-129n"]]],
  ["Object.getOwnPropertyDescriptor", [data, ["'a'", "'length'", "0", "'g'"]]], ["Reflect.ownKeys", [data]], ["Object.getOwnPropertyDescriptors", [data]],
  ["Object.entries", [["'hi'", "[1, , 3]", "{ 2: 1, 1: 2, a: 3 }"]]], ["Number.prototype.toString.call", [any]], ["Object.prototype.toString.call", [any]], ["Array.prototype.slice.call", [["'abc'", "{ length: 2, 0: 1 }"], numbers]], ["Array.prototype.map.call", [["'abc'", "{ length: 2, 0: 1 }"], callbacks]],
];
