// Replaces built-ins that a program must not use: `eval`, clock, randomness, timers, network.
//
// A call of one throws an error that the program may catch, so that a package can test for it. Clock and randomness are refused
// for good: a package that catches the error would go on with another value.
//
// Invariant: the result of an evaluation depends only on its sources and config.

import { host, NativeError, defineProperty, setMember } from "stead:host";
import { catchable } from "stead:code";
import { refusal } from "stead:unknown";
import { onFirstJob } from "stead:scope";

const named = (refused, called) => defineProperty(refused, "name", { value: called }) && refused;
/** Returns a function that refuses the use of a name, with help. */
export const forbid = (name, help, called = name, Kind = NativeError) =>
  named(function () {
    const error = new Kind(`a program cannot use ${name}: ${help}`);
    throw catchable(error, host.refuseBuiltin(name, help, error.stack));
  }, called);
const forbidFinally = (name, help, called) =>
  named(function () {
    throw refusal(host.refuseFinally(name, help, new NativeError().stack));
  }, called);

// `eval` would see the variables around it, which code from text here cannot. `Function` works, see `code.js`.
const noCode = "use `new Function(…)`, which sees only its parameters, or write the code in a file of the program";
setMember(globalThis, "eval", forbid("eval", noCode, "eval", EvalError));

const hidden = ["Performance", "navigator", "InternalError", "bjson", "scriptArgs", "print", "gc"];
for (const name of hidden) delete globalThis[name];
for (const name of ["wait", "waitAsync", "notify", "pause"]) {
  if (typeof globalThis.Atomics === "object") delete Atomics[name];
}

// While a package loads, `Math.random` and the clock give it the same numbers every time: it makes a name that no text contains,
// or seeds a generator. Packages load before the first job of the engine.
let jobs = false;
onFirstJob(() => {
  jobs = true;
});
let seed = 0x2f6e2b1;
const noRandom = forbidFinally(
  "Math.random()",
  "use `new local.RandomString(…)`, which keeps its value, or a value of `config`",
  "random",
);
const random = () => {
  if (jobs || !host.loadsPackage(new NativeError().stack)) return noRandom();
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed / 2147483648;
};
let ticks = 0;
/** Returns the time for a package that loads; refuses it to others. */
export const time = () => {
  const { stack } = new NativeError();
  if ((jobs || !host.loadsPackage(stack)) && !host.ignoresTime(stack)) return refuseClock();
  ticks += 16;
  return ticks;
};

defineProperty(random, "name", { value: "random" });
setMember(Math, "random", random);

// Names that Node.js has and that need a clock, the network or randomness: refused when they are called.
const timers = "a program runs once, before anything is applied; use `await` and promises, or a resource that waits";
const network = "describe the call as a resource such as `local.Command`, or look a resource up with `Type.get(id)`";
for (const [name, help] of [
  ["setTimeout", timers], ["setInterval", timers], ["setImmediate", timers], ["fetch", network],
]) {
  defineProperty(globalThis, name, { value: forbid(`${name}()`, help, name), writable: true, configurable: true });
}
for (const name of ["clearTimeout", "clearInterval", "clearImmediate"]) {
  const { clear } = { clear() {} };
  defineProperty(clear, "name", { value: name });
  setMember(globalThis, name, clear);
}
setMember(globalThis, "global", globalThis);

// Names whose modules are loaded at their first use.
const lazy = (name, read, enumerable = true) => {
  const set = (value) => defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable });
  const get = () => {
    const value = read();
    set(value);
    return value;
  };
  defineProperty(globalThis, name, { get, set, configurable: true });
};
const modules = { __proto__: null };
const from = (module) => (modules[module] ??= host.lazy(module));
lazy("Date", () => from("stead:date").SteadDate, false);
for (const name of ["Proxy", "WeakRef", "FinalizationRegistry"]) lazy(name, () => from("stead:proxy")[name], false);
for (const name of ["TextEncoder", "TextDecoder", "atob", "btoa"]) lazy(name, () => from("stead:text-encoding")[name], false);
for (const name of ["URL", "URLSearchParams"]) lazy(name, () => from("stead:url")[name], false);
lazy("process", () => host.nodeModule("process"));
lazy("Buffer", () => host.nodeModule("buffer").Buffer);
lazy("crypto", () => host.nodeModule("crypto").webcrypto);
for (const name of ["performance", "AbortController", "AbortSignal", "Event", "EventTarget", "MessageChannel", "Blob"]) {
  lazy(name, () => host.nodeModule("internal/globals")[name]);
}

// Errors are located by the stack traces of the engine, which a program must not change.
Error.stackTraceLimit = 64;
for (const key of ["stackTraceLimit", "prepareStackTrace"]) {
  let shown = key === "stackTraceLimit" ? 10 : undefined;
  const { get, set } = {
    get: () => shown,
    set(value) {
      shown = value;
    },
  };
  defineProperty(Error, key, { get, set, configurable: false });
}

/** Refuses to read the clock. */
export const refuseClock = forbidFinally("the current time", "a program must give the same graph on every run; take the time from `config`", "now");
