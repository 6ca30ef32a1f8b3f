// util.types: tests of the kind of a value, whatever its prototype is.
"use strict";

const { host } = require("stead:internal");

const kindOf = (value) => Object.prototype.toString.call(value);
const ofKind = (kind) => (value) => typeof value === "object" && value !== null && kindOf(value) === `[object ${kind}]`;
// A built-in method throws for a value of another kind.
const accepts = (method, ...args) => (value) => {
  if (typeof value !== "object" || value === null) return false;
  try {
    method.call(value, ...args);
    return true;
  } catch {
    return false;
  }
};
const getter = (object, key) => Object.getOwnPropertyDescriptor(object, key).get;
const TypedArray = Object.getPrototypeOf(Uint8Array);
const typeOf = getter(TypedArray.prototype, Symbol.toStringTag);
const AsyncFunction = (async () => {}).constructor;
const AsyncGeneratorFunction = async function* () {}.constructor;
const GeneratorFunction = function* () {}.constructor;

const isArrayBuffer = accepts(getter(ArrayBuffer.prototype, "byteLength"));
const isSharedArrayBuffer = typeof SharedArrayBuffer === "function" ? accepts(getter(SharedArrayBuffer.prototype, "byteLength")) : () => false;
const boxed = {
  isBooleanObject: accepts(Boolean.prototype.valueOf),
  isNumberObject: accepts(Number.prototype.valueOf),
  isStringObject: accepts(String.prototype.valueOf),
  isSymbolObject: accepts(Symbol.prototype.valueOf),
  isBigIntObject: accepts(BigInt.prototype.valueOf),
};
// A text of the program may hide the kind: `toString` reads it from the value.
const plainKind = (kind) => (value) => {
  if (typeof value !== "object" || value === null || typeof value[Symbol.toStringTag] === "string") return false;
  return kindOf(value) === `[object ${kind}]`;
};

const types = {
  isAnyArrayBuffer: (value) => isArrayBuffer(value) || isSharedArrayBuffer(value),
  isArrayBuffer,
  isSharedArrayBuffer,
  isArgumentsObject: plainKind("Arguments"),
  isArrayBufferView: (value) => ArrayBuffer.isView(value),
  isAsyncFunction: (value) => typeof value === "function" && (value instanceof AsyncFunction || value instanceof AsyncGeneratorFunction),
  isGeneratorFunction: (value) => typeof value === "function" && (value instanceof GeneratorFunction || value instanceof AsyncGeneratorFunction),
  isGeneratorObject: ofKind("Generator"),
  ...boxed,
  isBoxedPrimitive: (value) => Object.values(boxed).some((test) => test(value)),
  isDataView: accepts(getter(DataView.prototype, "byteLength")),
  isDate: accepts(Date.prototype.valueOf),
  isExternal: () => false,
  isMap: accepts(getter(Map.prototype, "size")),
  isMapIterator: ofKind("Map Iterator"),
  isModuleNamespaceObject: ofKind("Module"),
  isNativeError: plainKind("Error"),
  isPromise: (value) => host.promiseState(value) !== undefined,
  isProxy: (value) => host.proxyTarget(value) !== undefined,
  isRegExp: (value) => value !== RegExp.prototype && accepts(getter(RegExp.prototype, "global"))(value),
  isSet: accepts(getter(Set.prototype, "size")),
  isSetIterator: ofKind("Set Iterator"),
  isTypedArray: (value) => ArrayBuffer.isView(value) && typeOf.call(value) !== undefined,
  isWeakMap: accepts(WeakMap.prototype.has, {}),
  isWeakSet: accepts(WeakSet.prototype.has, {}),
};
for (const Type of [Uint8Array, Uint8ClampedArray, Uint16Array, Uint32Array, Int8Array, Int16Array, Int32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array]) {
  types[`is${Type.name}`] = (value) => ArrayBuffer.isView(value) && typeOf.call(value) === Type.name;
}
module.exports = types;
