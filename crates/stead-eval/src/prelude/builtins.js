// Wraps built-ins that test a value without converting it, because the engine would test the proxy of an unknown.
//
// Each wrapper refuses unknowns and behaves like the original for known values.

import { NativeArray, apply, construct, defineProperty, getPrototypeOf, isArray, replace } from "stead:host";
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

// Searches compare the argument with each item up to the first match.
const search = (native, name) =>
  ({ call(...args) {
    check(args[0], name);
    const found = apply(native, this, args);
    if (isArray(this)) {
      const end = typeof found === "number" && found >= 0 && name !== "Array.prototype.lastIndexOf" ? found : this.length;
      if (found !== true) for (let i = 0; i < end; i++) check(this[i], name);
    }
    return found;
  } }).call;
for (const key of ["includes", "indexOf", "lastIndexOf"]) wrap(Array.prototype, key, `Array.prototype.${key}`, search);

// `flat` expands arrays; an unknown may or may not be one.
wrap(Array.prototype, "flat", "Array.prototype.flat", (native, name) =>
  ({ call(depth) {
    const look = (list, left) => {
      for (let i = 0; i < list.length; i++) {
        check(list[i], name);
        if (left > 0 && isArray(list[i])) look(list[i], left - 1);
      }
    };
    if (isArray(this)) look(this, (depth === undefined ? 1 : +depth) - 1);
    return apply(native, this, [depth]);
  } }).call);
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
