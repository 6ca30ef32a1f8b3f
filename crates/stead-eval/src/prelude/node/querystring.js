// node:querystring.
"use strict";

const KEPT = /[A-Za-z0-9\-_.!~*'()]/;

const { coded } = require("node:internal/errors");

function escape(text) {
  if (typeof text !== "string") text = typeof text === "object" ? String(text) : `${text}`;
  if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text)) throw coded(new URIError("URI malformed"), "ERR_INVALID_URI");
  let out = "";
  for (const character of text) out += KEPT.test(character) && character.length === 1 ? character : encodeURIComponent(character);
  return out;
}

function unescape(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return unescapeBuffer(text).toString();
  }
}

function unescapeBuffer(text) {
  const bytes = [];
  const whole = Buffer.from(text.replace(/%([0-9a-fA-F]{2})/g, (_, hex) => String.fromCharCode(0xe000 + parseInt(hex, 16))), "utf16le");
  for (let i = 0; i < whole.length; i += 2) {
    const unit = whole[i] | (whole[i + 1] << 8);
    if (unit >= 0xe000 && unit <= 0xe0ff) bytes.push(unit - 0xe000);
    else bytes.push(...Buffer.from(String.fromCharCode(unit)));
  }
  return Buffer.from(bytes);
}

// A function that throws leaves the decoding to this module.
function decoded(text, decode) {
  try {
    return decode(text);
  } catch {
    return unescape(text);
  }
}

const primitive = (value) => {
  if (typeof value === "string") return value;
  if (typeof value === "number" && Number.isFinite(value)) return `${value}`;
  if (typeof value === "bigint" || typeof value === "boolean") return `${value}`;
  return "";
};

function stringify(object, separator = "&", equals = "=", options) {
  const encode = (typeof options?.encodeURIComponent === "function" && options.encodeURIComponent) || module.exports.escape;
  [separator, equals] = [separator || "&", equals || "="];
  if (typeof object !== "object" || object === null) return "";
  const parts = [];
  for (const key of Object.keys(object)) {
    const name = encode(primitive(key)) + equals;
    const value = object[key];
    if (Array.isArray(value)) for (const item of value) parts.push(name + encode(primitive(item)));
    else parts.push(name + encode(primitive(value)));
  }
  return parts.join(separator);
}

function parse(text, separator = "&", equals = "=", options) {
  const found = Object.create(null);
  if (typeof text !== "string" || text.length === 0) return found;
  const decode = typeof options?.decodeURIComponent === "function" ? options.decodeURIComponent : module.exports.unescape;
  const limit = options?.maxKeys ?? 1000;
  let pairs = text.split(separator || "&");
  if (limit > 0) pairs = pairs.slice(0, limit);
  for (const pair of pairs) {
    if (pair === "") continue;
    const at = pair.indexOf(equals || "=");
    const raw = at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + (equals || "=").length)];
    const [key, value] = raw.map((part) => {
      const spaced = part.replaceAll("+", " ");
      const own = typeof options?.decodeURIComponent === "function" || module.exports.unescape !== unescape;
      return own || spaced.includes("%") ? decoded(spaced, decode) : spaced;
    });
    if (!(key in found)) found[key] = value;
    else if (Array.isArray(found[key])) found[key].push(value);
    else found[key] = [found[key], value];
  }
  return found;
}

module.exports = { escape, unescape, unescapeBuffer, stringify, encode: stringify, parse, decode: parse };
