// Proxy, WeakRef and FinalizationRegistry for programs. Loaded when a program first uses one of them.
//
// Invariant: a proxy of the program is never taken for an unknown, and the engine never inspects an unknown that a trap returns.
// A weak reference keeps its target, so that the result of a program does not depend on the garbage collector.

import {
  host, NativeProxy, NativeTypeError, apply, construct, define, defineProperty, deleteProperty, freeze, getOwnPropertyDescriptor,
  getPrototypeOf, isExtensible, ownKeys, preventExtensions, reflectGet, reflectHas, reflectSet, setPrototypeOf,
} from "stead:host";
import { idOf, refuse } from "stead:unknown";

const { revocable } = NativeProxy;
const ID = host.idSymbol;
const MARKS = [ID, host.refusalSymbol, host.numberSymbol];

const check = (value, name) => {
  const id = idOf(value);
  if (id !== undefined) refuse("builtin", id, `Proxy (${name})`);
  return value;
};
const natives = {
  __proto__: null, get: reflectGet, set: reflectSet, has: reflectHas, deleteProperty, defineProperty: define,
  getOwnPropertyDescriptor, ownKeys, getPrototypeOf, setPrototypeOf, isExtensible, preventExtensions, apply, construct,
};

// Results that the engine inspects or passes on as an object.
const TESTED = {
  __proto__: null, has: true, set: true, deleteProperty: true, defineProperty: true, isExtensible: true, preventExtensions: true,
  setPrototypeOf: true, getPrototypeOf: true, construct: true, ownKeys: true,
};
const FLAGS = ["enumerable", "configurable", "writable", "get", "set"];

// Looks a trap up when it is needed, as the language does.
function trap(handler, name, args) {
  const own = handler[name];
  if (own === undefined || own === null) return apply(natives[name], undefined, args);
  const result = apply(check(own, name), handler, args);
  if (TESTED[name] === true) check(result, name);
  if (name === "ownKeys" && typeof result === "object" && result !== null) {
    for (let i = 0; i < result.length; i++) check(result[i], name);
  }
  if (name === "getOwnPropertyDescriptor" && result !== undefined) {
    check(result, name);
    for (let i = 0; i < FLAGS.length; i++) check(result?.[FLAGS[i]], name);
  }
  return result;
}

// Frozen handlers with all traps, one for each proxy of the program.
class Traps {
  #handler;
  constructor(handler) {
    this.#handler = handler;
  }
  get(target, key, receiver) {
    for (let i = 0; i < MARKS.length; i++) if (key === MARKS[i]) return undefined;
    return trap(this.#handler, "get", [target, key, receiver]);
  }
  set(...args) {
    return trap(this.#handler, "set", args);
  }
  has(...args) {
    return trap(this.#handler, "has", args);
  }
  deleteProperty(...args) {
    return trap(this.#handler, "deleteProperty", args);
  }
  defineProperty(...args) {
    return trap(this.#handler, "defineProperty", args);
  }
  getOwnPropertyDescriptor(...args) {
    return trap(this.#handler, "getOwnPropertyDescriptor", args);
  }
  ownKeys(...args) {
    return trap(this.#handler, "ownKeys", args);
  }
  getPrototypeOf(...args) {
    return trap(this.#handler, "getPrototypeOf", args);
  }
  setPrototypeOf(...args) {
    return trap(this.#handler, "setPrototypeOf", args);
  }
  isExtensible(...args) {
    return trap(this.#handler, "isExtensible", args);
  }
  preventExtensions(...args) {
    return trap(this.#handler, "preventExtensions", args);
  }
  apply(...args) {
    return trap(this.#handler, "apply", args);
  }
  construct(...args) {
    return trap(this.#handler, "construct", args);
  }
}
freeze(Traps.prototype);

const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
function traps(target, handler) {
  check(target, "target");
  check(handler, "handler");
  if (!isObject(target) || !isObject(handler)) throw new NativeTypeError("Cannot create proxy with a non-object as target or handler");
  return freeze(new Traps(handler));
}

/** The constructor of proxies. */
function SteadProxy(target, handler) {
  if (new.target === undefined) throw new NativeTypeError("Constructor Proxy requires 'new'");
  return new NativeProxy(target, traps(target, handler));
}
defineProperty(SteadProxy, "name", { value: "Proxy", configurable: true });
defineProperty(SteadProxy, "prototype", { value: undefined });
defineProperty(SteadProxy, "revocable", {
  value: { revocable: (target, handler) => apply(revocable, NativeProxy, [target, traps(target, handler)]) }.revocable,
  writable: true,
  configurable: true,
});

export class WeakRef {
  #target;
  constructor(target) {
    check(target, "WeakRef");
    if (!isObject(target) && typeof target !== "symbol") throw new NativeTypeError("WeakRef: target must be an object");
    this.#target = target;
  }
  deref() {
    return this.#target;
  }
}

// The callbacks run only for collected objects, and none is known to be collected.
export class FinalizationRegistry {
  #cleanup;
  constructor(cleanup) {
    if (typeof check(cleanup, "FinalizationRegistry") !== "function") throw new NativeTypeError("FinalizationRegistry: cleanup must be callable");
    this.#cleanup = cleanup;
  }
  register(target) {
    check(target, "FinalizationRegistry.register");
    if (!isObject(target)) throw new NativeTypeError("FinalizationRegistry.prototype.register: invalid target");
  }
  unregister(token) {
    check(token, "FinalizationRegistry.unregister");
    return false;
  }
}

for (const [name, value] of [["WeakRef", WeakRef], ["FinalizationRegistry", FinalizationRegistry]]) {
  defineProperty(value.prototype, Symbol.toStringTag, { value: name, configurable: true });
}
export { SteadProxy as Proxy };
