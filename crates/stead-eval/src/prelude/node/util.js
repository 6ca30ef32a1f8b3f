// node:util.
"use strict";

const { inspect, formatWithOptions } = require("node:internal/inspect");
const { equal } = require("node:internal/equal");
const { tick } = require("node:internal/tasks");
const { coded, invalidArgument, invalidValue } = require("node:internal/errors");

const types = require("node:internal/types");

const promisified = Symbol.for("nodejs.util.promisify.custom");
function promisify(original) {
  if (typeof original !== "function") {
    throw invalidArgument("original", "of type function", original);
  }
  if (original[promisified] !== undefined) return original[promisified];
  function promised(...args) {
    return new Promise((resolve, reject) => {
      original.call(this, ...args, (error, value) => (error ? reject(error) : resolve(value)));
    });
  }
  Object.setPrototypeOf(promised, Object.getPrototypeOf(original));
  Object.defineProperty(promised, promisified, { value: promised, configurable: true });
  return Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original));
}
promisify.custom = promisified;

// A rejection without a reason would look like a success.
const reason = (error) =>
  error ? error : Object.assign(coded(new Error("Promise was rejected with falsy value"), "ERR_FALSY_VALUE_REJECTION"), { reason: error });
function callbackify(original) {
  if (typeof original !== "function") throw invalidArgument("original", "of type function", original);
  return function (...args) {
    const callback = args.pop();
    original.apply(this, args).then(
      (value) => tick(() => callback(null, value)),
      (error) => tick(() => callback(reason(error))),
    );
  };
}
function inherits(constructor, parent) {
  if (constructor === undefined || constructor === null) throw invalidArgument("ctor", "of type function", constructor);
  if (parent === undefined || parent === null) throw invalidArgument("superCtor", "of type function", parent);
  if (parent.prototype === undefined) throw invalidArgument("superCtor.prototype", "of type object", parent.prototype);
  Object.defineProperty(constructor, "super_", { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(constructor.prototype, parent.prototype);
}
function deprecate(original, message, code) {
  let warned = false;
  function deprecated(...args) {
    if (!warned) console.warn(`DeprecationWarning: ${code === undefined ? "" : `[${code}] `}${message}`);
    warned = true;
    return new.target ? Reflect.construct(original, args, new.target) : original.apply(this, args);
  }
  Object.setPrototypeOf(deprecated, original);
  if (original.prototype) deprecated.prototype = original.prototype;
  return deprecated;
}
function debuglog() {
  const log = () => undefined;
  log.enabled = false;
  return log;
}
function format(...args) {
  return args.length === 0 ? "" : formatWithOptions({}, ...args);
}
function stripVTControlCharacters(text) {
  if (typeof text !== "string") throw invalidArgument("str", "of type string", text);
  return text.replace(/[\u001B\u009B][[\]()#;?]*(?:(?:(?:(?:;[-a-zA-Z\d/#&.:=?%@~_]+)*|[a-zA-Z\d]+(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?(?:\u0007|\u001B\u005C|\u009C))|(?:(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]))/g, "");
}
function toUSVString(text) {
  return `${text}`.toWellFormed();
}
function isDeepStrictEqual(a, b) {
  return equal(a, b, true);
}
function styleText(style, text, options = {}) {
  if (typeof text !== "string") throw invalidArgument("text", "of type string", text);
  const { validateStream = true, stream } = options;
  if (typeof validateStream !== "boolean") throw invalidArgument("options.validateStream", "of type boolean", validateStream);
  if (stream !== undefined && validateStream) return require("node:internal/unavailable").refuse("`stream` of `util.styleText`");
  const codes = (Array.isArray(style) ? style : [style]).map((name) => {
    const known = inspect.colors[name];
    if (known !== undefined) return known;
    throw invalidValue("format", name, `must be one of: ${Object.keys(inspect.colors).map((color) => `'${color}'`).join(", ")}`);
  });
  // The output of a program is no terminal.
  if (validateStream && !Array.isArray(style)) return text;
  return codes.reduceRight((inner, [on, off]) => `\u001b[${on}m${inner}\u001b[${off}m`, text);
}
function _extend(target, source) {
  return source === null || typeof source !== "object" ? target : Object.assign(target, source);
}
function parseArgs() {
  return require("node:internal/unavailable").refuse("`util.parseArgs`", "a program has no command line; use `config` of the module `stead`");
}

const { TextEncoder, TextDecoder } = globalThis;
const debug = debuglog;
const isArray = Array.isArray;
const isBoolean = (value) => typeof value === "boolean";
const isNull = (value) => value === null;
const isNullOrUndefined = (value) => value === null || value === undefined;
const isNumber = (value) => typeof value === "number";
const isString = (value) => typeof value === "string";
const isSymbol = (value) => typeof value === "symbol";
const isUndefined = (value) => value === undefined;
const isRegExp = types.isRegExp;
const isObject = (value) => value !== null && typeof value === "object";
const isDate = types.isDate;
const isError = (value) => types.isNativeError(value) || value instanceof Error;
const isFunction = (value) => typeof value === "function";
const isPrimitive = (value) => value === null || (typeof value !== "object" && typeof value !== "function");
const isBuffer = (value) => Buffer.isBuffer(value);
module.exports = { inspect, formatWithOptions, format, types, promisify, callbackify, inherits, deprecate, debuglog, debug, stripVTControlCharacters, toUSVString, isDeepStrictEqual, styleText, parseArgs, TextEncoder, TextDecoder, _extend, isArray, isBoolean, isNull, isNullOrUndefined, isNumber, isString, isSymbol, isUndefined, isRegExp, isObject, isDate, isError, isFunction, isPrimitive, isBuffer };
