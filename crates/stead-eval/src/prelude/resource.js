// Resources: the base class, the classes of providers, and the handling of `new`.
//
// An instance holds the number of its node in a private field, which a program cannot access.

import {
  host, NativeError, NativeProxy, NativeTypeError, apply, construct, create, define, defineProperty, freeze, getPrototypeOf,
  hasOwn, isArray, list, reflectGet, setPrototypeOf, toText,
} from "stead:host";
import { refusal, unknown } from "stead:unknown";
import { current, enter, leave, scopeMembers } from "stead:scope";
import { lookUp } from "stead:external";

// Innermost resource whose constructor is running.
let building;

// Classes of the program whose members are bound to their instance.
const scopedClasses = new WeakSet();
const { has: hasClass, add: addClass } = WeakSet.prototype;

// Token that only provider classes pass to the base class, to declare a provisioned resource.
const PROVISION = freeze({});

// Stores the type of a provider class in a private field of the class, which is faster than a WeakMap.
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

const { split } = String.prototype;
const { prototype: plain } = Object;

// Reason why resources cannot be created now; `undefined` if they can.
let forbidden;

/** Runs a function that must not create resources. A function for `stead.apply` must not read them either. */
export function withoutResources(why, f) {
  const outer = forbidden;
  forbidden = outer === "allocate" ? outer : why;
  try {
    return f();
  } finally {
    forbidden = outer;
  }
}

/** Refuses look-ups in a deferred function, because the transcript does not record them. */
export function mayLookUp() {
  if (forbidden === "allocate") throw refusal(host.refuseInside("look", -1, new NativeError().stack));
}

/** Refuses pinning in deferred code, because pins must be known while planning. */
export function mayPin() {
  if (forbidden !== undefined) throw refusal(host.refuseInside("pin", -1, new NativeError().stack));
}

/** Refuses a move in deferred code, because moves must be known while planning. */
export function mayMove() {
  if (forbidden !== undefined) throw refusal(host.refuseInside("move", -1, new NativeError().stack));
}

/** Returns the node number of a resource instance, or `undefined` for other values. */
export let nodeOf;

/** Base class of all resources. */
export class Resource {
  #node;
  static {
    nodeOf = (value) =>
      typeof value === "object" && value !== null && #node in value ? value.#node : undefined;
  }
  constructor(id, options) {
    const frame = building;
    if (frame === undefined || frame.target !== new.target || frame.declared) {
      throw new NativeTypeError("a resource must be created with `new`, and its constructor must call `super` exactly once");
    }
    frame.declared = true;
    this.#node = frame.node;
    if (id === PROVISION) provision(this, frame, options);
    else host.declareGroup(frame.node, id, options);
  }
  /** Refuses conversion to text, which would silently give "[object Object]". */
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

/** Implements `new target(...args)` for a resource class. The node is allocated before the constructor runs, so that
 * resources created before and after `super` belong to it. */
export function makeResource(site, self, target, args) {
  if (target === Resource) throw new NativeTypeError("`Resource` cannot be instantiated; extend it with a class");
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
    const made = construct(target, args);
    const { gid } = target;
    if (typeof gid === "string") host.gidByClass(node, gid, made[gid]);
    else if (gid !== undefined) throw new NativeTypeError(`\`static gid\` of ${name} must be the name of a property`);
    return made;
  } catch (error) {
    host.abandon(node);
    throw error;
  } finally {
    building = outer;
    leave(around);
  }
}

/** Declares a provisioned resource and defines its properties: inputs with their values, the values that the provider
 * sets as unknowns. */
function provision(instance, { node, type }, { inputs, options }) {
  // Copies the inputs, so that a getter that creates a resource runs only once.
  const read = isPlain(inputs) ? { __proto__: null, ...inputs } : inputs;
  const secret = host.declare(node, read, options);
  const given = typeof read === "object" && read !== null;
  const { members } = type;
  for (let i = 0; i < members.length; i++) {
    const { name, getter } = members[i];
    slot.value = given && hasOwn(read, name) ? read[name] : undefined;
    if (secret !== undefined && hasOwn(secret, name)) slot.value = secret[name];
    if (slot.value !== undefined) define(instance, name, slot);
    else if (getter !== undefined) define(instance, name, getter);
  }
  slot.value = undefined;
}

// Descriptor for properties with a known value. Shared, because no code of the program runs while it is in use.
const slot = setPrototypeOf({ value: undefined, enumerable: true }, null);
// Descriptor for properties that an instance has itself if they have a value.
const absent = setPrototypeOf({ value: undefined }, null);

const isPlain = (inputs) => {
  if (typeof inputs !== "object" || inputs === null || isArray(inputs)) return false;
  const prototype = getPrototypeOf(inputs);
  return prototype === null || prototype === plain;
};

/** Creates the class of a type from its schema. */
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
    define(made.prototype, member, absent);
  }
  setPrototypeOf(made.prototype, new NativeProxy(create(Resource.prototype), missing(token)));
  const { get } = { get: (id, options) => lookUp(token, name, made.prototype, id, options) };
  defineProperty(made, "get", { value: get });
  const type = freeze({ token, members, name, class: made });
  new Typed(made, type);
  freeze(made.prototype);
  freeze(made);
  return made;
}

// Proxy handler behind the prototype of a provider class: refuses properties that the type does not have.
const missing = (token) =>
  freeze({
    get(target, key, receiver) {
      if (typeof key === "symbol" || key in target || key === "then" || key === "toJSON") {
        return reflectGet(target, key, receiver);
      }
      throw refusal(host.noSuchProperty(token, key, nodeOf(receiver) ?? -1, new NativeError().stack));
    },
  });

/** Returns all classes of a provider, as `stead/<provider>` exports them. Types with more than two parts are in
 * namespaces, whose classes are created on first use. */
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
