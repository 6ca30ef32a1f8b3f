// Removes built-ins that a program must not use: code from text, proxies, clock, randomness.
//
// Invariant: the result of an evaluation depends only on its sources and config.

import { host, NativeError, defineProperty, getPrototypeOf } from "stead:host";
import { installDate } from "stead:date";
import { refusal } from "stead:unknown";

const forbid = (name, help, called = name) => {
  const refused = function () {
    throw refusal(host.refuseBuiltin(name, help, new NativeError().stack));
  };
  defineProperty(refused, "name", { value: called });
  return refused;
};

// Code from text, also through the constructor of any function.
const noCode = "write the code in a file of the program";
const functions = [function () {}, async function () {}, function* () {}, async function* () {}];
for (let i = 0; i < functions.length; i++) {
  const value = forbid("Function", noCode);
  const prototype = getPrototypeOf(functions[i]);
  defineProperty(value, "prototype", { value: prototype });
  defineProperty(prototype, "constructor", { value, writable: false, configurable: false });
  if (i === 0) defineProperty(globalThis, "Function", { value, writable: true, configurable: true });
}
defineProperty(globalThis, "eval", { value: forbid("eval", noCode), writable: true, configurable: true });

const hidden = [
  "Proxy", "WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Atomics", "performance", "Performance",
  "navigator", "InternalError", "bjson", "scriptArgs", "print", "gc",
];
for (const name of hidden) delete globalThis[name];

defineProperty(Math, "random", {
  value: forbid(
    "Math.random()",
    "use `new local.RandomString(…)`, which keeps its value, or a value of `config`",
    "random",
  ),
  writable: true,
  configurable: true,
});

// Errors are located by the stack traces of the engine, which a program must not change.
Error.stackTraceLimit = 64;
for (const key of ["stackTraceLimit", "prepareStackTrace"]) {
  defineProperty(Error, key, { value: Error[key], writable: false, configurable: false });
}

installDate(forbid("the current time", "a program must give the same graph on every run; take the time from `config`", "now"));
