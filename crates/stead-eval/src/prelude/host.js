// The host functions of Rust, and built-ins of the language that the prelude uses.
//
// Invariant: the global is deleted before a program runs; a program never holds a host function.

export const host = globalThis.__stead_host;
delete globalThis.__stead_host;

// Captured before a program can replace them, also for modules that are loaded when the program first uses them.
export const { apply, construct, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
export const {
  get: reflectGet, set: reflectSet, has: reflectHas, deleteProperty, isExtensible, preventExtensions, defineProperty: define,
} = Reflect;
export const { create, freeze, hasOwn, setPrototypeOf } = Object;
export const NativeDate = Date;
export const NativeProxy = Proxy;
export const NativeRegExp = RegExp;
export const globals = globalThis;
export const { charCodeAt } = String.prototype;

/** Descriptors have no prototype, because a program may add properties to `Object.prototype`. */
export const defineProperty = (object, key, property) => define(object, key, setPrototypeOf(property, null));
export const ownProperty = (object, key) => {
  const property = getOwnPropertyDescriptor(object, key);
  return property === undefined ? undefined : setPrototypeOf(property, null);
};

// Descriptors that all definitions share, because no code of a program runs while the prelude replaces built-ins.
const member = setPrototypeOf({ value: undefined, writable: true, enumerable: false, configurable: true }, null);
const label = setPrototypeOf({ value: undefined, configurable: true }, null);

/** Defines a member of a built-in object, with the flags that the language gives its own. */
export const setMember = (object, key, value) => {
  member.value = value;
  define(object, key, member);
};

/** Sets name and length of a function of the prelude. */
export const setLabels = (call, name, length) => {
  if (call.name !== name) {
    label.value = name;
    define(call, "name", label);
  }
  if (call.length !== length) {
    label.value = length;
    define(call, "length", label);
  }
};

/** Returns a method that an object has itself, or `undefined`. */
export const ownMethod = (object, key) => {
  const method = hasOwn(object, key) ? object[key] : undefined;
  return typeof method === "function" ? method : undefined;
};

/** Replaces a member of a built-in object, keeping name and length. */
export const replace = (object, key, call) => {
  const { name, length } = object[key];
  setLabels(call, name, length);
  setMember(object, key, call);
};

/** Converts to text like a template literal. The engine's own conversion calls `String.prototype.concat`, which a program can replace. */
const NativeString = String;
export const toText = (value) => {
  if (typeof value === "symbol") throw new NativeTypeError("cannot convert symbol to string");
  return NativeString(value);
};

/** Returns an empty array that setters in `Array.prototype` do not affect. */
export const list = () => setPrototypeOf([], null);

/** A list of this length with values exceeds the memory limit. */
export const LONGEST = 2 ** 24;

/** Power of numbers with the digits of Node.js; those of `**` depend on the platform. */
export const { pow, trunc, abs } = Math;

export const { isArray } = Array;
export const NativeArray = Array;
export const NativeError = Error;
export const NativeTypeError = TypeError;

// Prototypes of the iterators of the engine.
export const listItems = getPrototypeOf([].values());
export const mapItems = getPrototypeOf(new Map().entries());
export const setItems = getPrototypeOf(new Set().values());
export const generators = getPrototypeOf(function* () {}).prototype;
export const asyncGenerators = getPrototypeOf(async function* () {}).prototype;
