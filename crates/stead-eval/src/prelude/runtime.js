// Functions that instrumented code calls. Each has the semantics of the language for known values.

import {
  host, NativeArray, NativeError, NativeProxy, NativeTypeError, apply, construct, defineProperty, getPrototypeOf, globals, hasOwn,
  isArray, ownProperty, pow, reflectHas, toText,
} from "stead:host";
import { idOf, refusal, refuseAt, unknown, withDone } from "stead:unknown";
import { isResourceClass, makeResource, nodeOf, withoutResources } from "stead:resource";
import { boundTo } from "stead:scope";
import { textOf } from "stead:text";
import { deferOperator } from "stead:defer";
import { tooManyBytes } from "stead:limits";

export { current, resume } from "stead:scope";
export { capture, captureLater } from "stead:apply";

/** Binds an arrow function in a field to its instance: resources it creates belong to the instance, as for a method. */
export function own(self, arrow, name) {
  if (name !== "") defineProperty(arrow, "name", { value: name, configurable: true });
  const node = nodeOf(self);
  return node === undefined ? arrow : boundTo(node, arrow);
}

/** Returns the result of an iterator's `next`, and refuses an unknown `done`, which only the engine inspects. */
export function step(result, site) {
  known(result, site);
  if (typeof result !== "object" || result === null) return result;
  for (let at = result; at !== null; at = getPrototypeOf(at)) {
    const done = ownProperty(at, "done");
    if (done === undefined) continue;
    // A getter runs once, when the loop reads it: `iterable` checks its result.
    if (hasOwn(done, "value")) known(done.value, site);
    break;
  }
  return result;
}

/** Returns a value for the engine to iterate over, and refuses an unknown, also as the `done` of an iterator of the program. */
export function iterable(value, site) {
  known(value, site);
  if (typeof value !== "object" || value === null || isArray(value)) return value;
  return (iteration ??= host.lazy("stead:iterate")).checked(value, (found) => known(found, site));
}
let iteration;

/** Implements `value instanceof type`, and refuses an unknown from `Symbol.hasInstance`, which the engine would take for true. */
export function instance(value, type, site) {
  if (isObject(type)) {
    const test = type[hasInstance];
    if (test !== nativeTest && typeof test === "function") return !!known(apply(test, type, [value]), site);
  }
  return value instanceof type;
}
const { hasInstance } = Symbol;
const nativeTest = Function.prototype[hasInstance];
const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
const NativeObject = Object;

/** Returns the value that an object literal spreads. The engine would copy nothing from a string. */
export const spread = (value) => (typeof value === "string" ? NativeObject(value) : value);

/** Returns the value, and refuses an unknown. */
export function known(value, site) {
  if (typeof value === "function") {
    const id = idOf(value);
    if (id !== undefined) refuseAt(site, id);
  }
  return value;
}

/** Returns a function that the engine calls to convert an object, and refuses an unknown result. The same function is returned for
 * the same one. */
export function converter(f, site) {
  if (typeof f !== "function" || idOf(f) !== undefined) return f;
  let made = apply(get, converters, [f]);
  if (made === undefined) {
    made = new NativeProxy(f, { __proto__: null, apply: (of, self, args) => known(apply(of, self, args), site) });
    apply(set, converters, [f, made]);
    apply(set, converters, [made, made]);
  }
  return made;
}
const converters = new WeakMap();

/** Defines the global names that few programs use. */
export const defineNames = () => void (defined ??= host.lazy("stead:names"));
let defined;

/** Returns true if the global object has a name. */
export const isGlobal = (name) => reflectHas(globals, name);

/** Returns a key for reading a member. Refuses an unknown key, and `then` of an unknown, which `await` would not find. */
export function keyOf(object, key, site) {
  known(key, site);
  const id = idOf(object);
  if (id === undefined || typeof key === "symbol") return key;
  const text = toText(key);
  return text === "then" ? refuseAt(site + 1, id) : text;
}

/** Returns an object whose member `value` writes a value, or its default, to the member that a pattern assigns. */
export const slot = (object, key, otherwise, site) => ({
  set value(given) {
    object[key] = defaulted(given, otherwise, site);
  },
});

/** Applies the default of a parameter or of a name in a pattern to a value that may turn out to be `undefined`. */
export function defaulted(value, otherwise, site) {
  const id = idOf(value);
  if (id === undefined || !host.mayBeUndefined(id)) return value;
  if (otherwise === undefined) refuseAt(site, id);
  const made = host.orDefault(id, withoutResources("decide", otherwise));
  return typeof made === "string" ? refuseAt(site, id) : unknown(made);
}

/** Returns the source of an object pattern, and refuses an unknown or a resource whose type lacks a member that the pattern reads. */
export function members(value, site, ...keys) {
  const id = idOf(value);
  if (id === undefined) {
    if (typeof value !== "object" || value === null || nodeOf(value) === undefined) return value;
    // Reading a member that the type does not have is refused.
    for (let i = 0; i < keys.length; i++) if (!(keys[i] in value)) value[keys[i]];
    return value;
  }
  for (let i = 0; i < keys.length; i++) {
    if (keys[i] === "then") refuseAt(site, id);
    if (host.lacks(id, keys[i])) throw refusal(host.refuseMember(site, id, keys[i]));
  }
  return withDone(value);
}

