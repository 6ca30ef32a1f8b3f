// `stead.apply` and `stead.all`: run functions of the program once their arguments are known. `stead.ephemeral` runs one when a
// provider is called.
//
// At the end of the evaluation, the values that these functions use from outside are inspected: a function that uses another
// unknown, creates a resource or reads a file is refused while planning, not in the middle of an apply.

import { host, NativeError, NativeTypeError, apply as call, isArray, list, ownProperty } from "stead:host";
import { idOf, refusal, refuse, refuseAt, unknown } from "stead:unknown";
import { isResourceClass, nodeOf, withoutResources } from "stead:resource";
import { archive, file, listFiles, readBytes, readJson, readText, readToml, readYaml } from "stead:files";
import { template } from "stead:library";
import { stack } from "stead:external";

// Deferred functions by number.
const deferred = list();

const run = (f, args) => withoutResources("allocate", () => call(f, undefined, args));

host.runDeferred((ordinal, args) => run(deferred[ordinal], args));

function deferOrRun(args, f, name) {
  if (typeof f !== "function" || idOf(f) !== undefined) {
    throw new NativeTypeError(`\`stead.${name}\` takes a function as its second argument`);
  }
  const { stack } = new NativeError();
  const made = host.apply(deferred.length, args, stack);
  if (typeof made === "string") throw refusal(made);
  if (typeof made === "number") {
    deferred[deferred.length] = f;
    return unknown(made);
  }
  const result = run(f, made);
  const problem = host.checkResult(result, stack);
  if (problem !== undefined) throw refusal(problem);
  return result;
}

// Values that a function uses, by function.
const captures = new WeakMap();
const { get, set } = WeakMap.prototype;

/** Records that a function uses a value: `read` returns it, `use` is "read", "call" or "new", and `path` are the members that the
 * function reads from it. */
export function capture(f, read, site, use, ...path) {
  if (typeof f !== "function" || idOf(f) !== undefined) return f;
  let all = call(get, captures, [f]);
  if (all === undefined) call(set, captures, [f, (all = list())]);
  all[all.length] = { read, site, use, path };
  return f;
}

// Records the values that the exported functions of a file use, once one of them may be deferred.
const later = list();
export function captureLater(record) {
  later[later.length] = record;
}

host.checkDeferred(() => {
  if (deferred.length === 0) return;
  for (let i = 0; i < later.length; i++) {
    try {
      later[i]();
    } catch {
      // The file ended before it declared all its functions.
    }
  }
  for (let i = 0; i < deferred.length; i++) follow(deferred[i]);
});

// Inspects the values that a function uses, once.
function follow(f) {
  const all = call(get, captures, [f]);
  if (all === undefined || all.followed) return;
  all.followed = true;
  for (let i = 0; i < all.length; i++) inspect(all[i]);
}

function inspect({ read, site, use, path }) {
  try {
    let value = read();
    let owner;
    for (let i = 0; i < path.length && isObject(value); i++) {
      if (idOf(value) !== undefined) break;
      owner = value;
      value = member(value, path[i], use);
    }
    const id = idOf(value);
    if (id !== undefined) refuseAt(site, id);
    if (typeof value === "function") follow(value);
    if (use === "new" && typeof value === "function" && isResourceClass(value)) host.refuseInside("allocate", site, "");
    if (use === "clock" || use === "random") host.refuseInside(use, site, "");
    if (use !== "call") return;
    if (readsFiles(value)) host.refuseInside("file", site, "");
    if (value === stack || (path[path.length - 1] === "get" && typeof owner === "function" && isResourceClass(owner))) {
      host.refuseInside("look", site, "");
    }
  } catch {
    // The error is recorded, or the variable has no value yet.
  }
}

// Functions of `node:fs` that read.
const readers = new WeakSet();
const { add, has } = WeakSet.prototype;
export const markReader = (f) => void call(add, readers, [f]);

const readsFiles = (f) =>
  (typeof f === "function" && call(has, readers, [f])) ||
  f === readText || f === readBytes || f === readJson || f === readYaml || f === readToml || f === listFiles || f === file ||
  f === archive || f === template;

const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

// Returns a member without running code of the program.
function member(object, key, use) {
  const property = ownProperty(object, key);
  if (property === undefined) return undefined;
  if (property.get === undefined) return property.value;
  return use === "new" || nodeOf(object) !== undefined ? call(property.get, object, []) : undefined;
}

/** Returns `f(value)`, deferred if the value is unknown. */
export function apply(value, f) {
  return deferOrRun([value], f, "apply");
}

/** Returns `f(...values)`, deferred if a value is unknown. */
export function all(values, f) {
  const id = idOf(values);
  if (id !== undefined) refuse("iterate", id);
  if (!isArray(values)) throw new NativeTypeError("`stead.all` takes a list of values as its first argument");
  const args = list();
  for (let i = 0; i < values.length; i++) args[i] = values[i];
  return deferOrRun(args, f, "all");
}

/** Returns the result of `f`, which runs right before the call of the provider that needs it. */
export function ephemeral(f) {
  if (typeof f !== "function" || idOf(f) !== undefined) {
    throw new NativeTypeError("`stead.ephemeral` takes a function: `stead.ephemeral(() => …)`");
  }
  const made = host.ephemeral(deferred.length, new NativeError().stack);
  deferred[deferred.length] = f;
  return unknown(made);
}
