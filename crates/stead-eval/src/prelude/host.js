// The functions that Rust lends to the prelude. Taken off the global object before any program runs:
// a program must never hold one of them.

export const host = globalThis.__stead_host;
delete globalThis.__stead_host;

// What the prelude itself needs of the language, taken before a program can replace it.
export const { apply, construct, getPrototypeOf, ownKeys } = Reflect;
export const { create, freeze, hasOwn, setPrototypeOf } = Object;
const { defineProperty: define, getOwnPropertyDescriptor } = Reflect;

/** Descriptors inherit nothing: a program may put anything into `Object.prototype`. */
export const defineProperty = (object, key, property) => define(object, key, setPrototypeOf(property, null));
export const ownProperty = (object, key) => {
  const property = getOwnPropertyDescriptor(object, key);
  return property === undefined ? undefined : setPrototypeOf(property, null);
};

/** As a template literal makes text; the engine's own way asks `String.prototype.concat`, which programs reach. */
const NativeString = String;
export const toText = (value) => {
  if (typeof value === "symbol") throw new NativeTypeError("cannot convert symbol to string");
  return NativeString(value);
};

/** An array to be filled, out of reach of setters in `Array.prototype`. */
export const list = () => setPrototypeOf([], null);

export const { isArray } = Array;
export const NativeArray = Array;
export const NativeError = Error;
export const NativeTypeError = TypeError;
