// Deferred choices and comparisons, for programs with branches on unknown values allowed.
//
// Each function has the semantics of the operator for known values.

import { host } from "stead:host";
import { idOf, refuseAt, unknown } from "stead:unknown";
import { deferOperator } from "stead:defer";
import { withoutResources } from "stead:resource";

function deferChoice(condition, then, otherwise, site) {
  const made = host.choose(condition, [then, otherwise]);
  return typeof made === "string" ? refuseAt(site, condition) : unknown(made);
}

const arm = (f) => withoutResources("decide", f);

/** `test ? then : otherwise`. */
export function choose(test, then, otherwise, site) {
  const id = idOf(test);
  if (id === undefined) return test ? then() : otherwise();
  return deferChoice(id, arm(then), arm(otherwise), site);
}

/** `left && right`. */
export function both(left, right, site) {
  const id = idOf(left);
  return id === undefined ? left && right() : deferChoice(id, arm(right), left, site);
}

/** `left || right`. */
export function either(left, right, site) {
  const id = idOf(left);
  return id === undefined ? left || right() : deferChoice(id, left, arm(right), site);
}

/** `left ?? right`. */
export function orDefault(left, right, site) {
  const id = idOf(left);
  if (id === undefined) return left ?? right();
  return deferChoice(idOf(deferOperator("==", [left, null], site)), arm(right), left, site);
}

/** `!value`. */
export const not = (value, site) => (idOf(value) === undefined ? !value : deferOperator("!", [value], site));

const operators = {
  __proto__: null,
  "==": (a, b) => a == b,
  "!=": (a, b) => a != b,
  "===": (a, b) => a === b,
  "!==": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

/** `left < right`, and the other comparisons. */
export function compare(operator, left, right, site) {
  if (idOf(left) === undefined && idOf(right) === undefined) return operators[operator](left, right);
  // Loose equality treats undefined and null alike, and only null is data.
  const loose = operator === "==" || operator === "!=";
  const plain = (value) => (loose && value === undefined ? null : value);
  return deferOperator(operator, [plain(left), plain(right)], site);
}
