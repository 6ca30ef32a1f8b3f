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
  // A method, so that it is no constructor.
  const { [name]: method } = {
    [name](...args) {
      const self = idOf(this);
      if (self !== undefined) refuse("builtin", self, `String.prototype.${name}`);
      const id = firstUnknown(args);
      if (id === undefined) return apply(native, this, args);
      if (name === "repeat" && idOf(args[0]) !== undefined) refuse("count", id, name);
      return carryMethod(this, name, args, id);
    },
  };
  replace(String.prototype, name, method);
}

for (const path of apply(split, host.globals, [" "])) {
  const { 0: owner, 1: key } = apply(split, path, ["."]);
  const object = key === undefined ? globalThis : globalThis[owner];
  const native = object[key ?? owner];
  if (typeof native !== "function") continue;
  const { [path]: method } = {
    [path](...args) {
      const id = firstUnknown(args);
      return id === undefined ? apply(native, this, args) : carryGlobal(path, args, id);
    },
  };
  replace(object, key ?? owner, method);
}
for (const key of ["parseInt", "parseFloat"]) {
  defineProperty(Number, key, { value: globalThis[key], writable: true, configurable: true });
}
