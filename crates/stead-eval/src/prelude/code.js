// Code from text and CommonJS files: both are wrappers that take the functions of the runtime, as instrumented code needs them.

import { host, NativeError, apply, defineProperty, getPrototypeOf, list, setMember, setPrototypeOf, toText } from "stead:host";
import { idOf, refuse } from "stead:unknown";
import * as runtime from "stead:runtime";
import * as branches from "stead:branches";

const { split } = String.prototype;
const NativeSyntaxError = SyntaxError;

const wrapperArguments = list();
const names = apply(split, host.wrapperArguments, [" "]);
for (let i = 0; i < names.length; i++) wrapperArguments[i] = runtime[names[i]] ?? branches[names[i]];

/** Calls a wrapper with the functions of the runtime. */
export const unwrap = (wrapper) => apply(wrapper, undefined, wrapperArguments);

/** Returns an exception for an error that is reported only if the program does not catch it. */
export function catchable(error, number) {
  return defineProperty(error, host.numberSymbol, { value: number }) && error;
}

/** Returns a constructor of functions from text. The text is instrumented like a file of the program. */
function constructor(kind, prototype) {
  const made = {
    [prototype.constructor.name](...args) {
      let parameters = "";
      for (let i = 0; i < args.length; i++) if (idOf(args[i]) !== undefined) refuse("takes", idOf(args[i]), "Function");
      for (let i = 0; i + 1 < args.length; i++) parameters += `${i > 0 ? "," : ""}${toText(args[i])}`;
      const body = args.length === 0 ? "" : toText(args[args.length - 1]);
      const wrapper = host.functionFromText(kind, parameters, body, new NativeError().stack);
      if (typeof wrapper === "string") throw new NativeSyntaxError(wrapper);
      return unwrap(wrapper);
    },
  }[prototype.constructor.name];
  // A method cannot be called with `new`.
  function Constructor(...args) {
    const result = apply(made, undefined, args);
    const target = new.target;
    return target === undefined || target === Constructor ? result : setPrototypeOf(result, target.prototype);
  }
  defineProperty(Constructor, "name", { value: prototype.constructor.name, configurable: true });
  defineProperty(Constructor, "length", { value: 1, configurable: true });
  defineProperty(Constructor, "prototype", { value: prototype });
  defineProperty(prototype, "constructor", { value: Constructor, writable: kind === "function", configurable: true });
  return Constructor;
}

const value = constructor("function", getPrototypeOf(function () {}));
setMember(globalThis, "Function", value);
const others = [["async function", async function () {}], ["function*", function* () {}], ["async function*", async function* () {}]];
for (let i = 0; i < others.length; i++) setPrototypeOf(constructor(others[i][0], getPrototypeOf(others[i][1])), value);
