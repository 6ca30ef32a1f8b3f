// Values in a test: plain data, values known only after apply, and secrets. Compares them and writes them as text.
//
// Invariant: a secret is an origin without a value, so that no text of a test shows one.

import { host, freeze, getPrototypeOf, hasOwn, isArray, ownKeys } from "stead:host";

const SIGNATURE = host.signature;
const { stringify } = JSON;

/** A value that is known only after apply. */
export class Unknown {
  constructor(of, text) {
    this.of = freeze(of);
    this.text = text;
    freeze(this);
  }
  toString() {
    return `<known after apply: ${this.text}>`;
  }
  toJSON() {
    return this.toString();
  }
}

/** A secret. Only its origin is known. */
export class Secret {
  constructor(from) {
    this.from = from;
    freeze(this);
  }
  toString() {
    return `<secret: ${this.from}>`;
  }
  toJSON() {
    return this.toString();
  }
}

/** A value that stands for several in a comparison, such as `expect.any(String)`. */
export class Matcher {
  constructor(text, matches) {
    this.text = text;
    this.matches = matches;
  }
  toString() {
    return this.text;
  }
}

/** Turns the marked objects of an answer into unknowns and secrets, and freezes the whole. */
export function revive(value) {
  if (typeof value !== "object" || value === null) return value;
  if (value[SIGNATURE] === "unknown") return new Unknown(value.of, value.text);
  if (value[SIGNATURE] === "secret") return new Secret(value.from);
  for (const key of ownKeys(value)) if (key !== "length") value[key] = revive(value[key]);
  return freeze(value);
}

const isPlain = (value) => {
  const prototype = getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};

const keysOf = (value) => Object.keys(value).sort();

/** Returns true if two values are equal. With `partial`, an object may have more members than the expected one. */
export function equals(received, expected, { partial = false, strict = false } = {}, seen = []) {
  if (expected instanceof Matcher) return expected.matches(received);
  if (Object.is(received, expected)) return true;
  if (typeof received !== "object" || typeof expected !== "object" || received === null || expected === null) return false;
  if (seen.some(([a, b]) => a === received && b === expected)) return true;
  const inside = (a, b) => equals(a, b, { partial, strict }, [...seen, [received, expected]]);
  if (isArray(received) || isArray(expected)) {
    if (!isArray(received) || !isArray(expected) || received.length !== expected.length) return false;
    return received.every((item, i) => inside(item, expected[i]));
  }
  for (const type of [Unknown, Secret, Date, RegExp]) {
    if (received instanceof type || expected instanceof type) {
      return received instanceof type && expected instanceof type && `${received}` === `${expected}`;
    }
  }
  if (received instanceof Error || expected instanceof Error) return received.message === expected.message;
  if (received instanceof Map && expected instanceof Map) return inside([...received], [...expected]);
  if (received instanceof Set && expected instanceof Set) return inside([...received], [...expected]);
  if (strict && getPrototypeOf(received) !== getPrototypeOf(expected)) return false;
  const set = (value) => keysOf(value).filter((key) => strict || value[key] !== undefined);
  const [ours, theirs] = [set(received), set(expected)];
  if (!partial && ours.length !== theirs.length) return false;
  return theirs.every((key) => hasOwn(received, key) && inside(received[key], expected[key]));
}

const identifier = /^[A-Za-z_$][\w$]*$/;

/** Returns a value as text of several lines, with sorted keys. Equal values have equal texts. */
export function pretty(value, indent = "", around = []) {
  if (typeof value === "string") return stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return `Symbol(${value.description ?? ""})`;
  if (typeof value === "function") return `[function ${value.name || "anonymous"}]`;
  if (Object.is(value, -0)) return "-0";
  if (typeof value !== "object" || value === null) return `${value}`;
  for (const type of [Unknown, Secret, Matcher, RegExp]) if (value instanceof type) return `${value}`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof Error) return `[${value.name}: ${value.message}]`;
  if (around.includes(value)) return "[circular]";
  const within = [...around, value];
  const deeper = `${indent}  `;
  const block = (open, lines, close) =>
    lines.length === 0 ? `${open}${close}` : `${open}\n${lines.map((line) => `${deeper}${line},\n`).join("")}${indent}${close}`;
  if (isArray(value)) return block("[", Array.from(value, (item) => pretty(item, deeper, within)), "]");
  if (value instanceof Set) return block("Set {", Array.from(value, (item) => pretty(item, deeper, within)), "}");
  if (value instanceof Map) {
    return block("Map {", Array.from(value, ([key, item]) => `${pretty(key, deeper, within)} => ${pretty(item, deeper, within)}`), "}");
  }
  const name = isPlain(value) ? "" : `${getPrototypeOf(value)?.constructor?.name ?? ""} `;
  const member = (key) => `${identifier.test(key) ? key : stringify(key)}: ${pretty(value[key], deeper, within)}`;
  return block(`${name}{`, keysOf(value).map(member), "}");
}

/** Returns a value on one line, cut if it is long. */
export function brief(value) {
  const text = pretty(value).replace(/\s*\n\s*/g, " ");
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** Returns a value as plain data for a snapshot: everything that is not data becomes its text. */
export function plain(value, around = []) {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : `${value}`;
  if (typeof value !== "object") return pretty(value);
  if (around.includes(value)) return "[circular]";
  const within = [...around, value];
  if (isArray(value)) return Array.from(value, (item) => plain(item, within));
  for (const type of [Unknown, Secret, Matcher, RegExp, Date, Error]) if (value instanceof type) return pretty(value);
  if (value instanceof Map || value instanceof Set) return Array.from(value, (item) => plain(item, within));
  const out = {};
  for (const key of keysOf(value)) if (value[key] !== undefined) out[key] = plain(value[key], within);
  return out;
}
