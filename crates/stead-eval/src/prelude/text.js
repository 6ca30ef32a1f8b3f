// Text that contains unknowns: JSON.stringify, Array.prototype.join and String.

import {
  host, LONGEST, NativeError, apply, construct, define, defineProperty, isArray, list, ownKeys, ownProperty, replace, setMember, toText,
} from "stead:host";
import { idOf, refuse, setJsonHole, unknown } from "stead:unknown";
import { deferGlobal, deferMethod } from "stead:defer";

const { stringify } = JSON;
const { join } = Array.prototype;
const NativeString = String;
const { raw } = NativeString;
const { lastIndexOf, slice, split, startsWith, trim } = NativeString.prototype;
const { trunc } = Math;
const NativeObject = Object;

// JSON.stringify writes a mark for each unknown, and the text is then split at the marks. If strings of the program contain
// the mark too, the count differs, and another mark is tried.
function stringifyWithUnknowns(value, replacer, space) {
  for (let attempt = 0; ; attempt++) {
    const mark = "\u2060stead unknown " + attempt + "\u2060";
    const ids = list();
    const outer = setJsonHole((id) => () => {
      if (typeof replacer === "function") refuse("replacer", id);
      // A list of keys also filters the keys inside the value.
      if (isArray(replacer) && !host.isScalar(id)) refuse("replacer", id);
      ids[ids.length] = id;
      return mark;
    });
    let text;
    try {
      text = stringify(value, typeof replacer === "function" ? knownReplacer(replacer) : replacer, space);
    } finally {
      setJsonHole(outer);
    }
    if (ids.length === 0) return text;
    const pieces = apply(split, text, ['"' + mark + '"']);
    if (pieces.length === ids.length + 1 && countOf(text, mark) === ids.length) return template(pieces, ids, gapOf(space));
  }
}

// Wraps a replacer to refuse unknown results, which JSON.stringify would omit like functions.
function knownReplacer(replacer) {
  return function (key, value) {
    const replaced = apply(replacer, this, [key, value]);
    const id = idOf(replaced);
    return id === undefined ? replaced : refuse("replacer", id);
  };
}

function countOf(text, mark) {
  return apply(split, text, [mark]).length - 1;
}

// Returns the indent of one level.
function gapOf(space) {
  if (typeof space === "object" && space !== null) space = space.valueOf();
  if (typeof space === "number") return apply(slice, "          ", [0, space < 0 ? 0 : trunc(space)]);
  return typeof space === "string" ? apply(slice, space, [0, 10]) : "";
}

function template(pieces, ids, gap) {
  const parts = list();
  parts[0] = pieces[0];
  let line = pieces[0];
  for (let i = 0; i < ids.length; i++) {
    parts[2 * i + 1] = idOf(hole(ids[i], gap, line));
    parts[2 * i + 2] = pieces[i + 1];
    const start = apply(lastIndexOf, pieces[i + 1], ["\n"]);
    line = start < 0 ? line + pieces[i + 1] : apply(slice, pieces[i + 1], [start + 1]);
  }
  return unknown(host.template(parts));
}

// Returns the JSON text of an unknown, with its lines indented like the line that it starts in.
function hole(id, gap, line) {
  if (gap === "" || host.isScalar(id)) return unknown(host.json(id));
  if (apply(trim, gap, []) !== "") refuse("indent", id);
  const start = apply(lastIndexOf, line, ["\n"]);
  if (start >= 0) line = apply(slice, line, [start + 1]);
  let around = "";
  while (apply(startsWith, line, [around + gap])) around += gap;
  const json = deferGlobal("JSON.stringify", [unknown(id), null, gap], id);
  return around === "" ? json : deferMethod(json, "replaceAll", ["\n", `\n${around}`], id);
}

setMember(JSON, "stringify", {
  stringify(value, replacer, space) {
    const id = idOf(replacer) ?? idOf(space);
    if (id !== undefined) refuse("text", id);
    return stringifyWithUnknowns(value, replacer, space === 0 || space === "" || space === null ? undefined : space);
  },
}.stringify);

// Lists whose items are being joined: a list inside itself is empty, as in Node.js.
const joining = new Set();
const { add, delete: forget, has } = Set.prototype;

