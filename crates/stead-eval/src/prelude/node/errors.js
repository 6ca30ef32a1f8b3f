// Errors with the codes and messages of Node.js.
"use strict";

const coded = (error, code) => {
  error.code = code;
  return error;
};

// Describes a value as the messages of Node.js do.
function received(value) {
  if (value === null || value === undefined) return ` Received ${value}`;
  if (typeof value === "function") return ` Received function ${value.name}`;
  if (typeof value === "object") {
    if (value.constructor?.name) return ` Received an instance of ${value.constructor.name}`;
    return ` Received ${require("node:internal/inspect").inspect(value, { depth: -1 })}`;
  }
  let shown = require("node:internal/inspect").inspect(value);
  if (shown.length > 28) shown = `${shown.slice(0, 25)}...`;
  return ` Received type ${typeof value} (${shown})`;
}

const kind = (name) => (name.endsWith(" argument") ? name : `"${name}" ${name.includes(".") ? "property" : "argument"}`);
exports.coded = coded;
exports.invalidArgument = (name, expected, value) =>
  coded(new TypeError(`The ${kind(name)} must be ${expected}.${received(value)}`), "ERR_INVALID_ARG_TYPE");
exports.invalidValue = (name, value, reason = "is invalid") => {
  let shown = require("node:internal/inspect").inspect(value);
  if (shown.length > 128) shown = `${shown.slice(0, 128)}...`;
  return coded(new TypeError(`The ${name.includes(".") ? "property" : "argument"} '${name}' ${reason}. Received ${shown}`), "ERR_INVALID_ARG_VALUE");
};

// Separates the digits of a number by `_`, as the messages do.
function separated(digits) {
  const start = digits[0] === "-" ? 1 : 0;
  let rest = "";
  let i = digits.length;
  for (; i >= start + 4; i -= 3) rest = `_${digits.slice(i - 3, i)}${rest}`;
  return digits.slice(0, i) + rest;
}
exports.outOfRange = (name, range, value) => {
  let shown;
  if (Number.isInteger(value) && Math.abs(value) > 2 ** 32) shown = separated(String(value));
  else if (typeof value === "bigint") {
    shown = String(value);
    if (value > 2n ** 32n || value < -(2n ** 32n)) shown = separated(shown);
    shown += "n";
  } else shown = require("node:internal/inspect").inspect(value);
  return coded(new RangeError(`The value of "${name}" is out of range. It must be ${range}. Received ${shown}`), "ERR_OUT_OF_RANGE");
};
