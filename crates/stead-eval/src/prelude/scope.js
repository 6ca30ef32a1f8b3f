// The resource that what is allocated lies in: the innermost one whose constructor, method, getter or setter runs.
// A stack for what runs at once; across `await` and promises the resource is carried along.
//
// `this` at the `new` itself comes first: see `makeResource`.

import { host, apply, defineProperty, hasOwn, ownKeys, ownProperty } from "stead:host";

// A node's number, or `undefined` outside of all resources.
let scope;

/** The node around what runs now. */
export const current = () => scope;

/** `await x` → `resume(current(), await x)`: what was around before is around again. */
export const resume = (before, value) => {
  scope = before;
  return value;
};

/** From here on a node is around what runs; gives what `leave` needs. */
export const enter = (node) => {
  const outer = scope;
  scope = node;
  return outer;
};
export const leave = (outer) => {
  scope = outer;
};

/** Calls with a node around it. */
function inside(node, callee, self, args) {
  const outer = enter(node);
  try {
    return apply(callee, self, args);
  } finally {
    leave(outer);
  }
}

// A job of the engine begins outside of everything; what it continues says where it belongs.
host.beforeJob(() => {
  scope = undefined;
});

const carry = (callback) => {
  if (typeof callback !== "function") return callback;
  const node = scope;
  return (...args) => inside(node, callback, undefined, args);
};

const { then: nativeThen } = Promise.prototype;
const { queueMicrotask: nativeQueueMicrotask } = globalThis;
const replaced = {
  then(onFulfilled, onRejected) {
    if (scope === undefined) return apply(nativeThen, this, [onFulfilled, onRejected]);
    return apply(nativeThen, this, [carry(onFulfilled), carry(onRejected)]);
  },
  queueMicrotask(callback) {
    return apply(nativeQueueMicrotask, undefined, [carry(callback)]);
  },
};
defineProperty(Promise.prototype, "then", { value: replaced.then, writable: true, configurable: true });
defineProperty(globalThis, "queueMicrotask", { value: replaced.queueMicrotask, writable: true, configurable: true });

/** Makes what a prototype's methods, getters and setters call lie in the instance. */
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
  // A trace names the method, not its wrapper.
  copy(method, call, "name");
  copy(method, call, "length");
  return call;
}

/** A function that always runs with a node around it. */
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
