// Wraps built-ins that take objects, functions or options, because an unknown is a callable proxy and would pass for one.
//
// Each wrapper refuses unknowns and behaves like the original for known values.

import {
  host, apply, create, defineProperty, getPrototypeOf, hasOwn, isArray, ownKeys, ownMethod, replace, setMember,
} from "stead:host";
import { idOf, refuse } from "stead:unknown";

const { getOwnPropertyDescriptor, defineProperty: define } = Reflect;

function check(value, name) {
  const id = idOf(value);
  if (id !== undefined) refuse("builtin", id, name);
}

// Wraps a function to check its arguments: at some positions or all, and optionally `this`.
function guard(object, owner, key, { positions, self = false, before }) {
  const native = ownMethod(object, key);
  if (native === undefined) return;
  const name = `${owner}.${typeof key === "symbol" ? key.description : key}`;
  const { call } = {
    call(...args) {
      if (self) check(this, name);
      if (positions === undefined) for (let i = 0; i < args.length; i++) check(args[i], name);
      else for (let i = 0; i < positions.length; i++) check(args[positions[i]], name);
      if (before !== undefined) args = before(args, name, this);
      return apply(native, this, args);
    },
  };
  replace(object, key, call);
}

const guardAll = (object, owner, keys, how) => {
  for (let i = 0; object !== undefined && i < keys.length; i++) guard(object, owner, keys[i], how);
};

// Reads the fields of a descriptor once, as the language does. Only `value` may be unknown.
const FIELDS = ["enumerable", "configurable", "value", "writable", "get", "set"];
function descriptor(given, name) {
  if (typeof given !== "object" || given === null) return given;
  const copy = {};
  for (let i = 0; i < FIELDS.length; i++) {
    const field = FIELDS[i];
    if (!(field in given)) continue;
    const value = given[field];
    if (field !== "value") check(value, name);
    defineProperty(copy, field, { value, enumerable: true });
  }
  return copy;
}
function descriptors(given, name) {
  if (typeof given !== "object" || given === null) return given;
  const copy = create(null);
  const keys = ownKeys(given);
  for (let i = 0; i < keys.length; i++) {
    if (!getOwnPropertyDescriptor(given, keys[i]).enumerable) continue;
    defineProperty(copy, keys[i], { value: descriptor(given[keys[i]], name), enumerable: true });
  }
  return copy;
}

// Functions that iterate over their first argument: the engine would take an unknown `done` for the end.
const iterating = (args, name) => {
  const value = args[0];
  if (typeof value !== "object" || value === null || isArray(value)) return args;
  if (typeof value[iterator] !== "function" && typeof value[asyncIterator] !== "function") return args;
  const { checked } = (iteration ??= host.lazy("stead:iterate"));
  args[0] = checked(value, (found) => {
    check(found, name);
    return found;
  });
  return args;
};
const { iterator, asyncIterator } = Symbol;
let iteration;

const objects = [
  "freeze", "seal", "preventExtensions", "isFrozen", "isSealed", "isExtensible", "keys", "values", "entries",
  "getPrototypeOf", "setPrototypeOf", "getOwnPropertyDescriptor", "getOwnPropertyDescriptors",
  "getOwnPropertyNames", "getOwnPropertySymbols", "hasOwn", "assign",
];
guardAll(Object, "Object", objects, {});
guardAll(Object, "Object", ["fromEntries", "groupBy"], { before: iterating });
guard(Object, "Object", "defineProperty", { before: ([o, k, d], name) => [o, k, descriptor(d, name)] });
guard(Object, "Object", "defineProperties", { before: ([o, all], name) => [o, descriptors(all, name)] });
guard(Object, "Object", "create", {
  before: (args, name) => (args.length < 2 ? args : [args[0], args[1] === undefined ? undefined : descriptors(args[1], name)]),
});
guardAll(Object.prototype, "Object.prototype", ["__defineGetter__", "__defineSetter__"], {});
guardAll(Object.prototype, "Object.prototype", ["isPrototypeOf", "valueOf"], { self: true });

guardAll(Reflect, "Reflect", ["get", "has", "deleteProperty", "getOwnPropertyDescriptor"], { positions: [0, 1] });
guard(Reflect, "Reflect", "set", { positions: [0, 1, 3] });
guardAll(Reflect, "Reflect", ["getPrototypeOf", "isExtensible", "ownKeys", "preventExtensions"], { positions: [0] });
guardAll(Reflect, "Reflect", ["setPrototypeOf", "construct"], {});
guard(Reflect, "Reflect", "apply", { positions: [0, 2] });
guard(Reflect, "Reflect", "defineProperty", { before: ([o, k, d], name) => [o, k, descriptor(d, name)] });

