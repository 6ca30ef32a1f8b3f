// What instrumented code calls. Each function is exact JavaScript for known values.

import {
  host, NativeArray, NativeTypeError, apply, construct, defineProperty, getPrototypeOf, hasOwn, ownProperty, toText,
} from "stead:host";
import { idOf, refusal, refuseAt, unknown } from "stead:unknown";
import { isResourceClass, makeResource, nodeOf } from "stead:resource";
import { boundTo } from "stead:scope";
import { textOf } from "stead:text";
import { carryOperator } from "stead:carry";

export { current, resume } from "stead:scope";

/** An arrow function in a field of `self`: what it calls lies in the instance, as for a method. */
export function own(self, arrow, name) {
  if (name !== "") defineProperty(arrow, "name", { value: name, configurable: true });
  const node = nodeOf(self);
  return node === undefined ? arrow : boundTo(node, arrow);
}

/** What an iterator's `next` gives. The engine looks at `done` where nobody can see it. */
export function step(result, site) {
  if (typeof result !== "object" || result === null) return result;
  if (getPrototypeOf(result) === promises) return apply(nativeThen, result, [(value) => step(value, site)]);
  for (let at = result; at !== null; at = getPrototypeOf(at)) {
    const done = ownProperty(at, "done");
    if (done === undefined) continue;
    if (hasOwn(done, "value")) known(done.value, site);
    break;
  }
  return result;
}
const { prototype: promises } = Promise;
const { then: nativeThen } = promises;

/** The value itself; stops the evaluation if it is an unknown. */
export function known(value, site) {
  if (typeof value === "function") {
    const id = idOf(value);
    if (id !== undefined) refuseAt(site, id);
  }
  return value;
}

/** `left + right`. */
export function add(left, right, site) {
  const leftId = idOf(left);
  const rightId = idOf(right);
  if (leftId === undefined && rightId === undefined) return left + right;
  const sum = host.add(leftId ?? -1, left, rightId ?? -1, right, site);
  if (typeof sum === "string") throw refusal(sum);
  return unknown(sum);
}

// `left - right` and its like: exact for known values, an expression otherwise. Nearly always the first test tells.
const meets = (a, b) => idOf(a) !== undefined || idOf(b) !== undefined;
export const minus = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !meets(a, b) ? a - b : carryOperator("-", [a, b], site);
export const times = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !meets(a, b) ? a * b : carryOperator("*", [a, b], site);
export const over = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !meets(a, b) ? a / b : carryOperator("/", [a, b], site);
export const modulo = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !meets(a, b) ? a % b : carryOperator("%", [a, b], site);
export const power = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !meets(a, b) ? a ** b : carryOperator("**", [a, b], site);
export const shl = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !meets(a, b) ? a << b : carryOperator("<<", [a, b], site);
export const shr = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !meets(a, b) ? a >> b : carryOperator(">>", [a, b], site);
export const ushr = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !meets(a, b) ? a >>> b : carryOperator(">>>", [a, b], site);
export const and = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !meets(a, b) ? a & b : carryOperator("&", [a, b], site);
export const or = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !meets(a, b) ? a | b : carryOperator("|", [a, b], site);
export const xor = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !meets(a, b) ? a ^ b : carryOperator("^", [a, b], site);
export const negative = (a, site) =>
  typeof a !== "function" || idOf(a) === undefined ? -a : carryOperator("-", [a], site);
export const positive = (a, site) =>
  typeof a !== "function" || idOf(a) === undefined ? +a : carryOperator("+", [a], site);
export const flip = (a, site) =>
  typeof a !== "function" || idOf(a) === undefined ? ~a : carryOperator("~", [a], site);

/** A template literal: text and holes take turns. */
export function text(...parts) {
  const { length } = parts;
  let deferred = false;
  for (let i = 1; i < length; i += 2) {
    const part = textOf(parts[i]);
    parts[i] = part;
    if (typeof part !== "string") deferred = true;
  }
  if (deferred) return unknown(host.template(parts));
  let joined = parts[0];
  for (let i = 1; i < length; i++) joined += parts[i];
  return joined;
}

/** `new target(...args)`, at a site, in a function whose `this` is `self`. */
export function make(site, self, target, ...args) {
  known(target, site);
  if (typeof target !== "function") throw thrown(new NativeTypeError(host.notAClass(site)), site);
  if (isResourceClass(target)) return makeResource(site, self, target, args);
  if (target === NativeArray && args.length === 1) known(args[0], site);
  return known(construct(target, args), site);
}

/** `object[key]`, with both parts evaluated, to be read and then written. */
export function reference(object, key) {
  if (typeof key !== "symbol" && typeof key !== "number") key = toText(key);
  return { object, key, value: object[key] };
}

/** `object[key] += value`, and the other operators. */
export function operateOn({ object, key, value: old }, value, site, operate) {
  return (object[key] = operate(old, value, site));
}

// Where an error was first thrown: the engine only knows where it was made, and that not well.
const origins = new WeakMap();
const { get, set, has } = WeakMap.prototype;
let lastThrown = { value: undefined, site: undefined };
host.thrownAt((value) => (typeof value === "object" && value !== null ? apply(get, origins, [value]) : value === lastThrown.value ? lastThrown.site : undefined));

/** What is thrown. */
export function thrown(value, site) {
  known(value, site);
  lastThrown = { value, site };
  if (typeof value === "object" && value !== null && !apply(has, origins, [value])) {
    apply(set, origins, [value, site]);
  }
  return value;
}

