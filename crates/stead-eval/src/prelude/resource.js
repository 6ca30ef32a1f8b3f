// Resources: the base class, the classes of providers, and what happens at `new`.
//
// Rust knows nodes by number; an instance carries its number in a private field that no program can reach.

import {
  host, NativeError, NativeTypeError, apply, construct, create, defineProperty, freeze, getPrototypeOf, hasOwn,
  isArray, list, setPrototypeOf, toText,
} from "stead:host";
import { refusal, unknown } from "stead:unknown";
import { current, enter, leave, scopeMembers } from "stead:scope";
import { lookUp } from "stead:outside";

// The innermost resource whose constructor runs right now.
let building;

// The classes of the program whose members know which instance they run in.
const scopedClasses = new WeakSet();
const { has: hasClass, add: addClass } = WeakSet.prototype;

// Only provider classes know it; with it as its first argument, the base class provisions.
const PROVISION = freeze({});

// What a provider's class makes: in a private field of the class, which is quicker to find than in a table.
class Itself {
  constructor(target) {
    return target;
  }
}
class Typed extends Itself {
  #type;
  constructor(target, type) {
    super(target);
    this.#type = type;
  }
  static of(target) {
    return #type in target ? target.#type : undefined;
  }
}
const { of: typeOf } = Typed;

const NativeProxy = Proxy;
const { get: reflectGet, defineProperty: define } = Reflect;
const { split } = String.prototype;
const { prototype: plain } = Object;

// Why no resource may be made right now; `undefined` if one may.
let forbidden;

/** Runs a function that may not make resources. One that runs after apply may not read them either. */
export function withoutResources(why, f) {
  const outer = forbidden;
  forbidden = outer === "allocate" ? outer : why;
  try {
    return f();
  } finally {
    forbidden = outer;
  }
}

/** Stops a function that runs after apply: what it is told then is in no transcript. */
export function mayLookOutside() {
  if (forbidden === "allocate") throw refusal(host.refuseInside("look", -1, new NativeError().stack));
}

/** Stops what runs after apply: by then it is settled what is pinned. */
export function mayPin() {
  if (forbidden !== undefined) throw refusal(host.refuseInside("pin", -1, new NativeError().stack));
}

/** The node of a resource instance; `undefined` for everything else. */
export let nodeOf;

/** What a class derives from to become a resource. */
export class Resource {
  #node;
  static {
    nodeOf = (value) =>
      typeof value === "object" && value !== null && #node in value ? value.#node : undefined;
  }
  constructor(id, options) {
    const frame = building;
    if (frame === undefined || frame.target !== new.target || frame.declared) {
      throw new NativeTypeError("a resource is made with `new`, and its constructor calls `super` once");
    }
    frame.declared = true;
    this.#node = frame.node;
    if (id === PROVISION) provision(this, frame, options);
    else host.declareGroup(frame.node, id, options);
  }
  /** A resource is not text: silently it would become "[object Object]". */
  [Symbol.toPrimitive]() {
    throw refusal(host.refuseResource(nodeOf(this) ?? -1, new NativeError().stack));
  }
}
freeze(Resource);
freeze(Resource.prototype);
host.nodeOf(nodeOf);

export function isResourceClass(target) {
  if (typeOf(target) !== undefined) return true;
  for (let at = target; typeof at === "function"; at = getPrototypeOf(at)) {
    if (at === Resource) return true;
  }
  return false;
}

/** `new target(...args)` for a resource class. The node is there before the constructor runs, so that what it
 * allocates, before or after `super`, finds the node around it. */
