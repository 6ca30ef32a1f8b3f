// Defers built-ins: a call with an unknown operand becomes an expression of the graph.
//
// Calls with known values behave like the original; operations that cannot be deferred are refused.

import { host, apply, isArray, list, ownKeys, ownMethod, replace, setMember } from "stead:host";
import { idOf, refusal, refuse, refuseAt, unknown } from "stead:unknown";

const METHOD = 0;
const OPERATOR = 1;
const GLOBAL = 2;

const { getOwnPropertyDescriptor } = Reflect;
const { split } = String.prototype;
const sourceOf = getOwnPropertyDescriptor(RegExp.prototype, "source").get;
const flagsOf = getOwnPropertyDescriptor(RegExp.prototype, "flags").get;

// Methods for which a missing argument differs from `undefined`.
const COUNTED = { __proto__: null, concat: true, lastIndexOf: true, toSpliced: true, with: true };

// Functions with any number of arguments. For the others, a missing argument equals `undefined`.
const VARIADIC = {
  __proto__: null, "Math.max": true, "Math.min": true, "Math.hypot": true, "String.fromCharCode": true,
  "String.fromCodePoint": true,
};

// Returns `native.call`, independent of changes that the program makes to `Function.prototype`.
const { bind: bindTo, call: callOf } = Function.prototype;
const bind = (native) => apply(bindTo, callOf, [native]);

/** Returns the expression number of the first unknown among some values. */
export function firstUnknown(values) {
  for (let i = 0; i < values.length; i++) {
    const id = idOf(values[i]);
    if (id !== undefined) return id;
  }
  return undefined;
}

// Returns source and flags of a regular expression, or `undefined` for other values.
function patternOf(value) {
  if (typeof value !== "object" || value === null || isArray(value)) return undefined;
  try {
    return value.lastIndex === 0 ? [apply(sourceOf, value, []), apply(flagsOf, value, [])] : undefined;
  } catch {
    return undefined;
  }
}

// Returns true for an object with symbol keys, which can change how methods treat it.
function hasSymbols(value) {
  if (typeof value !== "object" || value === null) return false;
  const keys = ownKeys(value);
  for (let i = 0; i < keys.length; i++) if (typeof keys[i] === "symbol") return true;
  return false;
}

// Defers a built-in. `id` is the expression of an unknown operand.
function defer(kind, name, operands, id) {
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

/** Defers `receiver.name(...args)`, where the receiver or an argument is unknown. */
export function deferMethod(receiver, name, args, id) {
  let { length } = args;
  if (COUNTED[name] !== true) while (length > 0 && args[length - 1] === undefined) length--;
  const operands = list();
  operands[0] = receiver;
  for (let i = 0; i < length; i++) operands[i + 1] = args[i];
  return defer(METHOD, name, operands, id);
}

/** Defers or refuses the call of a method of an unknown. */
export function callMember(member, self, args) {
  const { of, key } = member;
  if (host.lacksMethod(of, key)) refuse("method", of, key);
  const kind = host.methodKind(key);
  if (kind === "other" || idOf(self) !== of) refuse("call", member.id);
  if (kind === "changes") refuse("changes", of, key);
  if (kind === "iterates") refuse("iterate", of);
  if (kind === "callback") refuse("callback", of, key);
  return deferMethod(self, key, args, of);
}

/** Defers an operator at a site. */
export function deferOperator(name, operands, site) {
  const id = firstUnknown(operands);
  const made = host.builtin(OPERATOR, name, operands, []);
  if (typeof made === "string") refuseAt(site, id);
  return unknown(made);
}

/** Defers a global function. */
export const deferGlobal = (name, args, id) => defer(GLOBAL, name, args, id);

// Methods of known strings with an unknown argument.
for (const name of apply(split, host.methods, [" "])) {
  const native = ownMethod(String.prototype, name);
  if (native === undefined || name === "toString" || name === "valueOf") continue;
  const call = bind(native);
  const deferred = (self, args) => {
    if (idOf(self) !== undefined) refuse("builtin", idOf(self), `String.prototype.${name}`);
    const id = firstUnknown(args);
    if (id === undefined) return apply(native, self, args);
    if (name === "repeat") refuse("count", id, name);
    return deferMethod(self, name, args, id);
  };
  // Methods, because they must not be constructors. Only `concat` distinguishes `undefined` from a missing argument.
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
    return id === undefined ? apply(native, undefined, args) : deferGlobal(path, args, id);
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
  setMember(Number, key, globalThis[key]);
}