setMember(Array.prototype, "join", {
  join(separator) {
    if (this === undefined || this === null) return apply(join, this, [separator]);
    if (apply(has, joining, [this])) return "";
    apply(add, joining, [this]);
    try {
      return joined(NativeObject(this), separator);
    } finally {
      apply(forget, joining, [this]);
    }
  },
}.join);

// Reads and converts each item once.
function joined(array, separator) {
  const length = trunc(+array.length);
  if (length > LONGEST) throw new NativeError("out of memory");
  const between = separator === undefined ? "," : textOf(separator);
  const texts = list();
  let deferred = typeof between !== "string" && length > 1;
  for (let i = 0; i < length; i++) {
    const item = array[i];
    const text = item === undefined || item === null ? "" : textOf(item);
    if (typeof text !== "string") deferred = true;
    texts[i] = text;
  }
  if (!deferred) return apply(join, texts, [between]);
  const parts = list();
  parts[0] = "";
  for (let i = 0; i < length; i++) {
    if (i > 0) append(parts, between);
    // An item that turns out to be null or undefined is empty; its expression has the number -1 - id.
    append(parts, typeof texts[i] === "number" ? -1 - texts[i] : texts[i]);
  }
  return unknown(host.template(parts));
}

// Appends a text or the number of an expression to `parts`, which has text at even and expressions at odd positions.
function append(parts, text) {
  if (typeof text === "string") parts[parts.length - 1] += text;
  else {
    parts[parts.length] = text;
    parts[parts.length] = "";
  }
}

/** Converts a value to a string or to the number of an expression, once. An array joins its items. */
export function textOf(value) {
  if (typeof value === "string") return value;
  if (typeof value === "number") return NativeString(value);
  return idOf(value) ?? (isArray(value) ? textOfArray(value) : toText(value));
}

// The engine needs a string from `toString`, so that the one of an array reports an unknown text here and returns a mark.
const DEFERRED = "\u2060stead deferred\u2060";
let conversion;
function textOfArray(array) {
  const outer = conversion;
  const own = (conversion = { array, id: undefined });
  try {
    const text = toText(array);
    if (own.id === undefined) return text;
    return text === DEFERRED ? own.id : refuse("text", own.id);
  } finally {
    conversion = outer;
  }
}

const { toString } = Array.prototype;
setMember(Array.prototype, "toString", {
  toString() {
    const asked = conversion;
    const text = apply(toString, this, []);
    const id = idOf(text);
    if (id === undefined) return text;
    if (asked === undefined || asked.array !== this) refuse("text", id);
    asked.id = id;
    return DEFERRED;
  },
}.toString);

function SteadString(...args) {
  if (new.target !== undefined) return construct(NativeString, args, new.target);
  if (args.length === 0 || typeof args[0] === "symbol") return apply(NativeString, undefined, args);
  const text = textOf(args[0]);
  return typeof text === "string" ? text : unknown(host.template(["", text, ""]));
}
export const replaceConstructor = (name, native, wrapper) => {
  const keys = ownKeys(native);
  for (let i = 0; i < keys.length; i++) define(wrapper, keys[i], ownProperty(native, keys[i]));
  defineProperty(wrapper, "prototype", { value: native.prototype, writable: false });
  setMember(native.prototype, "constructor", wrapper);
  setMember(globalThis, name, wrapper);
};
replaceConstructor("String", NativeString, SteadString);

replace(SteadString, "raw", {
  raw(template, ...holes) {
    if (idOf(template) !== undefined) refuse("text", idOf(template));
    const { raw: pieces } = template;
    // The native function refuses what has no pieces.
    if (pieces === undefined || pieces === null) return apply(raw, NativeString, [{ raw: pieces }]);
    const length = trunc(+pieces.length);
    const parts = list();
    parts[0] = "";
    for (let i = 0; i < length; i++) {
      append(parts, textOf(pieces[i]));
      if (i + 1 < length && i < holes.length) append(parts, textOf(holes[i]));
    }
    return parts.length === 1 ? parts[0] : unknown(host.template(parts));
  },
}.raw);
