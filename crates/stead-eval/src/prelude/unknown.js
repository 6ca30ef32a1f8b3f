// Unknowns: values known only after apply. Each represents one expression of the graph.
//
// An unknown is a callable proxy, so that `typeof x === "function"` is a cheap first test. Reading a member creates another
// unknown; every operation that needs the value is refused.
//
// Invariant: the handler defines all traps. A missing trap would apply to the empty function behind the proxy.

import { host, NativeError, NativeProxy, apply, defineProperty, freeze, setPrototypeOf } from "stead:host";
import { callMember } from "stead:defer";

const ID = host.idSymbol;
const REFUSAL = host.refusalSymbol;
const { toPrimitive, iterator, asyncIterator } = Symbol;
// A constructor: where the engine needs one, such as a species, the trap refuses instead of an error that a program can catch.
const target = function () {};

// Result of an unknown's `toJSON` while JSON.stringify runs.
let jsonHole;
export const setJsonHole = (make) => {
  const outer = jsonHole;
  jsonHole = make;
  return outer;
};

class Unknown {
  constructor(id) {
    this.id = id;
  }
  get(_, key) {
    if (typeof key === "symbol") return this.symbol(key);
    if (key === "then") return undefined; // `await` returns the unknown itself.
    if (key === "toJSON" && jsonHole !== undefined) return jsonHole(this.id);
    // An iterator's `next` returned an unknown: the engine would end the loop.
    if (key === "done") refuse("builtin", this.id, "iterator.next");
    // Members of every value that no provider sets.
    if (key === "constructor" || key === "__proto__") refuse("inspect", this.id);
    if (host.lacks(this.id, key)) refuse("member", this.id, key);
    return new NativeProxy(target, new Member(this.id, key));
  }
  symbol(key) {
    if (key === ID) return this.id;
    if (key === toPrimitive) return (hint) => refuse(hint === "number" ? "number" : "text", this.id);
    if (key === iterator || key === asyncIterator) refuse("iterate", this.id);
    return refuse("inspect", this.id);
  }
  apply() {
    return refuse("call", this.id);
  }
  construct() {
    return refuse("construct", this.id);
  }
  set() {
    return refuse("set", this.id);
  }
  defineProperty() {
    return refuse("set", this.id);
  }
  deleteProperty() {
    return refuse("set", this.id);
  }
  has() {
    return refuse("has", this.id);
  }
  ownKeys() {
    return refuse("keys", this.id);
  }
  getOwnPropertyDescriptor() {
    return refuse("keys", this.id);
  }
  getPrototypeOf() {
    return refuse("inspect", this.id);
  }
  setPrototypeOf() {
    return refuse("set", this.id);
  }
  isExtensible() {
    return refuse("inspect", this.id);
  }
  preventExtensions() {
    return refuse("set", this.id);
  }
}
freeze(Unknown.prototype);

// Unknown whose member `done` the program reads by name.
class WithDone {
  constructor(id) {
    this.id = id;
  }
  get(target, key) {
    if (key !== "done") return apply(Unknown.prototype.get, this, [target, key]);
    if (host.lacks(this.id, key)) refuse("member", this.id, key);
    return new NativeProxy(target, new Member(this.id, key));
  }
}
setPrototypeOf(WithDone.prototype, Unknown.prototype);
freeze(WithDone.prototype);

/** Returns an unknown whose member `done` can be read, and other values as they are. */
export const withDone = (value) => {
  const id = idOf(value);
  return id === undefined ? value : new NativeProxy(target, new WithDone(id));
};

// Member of an unknown. It becomes an expression only when used as a value, not when called as a method.
class Member {
  constructor(of, key) {
    this.of = of;
    this.key = key;
    this.made = undefined;
  }
  get id() {
    if (this.made === undefined) {
      const made = host.get(this.of, this.key);
      if (made < 0) refuse("uncalled", this.of, this.key);
      this.made = made;
    }
    return this.made;
  }
  apply(_, self, args) {
    return callMember(this, self, args);
  }
}
// Without `extends`, because a derived constructor takes twice as long.
setPrototypeOf(Member.prototype, Unknown.prototype);
freeze(Member.prototype);

/** Returns the unknown for an expression of the graph. A negative number means that the value would be too large. */
export const unknown = (id) => (id < 0 ? refuse("large", -1 - id) : new NativeProxy(target, new Unknown(id)));
host.unknown(unknown);

/** Returns the expression number of an unknown, or `undefined` for a known value. */
export const idOf = (value) => (typeof value === "function" ? value[ID] : undefined);

/** Reports that an operation cannot use an unknown, located by the stack trace, and throws. */
export function refuse(what, id, detail = "") {
  throw refusal(host.refuse(what, id, detail, new NativeError().stack));
}

/** Reports that a site cannot use an unknown, and throws. */
export function refuseAt(site, id) {
  throw refusal(host.refuseAt(site, id, new NativeError().stack));
}

/** Returns an exception for an error that Rust has already recorded. Catching it does not undo the error. */
export function refusal(message) {
  const error = new NativeError(message);
  defineProperty(error, REFUSAL, { value: true });
  return error;
}
