// structuredClone: a deep copy of data that keeps unknowns.

import { NativeError, NativeTypeError, apply, create, defineProperty, getPrototypeOf, isArray, ownKeys, ownProperty, setMember } from "stead:host";
import { idOf } from "stead:unknown";
import { nodeOf } from "stead:resource";

const { get: seenGet, set: seenSet, has: seenHas, forEach: mapForEach } = Map.prototype;
const { forEach: setForEach, add } = Set.prototype;
const { getTime } = Date.prototype;
const { slice } = ArrayBuffer.prototype;
const natives = { Map, Set, Date, RegExp, ArrayBuffer, Boolean, Number, String, BigInt };
const { isView } = ArrayBuffer;
const { prototype: plain } = Object;
const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const { hasOwn } = Object;
const NativeObject = Object;
const NativeRangeError = RangeError;

function refused(what) {
  const error = new NativeTypeError(`structuredClone cannot copy ${what}`);
  defineProperty(error, "name", { value: "DataCloneError" });
  return error;
}

function copy(value, seen) {
  if (idOf(value) !== undefined) return value;
  if (typeof value === "function") throw refused("a function");
  if (typeof value === "symbol") throw refused("a symbol");
  if (typeof value !== "object" || value === null) return value;
  if (nodeOf(value) !== undefined) throw refused("a resource");
  if (apply(seenHas, seen, [value])) return apply(seenGet, seen, [value]);
  const made = shell(value, seen);
  apply(seenSet, seen, [value, made]);
  fill(value, made, seen);
  return made;
}

// Returns an empty object of the same kind.
function shell(value, seen) {
  if (isArray(value)) {
    const list = [];
    list.length = value.length;
    return list;
  }
  if (value instanceof natives.Map) return new natives.Map();
  if (value instanceof natives.Set) return new natives.Set();
  if (value instanceof natives.Date) return new natives.Date(apply(getTime, value, []));
  if (value instanceof natives.RegExp) return new natives.RegExp(value.source, value.flags);
  if (value instanceof natives.ArrayBuffer) return apply(slice, value, [0]);
  if (isView(value)) {
    const Kind = getPrototypeOf(value).constructor;
    const length = value.length ?? value.byteLength;
    return new Kind(copy(value.buffer, seen), value.byteOffset, length);
  }
  if (value instanceof NativeError) {
    const Kind = hasOwn(errors, value.name) ? errors[value.name] : NativeError;
    return new Kind(`${value.message}`);
  }
  for (const kind of ["Boolean", "Number", "String"]) {
    if (value instanceof natives[kind]) return new natives[kind](value.valueOf());
  }
  if (value instanceof natives.BigInt) return NativeObject(value.valueOf());
  if (value instanceof Promise) throw refused("a promise");
  if (value instanceof WeakMap || value instanceof WeakSet) throw refused("a weak collection");
  return create(plain);
}

function fill(value, made, seen) {
  if (value instanceof natives.Map) {
    apply(mapForEach, value, [(item, key) => apply(seenSet, made, [copy(key, seen), copy(item, seen)])]);
  } else if (value instanceof natives.Set) {
    apply(setForEach, value, [(item) => apply(add, made, [copy(item, seen)])]);
  } else if (value instanceof NativeError) {
    if (hasOwn(value, "cause")) defineProperty(made, "cause", { value: copy(value.cause, seen), writable: true, configurable: true });
  } else if (isArray(value) || getPrototypeOf(made) === plain) {
    const keys = ownKeys(value);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (typeof key === "symbol" || !ownProperty(value, key)?.enumerable) continue;
      defineProperty(made, key, { value: copy(value[key], seen), writable: true, enumerable: true, configurable: true });
    }
  }
}

const { structuredClone } = {
  structuredClone(value, options) {
    if (options?.transfer?.length > 0) throw refused("with `transfer`");
    try {
      return copy(value, new natives.Map());
    } catch (error) {
      // The stack trace of the first error has no position in the program.
      throw error instanceof NativeRangeError ? new NativeRangeError(error.message) : error;
    }
  },
};
setMember(globalThis, "structuredClone", structuredClone);
