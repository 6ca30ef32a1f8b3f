// Removes built-ins that a program must not use: code from text, proxies, clock, randomness, local time zone.
//
// Invariant: the result of an evaluation depends only on its sources and config.

import { host, NativeError, apply, construct, defineProperty, getPrototypeOf } from "stead:host";
import { refusal } from "stead:unknown";
import { replaceConstructor } from "stead:text";

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

// Dates are created from a value and always use UTC.
const NativeDate = Date;
const { UTC, parse } = NativeDate;
const { toISOString, toUTCString } = NativeDate.prototype;
const noClock = "a program must give the same graph on every run; take the time from `config`";
const now = forbid("the current time", noClock, "now");
const zoned = /(?:Z|GMT|UTC|[+-]\d\d:?\d\d)(?: \([^)]*\))?$/;
const isoDate = /^[+-]?\d{4,6}(?:-\d\d(?:-\d\d)?)?$/;
const isoTime = /^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;
const { test } = RegExp.prototype;
const parseDate = (text) => {
  if (apply(test, isoTime, [text])) return parse(`${text}Z`);
  return apply(test, isoDate, [text]) || apply(test, zoned, [text]) ? parse(text) : NaN;
};
function SteadDate(...args) {
  if (new.target === undefined || args.length === 0) now();
  let value = args[0];
  if (args.length > 1) value = apply(UTC, undefined, args);
  else if (typeof value === "object" && value !== null && !(value instanceof NativeDate)) value = `${value}`;
  if (typeof value === "string") value = parseDate(value);
  return construct(NativeDate, [value], new.target);
}
replaceConstructor("Date", NativeDate, SteadDate);
defineProperty(SteadDate, "now", { value: now, writable: true, configurable: true });
defineProperty(SteadDate, "parse", { value: (text) => parseDate(`${text}`), writable: true, configurable: true });
for (const part of ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"]) {
  for (const verb of ["get", "set"]) {
    const value = NativeDate.prototype[`${verb}UTC${part}`];
    if (value) defineProperty(NativeDate.prototype, `${verb}${part}`, { value, writable: true, configurable: true });
  }
}
const isoText = function () {
  return apply(toISOString, this, []);
};
const utcText = function () {
  return apply(toUTCString, this, []);
};
for (const key of ["toString", "toDateString", "toTimeString"]) {
  defineProperty(NativeDate.prototype, key, { value: utcText, writable: true, configurable: true });
}
for (const key of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) {
  defineProperty(NativeDate.prototype, key, { value: isoText, writable: true, configurable: true });
}
defineProperty(NativeDate.prototype, "getTimezoneOffset", { value: () => 0, writable: true, configurable: true });
for (const key of ["getYear", "setYear"]) delete NativeDate.prototype[key];