export function makeResource(site, self, target, args) {
  if (target === Resource) throw new NativeTypeError("`Resource` itself cannot be made; derive a class from it");
  if (forbidden !== undefined) throw refusal(host.refuseInside(forbidden, site, ""));
  const parent = nodeOf(self) ?? current() ?? -1;
  let type;
  for (let at = target; at !== Resource; at = getPrototypeOf(at)) {
    type = typeOf(at);
    if (type !== undefined) break;
    if (apply(hasClass, scopedClasses, [at])) continue;
    apply(addClass, scopedClasses, [at]);
    scopeMembers(at.prototype, nodeOf);
  }
  const name = type?.class === target ? type.name : toText(target.name);
  const node = host.begin(site, parent, name, type === undefined ? "" : type.token);
  if (typeof node === "string") throw refusal(node);
  const { pinned } = target;
  if (typeof pinned === "boolean") host.pinByClass(node, pinned);
  else if (pinned !== undefined) throw new NativeTypeError(`\`static pinned\` of ${name} must be true or false`);
  const frame = { node, target, type, declared: false };
  const outer = building;
  const around = enter(node);
  building = frame;
  try {
    return construct(target, args);
  } catch (error) {
    host.abandon(node);
    throw error;
  } finally {
    building = outer;
    leave(around);
  }
}

/** Declares a provisioned resource, and gives it its properties: those that the program set as they are, those
 * that the provider fills in as unknowns. */
function provision(instance, { node, type }, { inputs, options }) {
  // A getter among the properties runs once: what it allocates must not be there twice.
  const read = isPlain(inputs) ? { __proto__: null, ...inputs } : inputs;
  host.declare(node, read, options);
  const given = typeof read === "object" && read !== null;
  const { members } = type;
  for (let i = 0; i < members.length; i++) {
    const { name, getter } = members[i];
    slot.value = given && hasOwn(read, name) ? read[name] : undefined;
    if (slot.value !== undefined) define(instance, name, slot);
    else if (getter !== undefined) define(instance, name, getter);
  }
  slot.value = undefined;
}

// How a property that was set is defined. One for all: nothing of the program runs while it is in use.
const slot = setPrototypeOf({ value: undefined, enumerable: true }, null);

const isPlain = (inputs) => {
  if (typeof inputs !== "object" || inputs === null || isArray(inputs)) return false;
  const prototype = getPrototypeOf(inputs);
  return prototype === null || prototype === plain;
};

/** Makes the class of a type from its schema. */
function materialise(token) {
  const schema = host.schema(token);
  const name = schema.class;
  const made = {
    [name]: class extends Resource {
      constructor(inputs, options) {
        super(PROVISION, { inputs, options });
      }
    },
  }[name];
  const members = list();
  for (let i = 0; i < schema.members.length; i++) {
    const { name: member, provisioned } = schema.members[i];
    const get = function () {
      if (forbidden === "allocate") throw refusal(host.refuseInside("read", -1, new NativeError().stack));
      return unknown(host.property(nodeOf(this), member));
    };
    members[i] = { name: member, getter: provisioned ? setPrototypeOf({ get, enumerable: true }, null) : undefined };
    defineProperty(made.prototype, member, { value: undefined });
  }
  setPrototypeOf(made.prototype, new NativeProxy(create(Resource.prototype), missing(token)));
  const { get } = { get: (id) => lookUp(token, name, made.prototype, id) };
  defineProperty(made, "get", { value: get });
  const type = freeze({ token, members, name, class: made });
  new Typed(made, type);
  freeze(made.prototype);
  freeze(made);
  return made;
}

// Stands behind a provider's class: what is read from here, the type does not have.
const missing = (token) =>
  freeze({
    get(target, key, receiver) {
      if (typeof key === "symbol" || key in target || key === "then" || key === "toJSON") {
        return reflectGet(target, key, receiver);
      }
      throw refusal(host.noSuchProperty(token, key, nodeOf(receiver) ?? -1, new NativeError().stack));
    },
  });

/** All classes of a provider, as `stead/<provider>` exports them. Types with more than two parts are in
 * namespaces, whose classes are made when they are first used. */
export function provide(provider) {
  const exported = {};
  const tokens = host.types(provider);
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    const path = apply(split, token, ["."]);
    let at = exported;
    for (let depth = 1; depth + 1 < path.length; depth++) at = at[path[depth]] ??= {};
    const name = path[path.length - 1];
    if (path.length === 2) defineProperty(at, name, { value: materialise(token), enumerable: true });
    else lazily(at, name, () => materialise(token));
  }
  return exported;
}

function lazily(object, name, make) {
  let made;
  defineProperty(object, name, { get: () => (made ??= make()), enumerable: true });
}