// Functions that call their arguments later or as constructors.
guardAll(Promise.prototype, "Promise.prototype", ["then", "catch", "finally"], { self: true });
guardAll(Promise, "Promise", ["reject"], { positions: [0], self: true });
guardAll(Promise, "Promise", ["resolve", "try", "withResolvers"], { positions: [], self: true });
guardAll(Promise, "Promise", ["all", "allSettled", "any", "race"], { positions: [], self: true, before: iterating });
guard(globalThis, "globalThis", "queueMicrotask", {});
guardAll(Array, "Array", ["from", "fromAsync"], { positions: [0, 1], self: true, before: iterating });
guard(Array, "Array", "of", { positions: [], self: true });

const callbacks = [
  "every", "filter", "find", "findIndex", "findLast", "findLastIndex", "flatMap", "forEach", "map", "reduce",
  "reduceRight", "some", "sort", "toSorted",
];
const TypedArray = getPrototypeOf(Uint8Array);
for (const [type, owner] of [[Array, "Array"], [TypedArray, "TypedArray"], [globalThis.Iterator, "Iterator"], [Map, "Map"], [Set, "Set"]]) {
  guardAll(type?.prototype, `${owner}.prototype`, callbacks, { positions: [0], self: owner === "Iterator" });
}
for (const owner of ["DisposableStack", "AsyncDisposableStack"]) {
  guard(globalThis[owner].prototype, `${owner}.prototype`, "adopt", { positions: [1] });
  guard(globalThis[owner].prototype, `${owner}.prototype`, "defer", {});
}
guardAll(TypedArray.prototype, "TypedArray.prototype", ["includes", "indexOf", "lastIndexOf"], {});

// Functions that would inspect the receiver only later, or fail with an unclear error.
guardAll(Array.prototype, "Array.prototype", ["values", "keys", "entries", "toString"], { positions: [], self: true });
guardAll(String.prototype, "String.prototype", ["toString", "valueOf"], { positions: [], self: true });
const numbers = ["toExponential", "toFixed", "toPrecision", "toLocaleString", "toString", "valueOf"];
guardAll(Number.prototype, "Number.prototype", numbers, { positions: [], self: true });
guardAll(Boolean.prototype, "Boolean.prototype", ["toString", "valueOf"], { positions: [], self: true });

// Functions with options, keys or compared values.
const iterators = globalThis.Iterator;
guardAll(iterators?.prototype, "Iterator.prototype", ["chunks", "windows", "take", "drop", "join"], { self: true });
// `includes` compares the values of the iterator.
if (iterators?.prototype.includes !== undefined) {
  const { includes, map } = iterators.prototype;
  const name = "Iterator.prototype.includes";
  const known = (value) => {
    check(value, name);
    return value;
  };
  replace(iterators.prototype, "includes", {
    includes(...args) {
      check(this, name);
      for (let i = 0; i < args.length; i++) check(args[i], name);
      return apply(includes, apply(map, this, [known]), args);
    },
  }.includes);
}
guardAll(iterators, "Iterator", ["zip", "concat", "from"], {});
// Functions that need each item of their argument.
const eachKnown = (args, name) => {
  const all = args[0];
  if (typeof all === "object" && all !== null) for (const key of ownKeys(all)) check(all[key], name);
  return args;
};
guard(iterators ?? {}, "Iterator", "zipKeyed", { before: eachKnown });
guard(Math, "Math", "sumPrecise", { before: eachKnown });
for (const [type, name] of [[Map, "Map"], [WeakMap, "WeakMap"]]) {
  guard(type.prototype, `${name}.prototype`, "getOrInsert", { positions: [0] });
  guard(type.prototype, `${name}.prototype`, "getOrInsertComputed", {});
}
guardAll(RegExp, "RegExp", ["escape"], {});
guardAll(Error, "Error", ["captureStackTrace"], {});
guardAll(Uint8Array, "Uint8Array", ["fromBase64", "fromHex"], {});
guardAll(Uint8Array.prototype, "Uint8Array.prototype", ["toBase64", "toHex", "setFromBase64", "setFromHex"], {});
guardAll(globalThis.URLSearchParams?.prototype, "URLSearchParams.prototype", ["has", "delete"], {});

