// Text that contains unknowns: JSON.stringify, Array.prototype.join and String.

import {
  host, apply, construct, define, defineProperty, isArray, list, ownKeys, ownProperty, replace, setMember, toText,
} from "stead:host";
import { idOf, refuse, setJsonHole, unknown } from "stead:unknown";
import { deferGlobal, deferMethod } from "stead:defer";

const { stringify } = JSON;
const { join } = Array.prototype;
const NativeString = String;
const { raw } = NativeString;
const { lastIndexOf, slice, split, startsWith, trim } = NativeString.prototype;
const { trunc } = Math;

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

setMember(Array.prototype, "join", {
  join(separator) {
    if (!isArray(this) || (idOf(separator) === undefined && !holdsUnknown(this))) return apply(join, this, [separator]);
    const between = separator === undefined ? "," : separator;
    const parts = list();
    parts[0] = "";
    for (let i = 0; i < this.length; i++) {
      if (i > 0) append(parts, between);
      append(parts, this[i], true);
    }
    return unknown(host.template(parts));
  },
}.join);

// Appends to `parts`, which has text at even and expressions at odd positions. An item of a list (`isItem`) that turns out to be
// null or undefined is empty; its expression has the number -1 - id.
function append(parts, item, isItem = false) {
  if (isItem && (item === undefined || item === null)) return;
  let text = textOf(item);
  if (isItem && typeof text === "number") text = -1 - text;
  if (typeof text === "string") parts[parts.length - 1] += text;
  else {
    parts[parts.length] = text;
    parts[parts.length] = "";
  }
}

/** Converts a value to a string or to the number of an expression. An array joins its items. */
export function textOf(value) {
  if (typeof value === "string") return value;
  if (typeof value === "number") return NativeString(value);
  const id = idOf(isArray(value) ? value.join() : value);
  return id === undefined ? toText(value) : id;
}

// The engine needs a string from `toString`, so an unknown is refused.
const { toString } = Array.prototype;
setMember(Array.prototype, "toString", {
  toString() {
    const text = apply(toString, this, []);
    const id = idOf(text);
    return id === undefined ? text : refuse("text", id);
  },
}.toString);

function holdsUnknown(array) {
  for (let i = 0; i < array.length; i++) {
    const item = array[i];
    if (idOf(item) !== undefined || (isArray(item) && holdsUnknown(item))) return true;
  }
  return false;
}

function SteadString(...args) {
  if (new.target !== undefined) return construct(NativeString, args, new.target);
  const text = args.length === 0 || typeof args[0] === "symbol" ? "" : textOf(args[0]);
  return typeof text === "string" ? apply(NativeString, undefined, args) : unknown(host.template(["", text, ""]));
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
    let deferred = idOf(template) !== undefined && refuse("text", idOf(template));
    const parts = [""];
    for (let i = 0; i < holes.length; i++) deferred = deferred || typeof textOf(holes[i]) !== "string";
    if (!deferred) return apply(raw, NativeString, [template, ...holes]);
    const { raw: pieces } = template;
    for (let i = 0; i < pieces.length; i++) {
      append(parts, pieces[i]);
      if (i + 1 < pieces.length && i < holes.length) append(parts, holes[i]);
    }
    return unknown(host.template(parts));
  },
}.raw);
