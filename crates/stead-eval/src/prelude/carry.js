// Built-ins that meet an unknown and can be put off: they become expressions of the graph.
//
// For known values nothing changes. What cannot be put off is refused at its place.

import { host, apply, defineProperty, isArray, list, ownKeys } from "stead:host";
import { idOf, refusal, refuse, refuseAt, unknown } from "stead:unknown";

const METHOD = 0;
const OPERATOR = 1;
const GLOBAL = 2;

const { getOwnPropertyDescriptor } = Reflect;
const { split } = String.prototype;
const sourceOf = getOwnPropertyDescriptor(RegExp.prototype, "source").get;
const flagsOf = getOwnPropertyDescriptor(RegExp.prototype, "flags").get;

// Where leaving out an argument is not the same as giving `undefined`.
const COUNTED = { __proto__: null, concat: true, lastIndexOf: true, toSpliced: true, with: true };

// Functions that take any number of arguments: for the others, `undefined` is the same as nothing.
const VARIADIC = {
  __proto__: null, "Math.max": true, "Math.min": true, "Math.hypot": true, "String.fromCharCode": true,
  "String.fromCodePoint": true,
};

// `native.call`, out of reach of the program and without a list of arguments.
const { bind: bindTo, call: callOf } = Function.prototype;
const bind = (native) => apply(bindTo, callOf, [native]);

/** The first unknown among some values: the number of its expression. */
export function firstUnknown(values) {
  for (let i = 0; i < values.length; i++) {
    const id = idOf(values[i]);
    if (id !== undefined) return id;
  }
  return undefined;
}

// The source and flags of a regular expression; `undefined` for anything else.
function patternOf(value) {
  if (typeof value !== "object" || value === null || isArray(value)) return undefined;
  try {
    return value.lastIndex === 0 ? [apply(sourceOf, value, []), apply(flagsOf, value, [])] : undefined;
  } catch {
    return undefined;
  }
}

// Methods ask an object by symbols what it does with them.
function hasSymbols(value) {
  if (typeof value !== "object" || value === null) return false;
  const keys = ownKeys(value);
  for (let i = 0; i < keys.length; i++) if (typeof keys[i] === "symbol") return true;
  return false;
}

// Puts a built-in off. `id` is an unknown among its operands.
function carry(kind, name, operands, id) {
  const patterns = list();
  for (let i = 0; i < operands.length; i++) {
    if (typeof operands[i] === "function" && idOf(operands[i]) === undefined) refuse("callback", id, name);
    patterns[i] = patternOf(operands[i]);
    if (patterns[i] === undefined && hasSymbols(operands[i])) refuse("operand", id, "an object with symbols as keys");
  }
  const made = host.builtin(kind, name, operands, patterns);
  if (typeof made === "string") refuse("operand", id, made);
  return unknown(made);
}

/** `receiver.name(...args)`, where the receiver or an argument is unknown. */
export function carryMethod(receiver, name, args, id) {
  let { length } = args;
  if (COUNTED[name] !== true) while (length > 0 && args[length - 1] === undefined) length--;
  const operands = list();
  operands[0] = receiver;
  for (let i = 0; i < length; i++) operands[i + 1] = args[i];
  return carry(METHOD, name, operands, id);
}

/** A method of an unknown is called. */
export function callMember(member, self, args) {
  const { of, key } = member;
  const kind = host.methodKind(key);
  if (kind === "other" || idOf(self) !== of) refuse("call", member.id);
  if (kind === "changes") refuse("changes", of, key);
  if (kind === "iterates") refuse("iterate", of);
  if (kind === "callback") refuse("callback", of, key);
  return carryMethod(self, key, args, of);
}

/** An operator, at a site. */
export function carryOperator(name, operands, site) {
  const id = firstUnknown(operands);
  const made = host.builtin(OPERATOR, name, operands, []);
  if (typeof made === "string") refuseAt(site, id);
  return unknown(made);
}

/** A built-in function by its name. */
export const carryGlobal = (name, args, id) => carry(GLOBAL, name, args, id);

/** Replaces a member of a built-in object by a function that looks like it. */
export function replace(object, key, value) {
  const native = object[key];
  defineProperty(value, "name", { value: native.name, configurable: true });
  defineProperty(value, "length", { value: native.length, configurable: true });
  defineProperty(object, key, { value, writable: true, configurable: true });
}

// Methods of strings that are known, given an unknown.
for (const name of apply(split, host.methods, [" "])) {
  const native = getOwnPropertyDescriptor(String.prototype, name)?.value;
  if (typeof native !== "function" || name === "toString" || name === "valueOf") continue;
  const call = bind(native);
  const deferred = (self, args) => {
    if (idOf(self) !== undefined) refuse("builtin", idOf(self), `String.prototype.${name}`);
    const id = firstUnknown(args);
    if (id === undefined) return apply(native, self, args);
    if (name === "repeat") refuse("count", id, name);
    return carryMethod(self, name, args, id);
  };
  // Methods, so that they are no constructors. None but `concat` can tell `undefined` from nothing.
  const { many, few } = {
    many(...args) {
      return deferred(this, args);
    },
    few(a, b) {
      if (typeof a !== "function" && typeof b !== "function" && typeof this !== "function") return call(this, a, b);
      return deferred(this, [a, b]);
    },
  };
  replace(String.prototype, name, name === "concat" ? many : few);
}

for (const path of apply(split, host.globals, [" "])) {
  const { 0: owner, 1: key } = apply(split, path, ["."]);
  const object = key === undefined ? globalThis : globalThis[owner];
  const native = object[key ?? owner];
  if (typeof native !== "function") continue;
  const call = bind(native);
  const deferred = (args) => {
    const id = firstUnknown(args);
    return id === undefined ? apply(native, undefined, args) : carryGlobal(path, args, id);
  };
  const { many, one, two } = {
    many(...args) {
      return deferred(args);
    },
    one(a) {
      return typeof a === "function" ? deferred([a]) : call(undefined, a);
    },
    two(a, b) {
      if (typeof a !== "function" && typeof b !== "function") return call(undefined, a, b);
      return deferred(b === undefined ? [a] : [a, b]);
    },
  };
  replace(object, key ?? owner, VARIADIC[path] ? many : native.length === 1 ? one : two);
}
for (const key of ["parseInt", "parseFloat"]) {
  defineProperty(Number, key, { value: globalThis[key], writable: true, configurable: true });
}
