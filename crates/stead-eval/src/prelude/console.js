// console.*: formats values as text for Rust to collect.
//
// Invariant: formatting never fails and never runs code of the program.

import { host, NativeError, apply, defineProperty, getPrototypeOf, isArray, ownKeys, ownProperty, setMember } from "stead:host";
import { idOf } from "stead:unknown";
import { nodeOf } from "stead:resource";

const { stringify } = JSON;
const { replaceAll, slice } = String.prototype;
const LONGEST_INDENT = 100;

function show(value, depth) {
  const id = idOf(value);
  if (id !== undefined) return `<${host.describe(id)}>`;
  if (typeof value === "string") return depth === 0 ? value : stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return "<symbol>";
  if (typeof value === "function") return functionText(textIn(value, "name"));
  if (typeof value !== "object" || value === null) return `${value}`;
  const node = nodeOf(value);
  if (node !== undefined) return `<${host.describeNode(node)}>`;
  if (value instanceof NativeError) return `${textIn(value, "name")}: ${textIn(value, "message")}`;
  if (depth > 3) return isArray(value) ? "[…]" : "{…}";
  return isArray(value) ? showList(value, depth) : showObject(value, depth);
}

const functionText = (name) => (name === "" ? "<anonymous function>" : `<function ${name}>`);

function showList(list, depth) {
  let text = "[";
  for (let i = 0; i < list.length && i < 100; i++) text += `${i > 0 ? ", " : ""}${show(list[i], depth + 1)}`;
  return `${text}${list.length > 100 ? ", …" : ""}]`;
}

function showObject(object, depth) {
  let text = "";
  const keys = ownKeys(object);
  for (let i = 0; i < keys.length && i < 100; i++) {
    const property = ownProperty(object, keys[i]);
    if (typeof keys[i] === "symbol" || !property.enumerable) continue;
    const shown = property.get === undefined ? show(property.value, depth + 1) : "<getter>";
    text += `${text === "" ? "" : ", "}${keys[i]}: ${shown}`;
  }
  return text === "" ? "{}" : `{ ${text} }`;
}

// Returns a string property of an object or its prototypes, without running getters.
function textIn(object, key) {
  for (let at = object; at !== null; at = getPrototypeOf(at)) {
    const property = ownProperty(at, key);
    if (property !== undefined) return typeof property.value === "string" ? property.value : "";
  }
  return "";
}

// Lines that take about as long as the steps between two interrupts, with the work to show them.
const LINES = 10;
let lines = 0;

// Indent of the open groups.
let indent = "";

function write(level, values) {
  let text = indent;
  for (let i = 0; i < values.length; i++) text += `${i > 0 ? " " : ""}${show(values[i], 0)}`;
  host.log(level, indent === "" ? text : apply(replaceAll, text, ["\n", `\n${indent}`]), new NativeError().stack);
  if (++lines % LINES === 0 && host.work(1)) throw new NativeError("interrupted");
}

const levels = { debug: 0, trace: 0, log: 1, info: 1, dir: 1, dirxml: 1, table: 1, warn: 2, error: 3 };
const console = {};
const provide = (name, call) => {
  defineProperty(call, "name", { value: name });
  console[name] = call;
};
for (const name of ownKeys(levels)) {
  provide(name, name === "dir" || name === "table" ? (value) => write(levels[name], [value]) : (...values) => write(levels[name], values));
}

const counts = { __proto__: null };
const labelOf = (label) => (label === undefined ? "default" : show(label, 0));
const others = {
  // A condition that is known only after apply decides nothing but the output.
  assert(condition, ...values) {
    if (!condition) write(levels.warn, values.length === 0 ? ["Assertion failed"] : ["Assertion failed:", ...values]);
  },
  count(label) {
    const name = labelOf(label);
    counts[name] = (counts[name] ?? 0) + 1;
    write(levels.log, [`${name}: ${counts[name]}`]);
  },
  countReset(label) {
    delete counts[labelOf(label)];
  },
  group(...values) {
    if (values.length > 0) write(levels.log, values);
    if (indent.length < LONGEST_INDENT) indent += "  ";
  },
  groupEnd() {
    indent = apply(slice, indent, [2]);
  },
};
others.groupCollapsed = (...values) => others.group(...values);
for (const name of ownKeys(others)) provide(name, others[name]);
// A program has no clock, and nothing that would show a profile or clear a screen.
for (const name of ["time", "timeEnd", "timeLog", "timeStamp", "profile", "profileEnd", "clear"]) provide(name, () => {});
setMember(globalThis, "console", console);
