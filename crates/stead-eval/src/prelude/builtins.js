// Wraps built-ins that test a value without converting it, because the engine would test the proxy of an unknown.
//
// Each wrapper refuses unknowns and behaves like the original for known values.

import { LONGEST, NativeArray, NativeError, apply, construct, defineProperty, getPrototypeOf, isArray, replace } from "stead:host";
import { idOf, refuse } from "stead:unknown";
import { replaceConstructor } from "stead:text";
import { firstUnknown } from "stead:defer";

function check(value, name) {
  const id = idOf(value);
  if (id !== undefined) refuse("builtin", id, name);
  return value;
}

function wrap(object, key, name, make) {
  const native = object?.[key];
  if (typeof native !== "function") return;
  replace(object, key, make(native, name));
}

// Built-ins that test the result of a callback.
const predicate = (native, name) =>
  ({ call(callback, ...rest) {
    if (typeof callback !== "function" || idOf(callback) !== undefined) return apply(native, this, [callback]);
    const self = rest[0];
    const tested = (...args) => check(apply(callback, self, args), name);
    return apply(native, this, [tested]);
  } }).call;
const lists = [
  [Array.prototype, "Array.prototype"],
  [getPrototypeOf(Uint8Array.prototype), "TypedArray.prototype"],
  [globalThis.Iterator?.prototype, "Iterator.prototype"],
];
const tests = ["filter", "find", "findIndex", "findLast", "findLastIndex", "some", "every"];
for (const [prototype, owner] of lists) {
  for (const key of tests) wrap(prototype, key, `${owner}.${key}`, predicate);
}

// Searches compare the argument with each item up to the first match, and read each item once.
const { trunc } = Math;
const NativeObject = Object;
const lengthOf = (object) => {
  const length = trunc(+object.length);
  if (length > LONGEST) throw new NativeError("out of memory");
  return length > 0 ? length : 0;
};
const startOf = (from, length) => {
  const start = trunc(+from) || 0;
  return start >= 0 ? start : length + start > 0 ? length + start : 0;
};
const search = (key, find) =>
  wrap(Array.prototype, key, `Array.prototype.${key}`, (native, name) =>
    ({ call(...args) {
      check(args[0], name);
      if (this === undefined || this === null) return apply(native, this, args);
      const object = NativeObject(this);
      const length = lengthOf(object);
      return find(object, length, args, (item, wanted) => check(item, name) === wanted);
    } }).call);
search("includes", (object, length, args, equal) => {
  const wanted = args[0];
  if (length > 0) {
    for (let i = startOf(args[1], length); i < length; i++) {
      const item = object[i];
      if (equal(item, wanted) || (item !== item && wanted !== wanted)) return true;
    }
  }
  return false;
});
search("indexOf", (object, length, args, equal) => {
  if (length > 0) {
    for (let i = startOf(args[1], length); i < length; i++) if (i in object && equal(object[i], args[0])) return i;
  }
  return -1;
});
search("lastIndexOf", (object, length, args, equal) => {
  if (length === 0) return -1;
  const from = args.length > 1 ? trunc(+args[1]) || 0 : length - 1;
  for (let i = from < 0 ? length + from : from < length ? from : length - 1; i >= 0; i--) {
    if (i in object && equal(object[i], args[0])) return i;
  }
  return -1;
});

// `flat` expands arrays; an unknown may or may not be one.
wrap(Array.prototype, "flat", "Array.prototype.flat", (native, name) =>
  ({ call(depth) {
    if (this === undefined || this === null) return apply(native, this, [depth]);
    const object = NativeObject(this);
    const length = lengthOf(object);
    const levels = depth === undefined ? 1 : trunc(+depth) || 0;
    const made = sameKind(object);
    let end = 0;
    const expand = (from, count, left) => {
      for (let i = 0; i < count; i++) {
        if (!(i in from)) continue;
        const item = left > 0 ? check(from[i], name) : from[i];
        if (left > 0 && isArray(item)) expand(item, lengthOf(item), left - 1);
        else defineProperty(made, end++, { value: item, writable: true, enumerable: true, configurable: true });
      }
    };
    expand(object, length, levels);
    return made;
  } }).call);

// Returns the empty array that a method of `object` fills.
function sameKind(object) {
  if (!isArray(object)) return [];
  const { constructor } = object;
  if (constructor === undefined || constructor === NativeArray || constructor === SteadArray) return [];
  const kind = typeof constructor === "object" || typeof constructor === "function" ? constructor?.[Symbol.species] : constructor;
  return kind === undefined || kind === null || kind === NativeArray ? [] : new kind(0);
}
wrap(Array.prototype, "flatMap", "Array.prototype.flatMap", predicate);

// Collections compare keys by identity.
const keyed = (native, name) =>
  ({ call(...args) {
    check(args[0], name);
    return apply(native, this, args);
  } }).call;
const collections = [
  [Map, "Map", ["get", "set", "has", "delete"]],
  [Set, "Set", ["add", "has", "delete"]],
  [WeakMap, "WeakMap", ["get", "set", "has", "delete"]],
  [WeakSet, "WeakSet", ["add", "has", "delete"]],
];
for (const [type, owner, keys] of collections) {
  for (const key of keys) wrap(type.prototype, key, `${owner}.prototype.${key}`, keyed);
}
wrap(Map, "groupBy", "Map.groupBy", (native, name) =>
  ({ call(items, callback) {
    const tested = (...args) => check(apply(callback, undefined, args), name);
    return apply(native, this, [items, typeof callback === "function" ? tested : callback]);
  } }).call);

// Type tests.
const questions = [
  [Number, "Number", ["isInteger", "isFinite", "isNaN", "isSafeInteger"]],
  [Array, "Array", ["isArray"]],
  [Object, "Object", ["is"]],
  [Error, "Error", ["isError"]],
  [ArrayBuffer, "ArrayBuffer", ["isView"]],
];
for (const [owner, name, keys] of questions) {
  for (const key of keys) {
    wrap(owner, key, `${name}.${key}`, (native, asked) =>
      ({ call(...args) {
        for (let i = 0; i < args.length; i++) check(args[i], asked);
        return apply(native, this, args);
      } }).call);
  }
}
wrap(Function.prototype, "toString", "Function.prototype.toString", (native, name) =>
  ({ call() {
    return apply(native, check(this, name), []);
  } }).call);

// Constructors that inspect their argument.
for (const Native of [Boolean, Number, Object]) {
  const { name } = Native;
  function Wrapper(...args) {
    check(args[0], name);
    if (new.target === undefined) return apply(Native, undefined, args);
    return construct(Native, args, new.target === Wrapper ? Native : new.target);
  }
  replaceConstructor(name, Native, Wrapper);
}

// `Array(n)` and `new Array(n)` take a length. Arrays that the engine creates keep the native constructor, for speed.
function SteadArray(...args) {
  if (args.length === 1 && idOf(args[0]) !== undefined) refuse("count", idOf(args[0]), "Array");
  return construct(NativeArray, args, new.target === undefined || new.target === SteadArray ? NativeArray : new.target);
}
replaceConstructor("Array", NativeArray, SteadArray);
defineProperty(SteadArray, Symbol.species, {
  get() {
    return this === SteadArray ? NativeArray : this;
  },
});

wrap(JSON, "parse", "JSON.parse", (native) =>
  ({ call(...args) {
    const id = firstUnknown(args);
    return id === undefined ? apply(native, this, args) : refuse("parse", id);
  } }).call);
