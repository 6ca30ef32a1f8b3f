// Text made of unknowns: JSON.stringify, Array.prototype.join and String.

import { host, apply, construct, defineProperty, isArray } from "stead:host";
import { idOf, refuse, setJsonHole, unknown } from "stead:unknown";

const { stringify } = JSON;
const { join } = Array.prototype;
const NativeString = String;
const { split } = NativeString.prototype;

// While JSON.stringify runs, each unknown leaves a mark in the text; afterwards the text is cut at the marks.
// A mark that the program's own strings contain too is found out by counting, and another one is taken.
function stringifyWithUnknowns(value, replacer, space) {
  for (let attempt = 0; ; attempt++) {
    const mark = `\u2060stead unknown ${attempt}\u2060`;
    const ids = [];
    const outer = setJsonHole((id) => () => {
      if (typeof replacer === "function") refuse("replacer", id);
      if (space !== undefined && !host.isScalar(id)) refuse("indent", id);
      ids[ids.length] = id;
      return mark;
    });
    let text;
    try {
      text = stringify(value, replacer, space);
    } finally {
      setJsonHole(outer);
    }
    if (ids.length === 0) return text;
    const pieces = apply(split, text, [`"${mark}"`]);
    if (pieces.length === ids.length + 1 && countOf(text, mark) === ids.length) return template(pieces, ids);
  }
}

function countOf(text, mark) {
  return apply(split, text, [mark]).length - 1;
}

function template(pieces, ids) {
  const parts = [pieces[0]];
  for (let i = 0; i < ids.length; i++) {
    parts[2 * i + 1] = host.json(ids[i]);
    parts[2 * i + 2] = pieces[i + 1];
  }
  return unknown(host.template(parts));
}

defineProperty(JSON, "stringify", {
  value: function (value, replacer, space) {
    const id = idOf(replacer) ?? idOf(space);
    if (id !== undefined) refuse("text", id);
    return stringifyWithUnknowns(value, replacer, space === 0 || space === "" || space === null ? undefined : space);
  },
  writable: true,
  configurable: true,
});

defineProperty(Array.prototype, "join", {
  value: function (separator) {
    if (!isArray(this) || !holdsUnknown(this)) return apply(join, this, [separator]);
    const between = separator === undefined ? "," : `${separator}`;
    const parts = [""];
    for (let i = 0; i < this.length; i++) {
      if (i > 0) parts[parts.length - 1] += between;
      append(parts, this[i]);
    }
    return unknown(host.template(parts));
  },
  writable: true,
  configurable: true,
});

// Text stands at the even places of `parts`, expressions at the odd ones.
function append(parts, item) {
  if (item === undefined || item === null) return;
  const text = textOf(item);
  if (typeof text === "string") parts[parts.length - 1] += text;
  else {
    parts[parts.length] = text;
    parts[parts.length] = "";
  }
}

/** A value as text: a string, or the number of an expression. An array joins its items. */
export function textOf(value) {
  const id = idOf(isArray(value) ? value.join() : value);
  return id === undefined ? `${value}` : id;
}

// The engine wants a string from this one, whoever asked.
const { toString } = Array.prototype;
defineProperty(Array.prototype, "toString", {
  value: function () {
    const text = apply(toString, this, []);
    const id = idOf(text);
    return id === undefined ? text : refuse("text", id);
  },
  writable: true,
  configurable: true,
});

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
  const keys = Reflect.ownKeys(native);
  for (let i = 0; i < keys.length; i++) {
    const descriptor = Reflect.getOwnPropertyDescriptor(native, keys[i]);
    Reflect.defineProperty(wrapper, keys[i], descriptor);
  }
  defineProperty(wrapper, "prototype", { value: native.prototype, writable: false });
  defineProperty(native.prototype, "constructor", { value: wrapper, writable: true, configurable: true });
  defineProperty(globalThis, name, { value: wrapper, writable: true, configurable: true });
};
replaceConstructor("String", NativeString, SteadString);
