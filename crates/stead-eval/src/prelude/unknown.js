// Unknowns: values that exist only after apply. Each stands for one expression in the graph.
//
// An unknown is a callable proxy, so that `typeof x === "function"` is a cheap first test. Reading a member
// makes another unknown; everything that would need the value is refused. A trap that is missing here would
// let the engine answer for the empty function behind the proxy: all of them must be here.

import { host, NativeError, defineProperty, freeze, setPrototypeOf } from "stead:host";
import { callMember } from "stead:carry";

const ID = host.idSymbol;
const REFUSAL = host.refusalSymbol;
const { toPrimitive, iterator, asyncIterator } = Symbol;
const target = () => {};

// While JSON.stringify runs, what an unknown's `toJSON` gives.
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
    if (key === "then") return undefined; // so that `await` passes it on
    if (key === "toJSON" && jsonHole !== undefined) return jsonHole(this.id);
    // What an iterator's `next` gave is an unknown: the engine would take the loop to be over.
    if (key === "done") refuse("builtin", this.id, "the end of an iteration");
    // What every value has, and no provider gives.
    if (key === "constructor" || key === "__proto__") refuse("inspect", this.id);
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

// A member of an unknown. It becomes an expression when it is used as a value; a method that is called never does.
class Member {
  constructor(of, key) {
    this.of = of;
    this.key = key;
    this.made = undefined;
  }
  get id() {
    return (this.made ??= host.get(this.of, this.key));
  }
  apply(_, self, args) {
    return callMember(this, self, args);
  }
}
// Not by `extends`: a constructor that calls another takes twice as long.
setPrototypeOf(Member.prototype, Unknown.prototype);
freeze(Member.prototype);

const NativeProxy = Proxy;

/** The unknown for an expression of the graph. */
export const unknown = (id) => new NativeProxy(target, new Unknown(id));

/** The expression behind a value; `undefined` for a known value. */
export const idOf = (value) => (typeof value === "function" ? value[ID] : undefined);

/** Stops the evaluation: `what` cannot be done with an unknown. The place comes from the stack. */
export function refuse(what, id, detail = "") {
  throw refusal(host.refuse(what, id, detail, new NativeError().stack));
}

/** Stops the evaluation at a site. */
export function refuseAt(site, id) {
  throw refusal(host.refuseAt(site, id));
}

/** An error that was reported to Rust already, so that catching it does not make it go away. */
export function refusal(message) {
  const error = new NativeError(message);
  defineProperty(error, REFUSAL, { value: true });
  return error;
}
