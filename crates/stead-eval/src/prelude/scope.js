// Tracks the enclosing resource: the innermost one whose constructor, method, getter or setter is running.
//
// `await` and promise callbacks restore it. The `this` of a `new` has precedence, see `makeResource`.

import { host, apply, defineProperty, hasOwn, ownKeys, ownProperty, setMember } from "stead:host";

// Number of the enclosing node, or `undefined` outside of all resources.
let scope;

/** Returns the enclosing node. */
export const current = () => scope;

/** Restores the enclosing node after an `await`: `resume(current(), await x)`. */
export const resume = (before, value) => {
  scope = before;
  return value;
};

/** Sets the enclosing node and returns the previous one for `leave`. */
export const enter = (node) => {
  const outer = scope;
  scope = node;
  return outer;
};
export const leave = (outer) => {
  scope = outer;
};

/** Calls a function with an enclosing node. */
function inside(node, callee, self, args) {
  const outer = enter(node);
  try {
    return apply(callee, self, args);
  } finally {
    leave(outer);
  }
}

// A job starts without an enclosing node; the code that it resumes restores its own.
host.beforeJob(() => {
  scope = undefined;
  const started = firstJob;
  firstJob = undefined;
  if (started !== undefined) started();
});

let firstJob;
/** Calls a function before the first job of the engine. */
export const onFirstJob = (started) => {
  firstJob = started;
};

const bindScope = (callback) => {
  if (typeof callback !== "function") return callback;
  const node = scope;
  return (...args) => inside(node, callback, undefined, args);
};

const { then: nativeThen } = Promise.prototype;
const { queueMicrotask: nativeQueueMicrotask } = globalThis;
const replaced = {
  then(onFulfilled, onRejected) {
    if (scope === undefined) return apply(nativeThen, this, [onFulfilled, onRejected]);
    return apply(nativeThen, this, [bindScope(onFulfilled), bindScope(onRejected)]);
  },
  queueMicrotask(callback) {
    return apply(nativeQueueMicrotask, undefined, [bindScope(callback)]);
  },
};
setMember(Promise.prototype, "then", replaced.then);
setMember(globalThis, "queueMicrotask", replaced.queueMicrotask);

/** Wraps methods, getters and setters of a prototype to run with their instance as enclosing node. */
export function scopeMembers(prototype, nodeOf) {
  const keys = ownKeys(prototype);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    const member = ownProperty(prototype, key);
    if (key === "constructor" || !member.configurable) continue;
    if (typeof member.value === "function") member.value = scoped(member.value, nodeOf);
    if (typeof member.get === "function") member.get = scoped(member.get, nodeOf);
    if (typeof member.set === "function") member.set = scoped(member.set, nodeOf);
    defineProperty(prototype, key, member);
  }
}

function scoped(method, nodeOf) {
  const { call } = {
    call(...args) {
      const node = nodeOf(this);
      if (node === undefined || node === scope) return apply(method, this, args);
      return inside(node, method, this, args);
    },
  };
  // Stack traces show the name of the method.
  copy(method, call, "name");
  copy(method, call, "length");
  return call;
}

/** Returns a function that always runs with the given enclosing node. */
export function boundTo(node, callee) {
  const bound = (...args) => inside(node, callee, undefined, args);
  copy(callee, bound, "name");
  copy(callee, bound, "length");
  return bound;
}

function copy(from, to, key) {
  const property = ownProperty(from, key);
  if (property !== undefined && hasOwn(property, "value")) defineProperty(to, key, property);
}
