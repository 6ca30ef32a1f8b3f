// `stead.apply` and `stead.all`: run functions of the program once their arguments are known.

import { host, NativeError, NativeTypeError, apply as call, isArray, list } from "stead:host";
import { idOf, refusal, refuse, unknown } from "stead:unknown";
import { withoutResources } from "stead:resource";

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
