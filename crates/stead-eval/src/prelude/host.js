// The functions that Rust lends to the prelude. Taken off the global object before any program runs:
// a program must never hold one of them.

export const host = globalThis.__stead_host;
delete globalThis.__stead_host;

// What the prelude itself needs of the language, taken before a program can replace it.
export const { apply, construct, defineProperty, getPrototypeOf, ownKeys } = Reflect;
export const { create, freeze, hasOwn, setPrototypeOf } = Object;
export const { isArray } = Array;
export const NativeArray = Array;
export const NativeError = Error;
export const NativeTypeError = TypeError;