/** Returns a value for reading its member `done`, which an unknown otherwise refuses: the engine reads it to end a loop. */
export const doneOf = (value) => (typeof value === "function" ? withDone(value) : value);

/** Returns the first argument, for an expression that is followed by others. */
export const first = (value) => value;

/** Implements `left + right`. */
export function add(left, right, site) {
  const leftId = idOf(left);
  const rightId = idOf(right);
  if (leftId === undefined && rightId === undefined) return left + right;
  const sum = host.add(leftId ?? -1, left, rightId ?? -1, right, site);
  if (typeof sum === "string") throw refusal(sum);
  return unknown(sum);
}

// `left - right` and the other operators. The first test decides for nearly all values.
const anyUnknown = (a, b) => idOf(a) !== undefined || idOf(b) !== undefined;
export const minus = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !anyUnknown(a, b) ? a - b : deferOperator("-", [a, b], site);
export const times = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !anyUnknown(a, b) ? a * b : deferOperator("*", [a, b], site);
export const over = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !anyUnknown(a, b) ? a / b : deferOperator("/", [a, b], site);
export const modulo = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !anyUnknown(a, b) ? a % b : deferOperator("%", [a, b], site);
export const power = (a, b, site) => {
  if (typeof a === "number" && typeof b === "number") return pow(a, b);
  if (anyUnknown(a, b)) return deferOperator("**", [a, b], site);
  // Two negations convert to a number or bigint, and change neither.
  const base = -(-a);
  const exponent = -(-b);
  return typeof base === "bigint" || typeof exponent === "bigint" ? base ** exponent : pow(base, exponent);
};
export const shl = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !anyUnknown(a, b) ? a << b : deferOperator("<<", [a, b], site);
export const shr = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !anyUnknown(a, b) ? a >> b : deferOperator(">>", [a, b], site);
export const ushr = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !anyUnknown(a, b) ? a >>> b : deferOperator(">>>", [a, b], site);
export const and = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !anyUnknown(a, b) ? a & b : deferOperator("&", [a, b], site);
export const or = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !anyUnknown(a, b) ? a | b : deferOperator("|", [a, b], site);
export const xor = (a, b, site) =>
  (typeof a !== "function" && typeof b !== "function") || !anyUnknown(a, b) ? a ^ b : deferOperator("^", [a, b], site);
export const negative = (a, site) =>
  typeof a !== "function" || idOf(a) === undefined ? -a : deferOperator("-", [a], site);
export const positive = (a, site) =>
  typeof a !== "function" || idOf(a) === undefined ? +a : deferOperator("+", [a], site);
export const flip = (a, site) =>
  typeof a !== "function" || idOf(a) === undefined ? ~a : deferOperator("~", [a], site);

/** Implements a template literal: text and holes alternate. */
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

const NativeMap = Map;
const NativeSet = Set;

/** Implements `new target(...args)` at a site, in a function whose `this` is `self`. */
export function make(site, self, target, ...args) {
  known(target, site);
  if (typeof target !== "function") throw thrown(new NativeTypeError(host.notAClass(site)), site);
  if (isResourceClass(target)) return makeResource(site, self, target, args);
  if (target === NativeArray && args.length === 1) known(args[0], site);
  if (target === NativeMap || target === NativeSet) args[0] = iterable(args[0], site);
  const bytes = args.length > 0 && idOf(args[0]) === undefined ? tooManyBytes(target, args[0]) : undefined;
  if (bytes !== undefined) throw refusal(host.refuseFinally(`a buffer of ${bytes} bytes`, "use several smaller ones", new NativeError().stack));
  return known(construct(target, args), site);
}

/** Evaluates `object[key]` once, for reading and then writing. */
export function reference(object, key) {
  if (typeof key !== "symbol" && typeof key !== "number") key = toText(key);
  return { object, key, value: object[key] };
}

/** Computes `object[key] += value` and the other compound assignments, for the code of the program to assign: in sloppy code, an
 * object may ignore it. */
export function operateOn({ object, key, value: old }, value, site, operate) {
  return { object, key, value: operate(old, value, site) };
}

// Site of the first throw of each error. The engine records only where an error was created, and not precisely.
const origins = new WeakMap();
const { get, set, has } = WeakMap.prototype;
let lastThrown = { value: undefined, site: undefined };
host.thrownAt((value) => (typeof value === "object" && value !== null ? apply(get, origins, [value]) : value === lastThrown.value ? lastThrown.site : undefined));

/** Records the site of a `throw` and returns the thrown value. */
export function thrown(value, site) {
  known(value, site);
  lastThrown = { value, site };
  if (typeof value === "object" && value !== null && !apply(has, origins, [value])) {
    apply(set, origins, [value, site]);
  }
  return value;
}

