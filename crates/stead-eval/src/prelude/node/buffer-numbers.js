// Numbers in buffers: the `read…` and `write…` methods of `Buffer`, with the checks of Node.js.
"use strict";

const { coded, invalidArgument, outOfRange } = require("node:internal/errors");

function needNumber(value, name) {
  if (typeof value !== "number") throw invalidArgument(name, "of type number", value);
}

// Throws the error of an offset, or of a size from 1 to 6, that does not fit.
function misplaced(value, most, name) {
  needNumber(value, name ?? "offset");
  if (Math.floor(value) !== value) throw outOfRange(name ?? "offset", "an integer", value);
  if (most < 0) throw coded(new RangeError("Attempt to access memory outside buffer bounds"), "ERR_BUFFER_OUT_OF_BOUNDS");
  throw outOfRange(name ?? "offset", `>= ${name === undefined ? 0 : 1} and <= ${most}`, value);
}
function viewAt(bytes, offset, size) {
  needNumber(offset, "offset");
  if (bytes[offset] === undefined || bytes[offset + size - 1] === undefined) misplaced(offset, bytes.length - size);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// Returns the smallest and the largest integer of a size.
function limits(signed, size, big) {
  if (big) return signed ? [-(2n ** 63n), 2n ** 63n - 1n] : [0n, 2n ** 64n - 1n];
  return signed ? [-(2 ** (size * 8 - 1)), 2 ** (size * 8 - 1) - 1] : [0, 2 ** (size * 8) - 1];
}
function checkValue(value, signed, size, big) {
  const [least, most] = limits(signed, size, big);
  if (!(value > most || value < least)) return;
  const n = big ? "n" : "";
  const bits = size * 8;
  if (size <= 4) throw outOfRange("value", `>= ${least} and <= ${most}`, value);
  const range = signed ? `>= -(2${n} ** ${bits - 1}${n}) and < 2${n} ** ${bits - 1}${n}` : `>= 0${n} and < 2${n} ** ${bits}${n}`;
  throw outOfRange("value", range, value);
}

const methods = {};
const KINDS = [
  ["Int8", "Int8", 1], ["UInt8", "Uint8", 1], ["Int16", "Int16", 2], ["UInt16", "Uint16", 2], ["Int32", "Int32", 4],
  ["UInt32", "Uint32", 4], ["BigInt64", "BigInt64", 8], ["BigUInt64", "BigUint64", 8], ["Float", "Float32", 4], ["Double", "Float64", 8],
];
for (const [name, kind, size] of KINDS) {
  const big = name.startsWith("Big");
  const integer = size < 8 && name !== "Float";
  const signed = name.startsWith("Int") || name === "BigInt64";
  for (const [order, little] of size === 1 ? [["", true]] : [["LE", true], ["BE", false]]) {
    methods[`read${name}${order}`] = function (offset = 0) {
      return viewAt(this, offset, size)[`get${kind}`](offset, little);
    };
    methods[`write${name}${order}`] = function (given, offset = 0) {
      const value = big ? given : +given;
      if (size === 1) needNumber(offset, "offset");
      if (integer || big) checkValue(value, signed, size, big);
      viewAt(this, offset, size)[`set${kind}`](offset, value, little);
      return offset + size;
    };
  }
}

function checkSize(offset, size) {
  if (offset === undefined) throw invalidArgument("offset", "of type number", offset);
  if (!(size >= 1 && size <= 6 && Number.isInteger(size))) misplaced(size, 6, "byteLength");
}
for (const [order, little] of [["LE", true], ["BE", false]]) {
  const read = (bytes, offset, size) => {
    checkSize(offset, size);
    viewAt(bytes, offset, size);
    let sum = 0;
    for (let i = 0; i < size; i++) sum = sum * 256 + bytes[offset + (little ? size - 1 - i : i)];
    return sum;
  };
  const write = (bytes, given, offset, size, signed) => {
    if (!(size >= 1 && size <= 6 && Number.isInteger(size))) misplaced(size, 6, "byteLength");
    const value = +given;
    if (size === 1) needNumber(offset, "offset");
    checkValue(value, signed, size, false);
    viewAt(bytes, offset, size);
    const whole = Math.trunc(value) || 0;
    let rest = whole < 0 ? whole + 2 ** (size * 8) : whole;
    for (let i = 0; i < size; i++) {
      bytes[offset + (little ? i : size - 1 - i)] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    return offset + size;
  };
  methods[`readUInt${order}`] = function (offset, size) {
    return read(this, offset, size);
  };
  methods[`readInt${order}`] = function (offset, size) {
    const value = read(this, offset, size);
    return value >= 2 ** (size * 8 - 1) ? value - 2 ** (size * 8) : value;
  };
  methods[`writeUInt${order}`] = function (value, offset, size) {
    return write(this, value, offset, size, false);
  };
  methods[`writeInt${order}`] = function (value, offset, size) {
    return write(this, value, offset, size, true);
  };
}
module.exports = methods;
