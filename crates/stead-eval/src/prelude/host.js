// The host functions of Rust, and built-ins of the language that the prelude uses.
//
// Invariant: the global is deleted before a program runs; a program never holds a host function.

export const host = globalThis.__stead_host;
delete globalThis.__stead_host;

// Captured before a program can replace them.
export const { apply, construct, getPrototypeOf, ownKeys } = Reflect;
export const { create, freeze, hasOwn, setPrototypeOf } = Object;
const { defineProperty: define, getOwnPropertyDescriptor } = Reflect;

/** Descriptors have no prototype, because a program may add properties to `Object.prototype`. */
export const defineProperty = (object, key, property) => define(object, key, setPrototypeOf(property, null));
export const ownProperty = (object, key) => {
  const property = getOwnPropertyDescriptor(object, key);
  return property === undefined ? undefined : setPrototypeOf(property, null);
};

/** Converts to text like a template literal. The engine's own conversion calls `String.prototype.concat`, which a program can replace. */
const NativeString = String;
export const toText = (value) => {
  if (typeof value === "symbol") throw new NativeTypeError("cannot convert symbol to string");
  return NativeString(value);
};

/** Returns an empty array that setters in `Array.prototype` do not affect. */
export const list = () => setPrototypeOf([], null);

/** Power of numbers with the digits of Node.js; those of `**` depend on the platform. */
export const { pow } = Math;

export const { isArray } = Array;
export const NativeArray = Array;
export const NativeError = Error;
export const NativeTypeError = TypeError;