// Getters and setters that inspect their receiver or value.
for (const [object, owner, key] of [
  [Object.prototype, "Object.prototype", "__proto__"],
  [RegExp.prototype, "RegExp.prototype", "flags"],
  [Error.prototype, "Error.prototype", "stack"],
]) {
  const native = getOwnPropertyDescriptor(object, key);
  if (native?.get === undefined || !native.configurable) continue;
  const name = `${owner}.${key}`;
  const { get, set } = {
    get() {
      check(this, name);
      return apply(native.get, this, []);
    },
    set(value) {
      check(this, name);
      check(value, name);
      apply(native.set, this, [value]);
    },
  };
  defineProperty(object, key, { get, set: native.set === undefined ? undefined : set });
}

// Results of functions of the program that a built-in tests or converts, where an unknown would pass for an object or for true.

// `Symbol.toStringTag` counts only if it is a string, and `Symbol.isConcatSpreadable` is tested.
const { toStringTag, isConcatSpreadable } = Symbol;
const isObject = (value) => (typeof value === "object" && value !== null) || (typeof value === "function" && idOf(value) === undefined);
guard(Object.prototype, "Object.prototype", "toString", { positions: [], before(args, name, self) {
  if (isObject(self)) check(self[toStringTag], name);
  return args;
} });
guard(Array.prototype, "Array.prototype", "concat", { positions: [], before(args, name, self) {
  if (isObject(self)) check(self[isConcatSpreadable], name);
  for (let i = 0; i < args.length; i++) if (typeof args[i] === "object" && args[i] !== null) check(args[i][isConcatSpreadable], name);
  return args;
} });

// Set methods call `has` and `keys` of their argument.
const sets = Set.prototype;
const isPlainSet = (value) => getPrototypeOf(value) === sets && !hasOwn(value, "has") && !hasOwn(value, "keys");
const setLike = (other, name) => {
  if (typeof other !== "object" || other === null || isPlainSet(other)) return other;
  const checked = (key, test) => {
    const native = other[key];
    return typeof native !== "function" || idOf(native) !== undefined
      ? native
      : (...args) => test(apply(native, other, args));
  };
  return {
    get size() {
      return other.size;
    },
    get has() {
      return checked("has", (result) => (check(result, name), result));
    },
    get keys() {
      return checked("keys", (iterator) => checkedIterator(iterator, name));
    },
  };
};
const checkedIterator = (iterator, name) => {
  check(iterator, name);
  if (!isObject(iterator)) return iterator;
  return {
    get next() {
      const { next } = iterator;
      if (typeof next !== "function" || idOf(next) !== undefined) return next;
      return () => {
        const result = apply(next, iterator, []);
        check(result, name);
        if (!isObject(result)) return result;
        const { done } = result;
        check(done, name);
        return { done, get value() { return result.value; } };
      };
    },
    get return() {
      const { return: close } = iterator;
      return typeof close === "function" ? () => apply(close, iterator, []) : close;
    },
  };
};
const combine = [
  "union", "intersection", "difference", "symmetricDifference", "isSubsetOf", "isSupersetOf", "isDisjointFrom",
];
guardAll(sets, "Set.prototype", combine, { before: (args, name) => (args.length === 0 ? args : [setLike(args[0], name)]) });

// Methods of regular expressions call `exec`, which a program can replace.
const { exec: nativeExec } = RegExp.prototype;
for (const key of ["test", Symbol.match, Symbol.matchAll, Symbol.replace, Symbol.search, Symbol.split]) {
  const native = ownMethod(RegExp.prototype, key);
  if (native === undefined) continue;
  const name = `RegExp.prototype.${typeof key === "symbol" ? key.description : key}`;
  const { call } = {
    call(...args) {
      const exec = isObject(this) ? this.exec : nativeExec;
      if (exec === nativeExec || typeof exec !== "function" || idOf(exec) !== undefined) return apply(native, this, args);
      const own = getOwnPropertyDescriptor(this, "exec");
      const checked = (...given) => {
        const result = apply(exec, this, given);
        check(result, name);
        return result;
      };
      if (!define(this, "exec", { __proto__: null, value: checked, writable: true, configurable: true, enumerable: false })) {
        return apply(native, this, args);
      }
      try {
        return apply(native, this, args);
      } finally {
        if (own === undefined) delete this.exec;
        else defineProperty(this, "exec", own);
      }
    },
  };
  replace(RegExp.prototype, key, call);
}

// One function of the language with two names stays one.
for (const [prototype, alias, key] of [
  [Array.prototype, Symbol.iterator, "values"], [String.prototype, "trimLeft", "trimStart"], [String.prototype, "trimRight", "trimEnd"],
]) {
  setMember(prototype, alias, prototype[key]);
}
setMember(TypedArray.prototype, "toString", Array.prototype.toString);
