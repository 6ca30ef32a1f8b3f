// node:util.
"use strict";

const { inspect, formatWithOptions } = require("node:internal/inspect");
const { equal } = require("node:internal/equal");

const kindOf = (value) => Object.prototype.toString.call(value);
const ofKind = (kind) => (value) => typeof value === "object" && value !== null && kindOf(value) === `[object ${kind}]`;
const instance = (Type) => (value) => value instanceof Type;
const TypedArray = Object.getPrototypeOf(Uint8Array);
const AsyncFunction = (async () => {}).constructor;
const GeneratorFunction = function* () {}.constructor;

const types = {
  isAnyArrayBuffer: (value) => ofKind("ArrayBuffer")(value) || ofKind("SharedArrayBuffer")(value),
  isArrayBuffer: ofKind("ArrayBuffer"),
  isSharedArrayBuffer: ofKind("SharedArrayBuffer"),
  isArgumentsObject: ofKind("Arguments"),
  isArrayBufferView: (value) => ArrayBuffer.isView(value),
  isAsyncFunction: (value) => typeof value === "function" && value instanceof AsyncFunction,
  isGeneratorFunction: (value) => typeof value === "function" && value instanceof GeneratorFunction,
  isGeneratorObject: ofKind("Generator"),
  isBigInt64Array: instance(BigInt64Array),
  isBigUint64Array: instance(BigUint64Array),
  isBooleanObject: instance(Boolean),
  isNumberObject: instance(Number),
  isStringObject: instance(String),
  isSymbolObject: instance(Symbol),
  isBigIntObject: instance(BigInt),
  isBoxedPrimitive: (value) => [Boolean, Number, String, Symbol, BigInt].some((Type) => value instanceof Type),
  isDataView: instance(DataView),
  isDate: instance(Date),
  isExternal: () => false,
  isMap: instance(Map),
  isMapIterator: ofKind("Map Iterator"),
  isModuleNamespaceObject: ofKind("Module"),
  isNativeError: instance(Error),
  isPromise: instance(Promise),
  isProxy: () => false,
  isRegExp: instance(RegExp),
  isSet: instance(Set),
  isSetIterator: ofKind("Set Iterator"),
  isTypedArray: instance(TypedArray),
  isWeakMap: instance(WeakMap),
  isWeakSet: instance(WeakSet),
};
for (const Type of [Uint8Array, Uint8ClampedArray, Uint16Array, Uint32Array, Int8Array, Int16Array, Int32Array, Float32Array, Float64Array]) {
  types[`is${Type.name}`] = (value) => value instanceof TypedArray && value[Symbol.toStringTag] === Type.name;
}

const promisified = Symbol.for("nodejs.util.promisify.custom");
function promisify(original) {
  if (typeof original !== "function") {
    const error = new TypeError(`The "original" argument must be of type function. Received ${original === null ? "null" : typeof original}`);
    error.code = "ERR_INVALID_ARG_TYPE";
    throw error;
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

function callbackify(original) {
  return function (...args) {
    const callback = args.pop();
    original.apply(this, args).then(
      (value) => queueMicrotask(() => callback(null, value)),
      (error) => queueMicrotask(() => callback(error)),
    );
  };
}
function inherits(constructor, parent) {
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
  return text.replace(/[\u001B\u009B][[\]()#;?]*(?:(?:(?:(?:;[-a-zA-Z\d/#&.:=?%@~_]+)*|[a-zA-Z\d]+(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?(?:\u0007|\u001B\u005C|\u009C))|(?:(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]))/g, "");
}
function toUSVString(text) {
  return `${text}`.toWellFormed();
}
function isDeepStrictEqual(a, b) {
  return equal(a, b, true);
}
function styleText(style, text) {
  return `${text}`;
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
const isError = types.isNativeError;
const isFunction = (value) => typeof value === "function";
const isPrimitive = (value) => value === null || (typeof value !== "object" && typeof value !== "function");
const isBuffer = (value) => Buffer.isBuffer(value);
module.exports = { inspect, formatWithOptions, format, types, promisify, callbackify, inherits, deprecate, debuglog, debug, stripVTControlCharacters, toUSVString, isDeepStrictEqual, styleText, parseArgs, TextEncoder, TextDecoder, _extend, isArray, isBoolean, isNull, isNullOrUndefined, isNumber, isString, isSymbol, isUndefined, isRegExp, isObject, isDate, isError, isFunction, isPrimitive, isBuffer };
