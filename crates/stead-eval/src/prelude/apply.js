// `stead.apply` and `stead.all`: functions of the program that run when their arguments are known.

import { host, NativeError, NativeTypeError, apply as call, isArray, list } from "stead:host";
import { idOf, refusal, refuse, unknown } from "stead:unknown";
import { withoutResources } from "stead:resource";

// The functions that wait, by their number.
const waiting = list();

const run = (f, args) => withoutResources("allocate", () => call(f, undefined, args));

host.runApplied((ordinal, args) => run(waiting[ordinal], args));

function later(args, f, name) {
  if (typeof f !== "function" || idOf(f) !== undefined) {
    throw new NativeTypeError(`\`stead.${name}\` takes a function as its second argument`);
  }
  const { stack } = new NativeError();
  const made = host.apply(waiting.length, args, stack);
  if (typeof made === "string") throw refusal(made);
  if (typeof made === "number") {
    waiting[waiting.length] = f;
    return unknown(made);
  }
  const result = run(f, made);
  const problem = host.checkResult(result, stack);
  if (problem !== undefined) throw refusal(problem);
  return result;
}

/** `f(value)`, when the value is known. */
export function apply(value, f) {
  return later([value], f, "apply");
}

/** `f(...values)`, when all values are known. */
export function all(values, f) {
  const id = idOf(values);
  if (id !== undefined) refuse("iterate", id);
  if (!isArray(values)) throw new NativeTypeError("`stead.all` takes a list of values as its first argument");
  const args = list();
  for (let i = 0; i < values.length; i++) args[i] = values[i];
  return later(args, f, "all");
}
