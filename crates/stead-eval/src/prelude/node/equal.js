// Deep equality of `assert` and `util`.
"use strict";

const kindOf = (value) => Object.prototype.toString.call(value);

function sameKeys(a, b, strict, seen) {
  const enumerable = (object) => Object.getOwnPropertySymbols(object).filter((key) => Object.prototype.propertyIsEnumerable.call(object, key));
  const left = [...Object.keys(a), ...(strict ? enumerable(a) : [])];
  const right = [...Object.keys(b), ...(strict ? enumerable(b) : [])];
  return left.length === right.length && left.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key], strict, seen));
}

function sameSet(a, b, strict, seen) {
  if (a.size !== b.size) return false;
  const rest = [...b];
  for (const item of a) {
    const at = rest.findIndex((other) => equal(item, other, strict, seen));
    if (at < 0) return false;
    rest.splice(at, 1);
  }
  return true;
}

function sameMap(a, b, strict, seen) {
  if (a.size !== b.size) return false;
  const rest = [...b];
  for (const [key, item] of a) {
    const at = rest.findIndex(([otherKey, other]) => equal(key, otherKey, strict, seen) && equal(item, other, strict, seen));
    if (at < 0) return false;
    rest.splice(at, 1);
  }
  return true;
}

function equal(a, b, strict, seen = []) {
  const primitive = (value) => typeof value !== "object" || value === null;
  if (strict ? Object.is(a, b) : a === b || (a !== a && b !== b)) return true;
  if (primitive(a) || primitive(b)) return !strict && primitive(a) && primitive(b) && a == b;
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (kindOf(a) !== kindOf(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  if (seen.some(([left, right]) => left === a && right === b)) return true;
  const inner = [...seen, [a, b]];
  if (Array.isArray(a)) return a.length === b.length && sameKeys(a, b, strict, inner);
  if (a instanceof Date) return a.getTime() === b.getTime() && sameKeys(a, b, strict, inner);
  if (a instanceof RegExp) return a.source === b.source && a.flags === b.flags && a.lastIndex === b.lastIndex && sameKeys(a, b, strict, inner);
  if (a instanceof Error) return a.message === b.message && a.name === b.name && sameKeys(a, b, strict, inner);
  if (a instanceof Set) return sameSet(a, b, strict, inner) && sameKeys(a, b, strict, inner);
  if (a instanceof Map) return sameMap(a, b, strict, inner) && sameKeys(a, b, strict, inner);
  if (a instanceof Number || a instanceof String || a instanceof Boolean || a instanceof BigInt || a instanceof Symbol) {
    return Object.is(a.valueOf(), b.valueOf()) && sameKeys(a, b, strict, inner);
  }
  if (kindOf(a) === "[object ArrayBuffer]") return equal(new Uint8Array(a), new Uint8Array(b), strict, inner) && sameKeys(a, b, strict, inner);
  if (a instanceof WeakMap || a instanceof WeakSet || a instanceof Promise) return false;
  return sameKeys(a, b, strict, inner);
}

module.exports = { equal };
