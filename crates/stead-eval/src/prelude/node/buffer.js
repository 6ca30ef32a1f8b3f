// node:buffer: `Buffer` on top of Uint8Array.
"use strict";

const { host, isUnknown, refuse } = require("stead:internal");
const { coded, invalidArgument, invalidValue, outOfRange } = require("node:internal/errors");

const NAMES = {
  utf8: "utf8", "utf-8": "utf8", ucs2: "utf16le", "ucs-2": "utf16le", utf16le: "utf16le", "utf-16le": "utf16le",
  latin1: "latin1", binary: "latin1", ascii: "ascii", hex: "hex", base64: "base64", base64url: "base64url",
};
const KIND = /^\[object (?:Uint8Array|ArrayBuffer|SharedArrayBuffer)\]$/;

function normalizeEncoding(name) {
  if (name === undefined || name === null || name === "") return "utf8";
  return NAMES[`${name}`] ?? NAMES[`${name}`.toLowerCase()];
}
function encodingOf(name) {
  const known = normalizeEncoding(name);
  if (known === undefined) throw coded(new TypeError(`Unknown encoding: ${name}`), "ERR_UNKNOWN_ENCODING");
  return known;
}

const fromUnits = (text, mask) => Uint8Array.from({ length: text.length }, (_, i) => text.charCodeAt(i) & mask);
const encoders = {
  utf8: (text) => new TextEncoder().encode(text),
  latin1: (text) => fromUnits(text, 0xff),
  ascii: (text) => fromUnits(text, 0xff),
  utf16le(text) {
    const bytes = new Uint8Array(text.length * 2);
    for (let i = 0; i < text.length; i++) {
      bytes[i * 2] = text.charCodeAt(i) & 0xff;
      bytes[i * 2 + 1] = text.charCodeAt(i) >> 8;
    }
    return bytes;
  },
  hex(text) {
    const whole = /^(?:[0-9a-fA-F]{2})*/.exec(text)[0];
    return Uint8Array.from({ length: whole.length / 2 }, (_, i) => parseInt(whole.slice(i * 2, i * 2 + 2), 16));
  },
  base64(text) {
    const clean = text.replace(/=[^]*$/, "").replaceAll("-", "+").replaceAll("_", "/").replace(/[^A-Za-z0-9+/]/g, "");
    return host.base64Decode(clean.length % 4 === 1 ? clean.slice(0, -1) : clean);
  },
};
encoders.base64url = encoders.base64;

const unitsOf = (bytes, mask) => {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += String.fromCharCode(bytes[i] & mask);
  return text;
};
const decoders = {
  utf8: (bytes) => host.decodeText(bytes, false),
  latin1: (bytes) => unitsOf(bytes, 0xff),
  ascii: (bytes) => unitsOf(bytes, 0x7f),
  utf16le(bytes) {
    let text = "";
    for (let i = 0; i + 1 < bytes.length; i += 2) text += String.fromCharCode(bytes[i] | (bytes[i + 1] << 8));
    return text;
  },
  hex(bytes) {
    let text = "";
    for (let i = 0; i < bytes.length; i++) text += bytes[i].toString(16).padStart(2, "0");
    return text;
  },
  base64: (bytes) => host.base64Encode(bytes),
  base64url: (bytes) => host.base64Encode(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
};

// A plain array of the same bytes; the host functions take no subclass.
const plain = (bytes) => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const wrap = (bytes) => Object.setPrototypeOf(bytes, Buffer.prototype);

const MOST = 2 ** 32;
function needNumber(value, name, least, most) {
  if (typeof value !== "number") throw invalidArgument(name, "of type number", value);
  if (!(value >= (least ?? -Infinity) && value <= (most ?? Infinity))) {
    throw outOfRange(name, [least !== undefined && `>= ${least}`, most !== undefined && `<= ${most}`].filter(Boolean).join(" && "), value);
  }
}
function needOffset(value, name, most = MOST) {
  if (typeof value !== "number") throw invalidArgument(name, "of type number", value);
  if (!Number.isInteger(value)) throw outOfRange(name, "an integer", value);
  if (value < 0 || value > most) throw outOfRange(name, `>= 0 && <= ${most}`, value);
}
const isBytes = (value) => value instanceof Uint8Array;
function needBytes(value, name) {
  if (!isBytes(value)) throw invalidArgument(name, "an instance of Buffer or Uint8Array", value);
}
function sizeOf(size) {
  needNumber(size, "size", 0, MOST);
  return size;
}

function Buffer(value, encodingOrOffset, length) {
  return typeof value === "number" ? Buffer.alloc(value) : Buffer.from(value, encodingOrOffset, length);
}
Object.setPrototypeOf(Buffer, Uint8Array);
Buffer.prototype = Object.create(Uint8Array.prototype, { constructor: { value: Buffer, writable: true, configurable: true } });

Object.assign(Buffer, {
  poolSize: 8192,
  normalizeEncoding,
  from(value, encodingOrOffset, length) {
    if (isUnknown(value)) refuse("takes", value, "Buffer.from");
    if (typeof value === "string") return wrap(encoders[encodingOf(encodingOrOffset)](value));
    if (typeof value === "object" && value !== null) {
      const kind = Object.prototype.toString.call(value);
      if (kind === "[object ArrayBuffer]" || kind === "[object SharedArrayBuffer]") return wrap(new Uint8Array(value, encodingOrOffset, length));
      if (Array.isArray(value) || ArrayBuffer.isView(value)) return wrap(Uint8Array.from(value, (item) => item & 255));
      const inner = value.valueOf?.();
      if (inner !== value && (typeof inner === "string" || (typeof inner === "object" && inner !== null))) return Buffer.from(inner, encodingOrOffset, length);
      if (value.length !== undefined) return typeof value.length === "number" ? wrap(Uint8Array.from(value, (item) => item & 255)) : wrap(new Uint8Array(0));
      if (value.type === "Buffer" && Array.isArray(value.data)) return Buffer.from(value.data);
      const text = typeof value[Symbol.toPrimitive] === "function" ? value[Symbol.toPrimitive]("string") : undefined;
      if (typeof text === "string") return Buffer.from(text, encodingOrOffset);
    }
    throw invalidArgument("first argument", "of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object", value);
  },
  alloc(size, fill, encoding) {
    const made = wrap(new Uint8Array(sizeOf(size)));
    return fill === undefined || fill === 0 || size < 1 ? made : made.fill(fill, 0, made.length, encoding);
  },
  allocUnsafe: (size) => wrap(new Uint8Array(sizeOf(size))),
  allocUnsafeSlow: (size) => wrap(new Uint8Array(sizeOf(size))),
  isBuffer: (value) => value instanceof Buffer,
  isEncoding: (name) => typeof name === "string" && name !== "" && normalizeEncoding(name) !== undefined,
  byteLength(value, encoding) {
    if (typeof value === "string") return encoders[normalizeEncoding(encoding) ?? "utf8"](value).length;
    if (ArrayBuffer.isView(value) || KIND.test(Object.prototype.toString.call(value))) return value.byteLength;
    throw invalidArgument("string", "of type string or an instance of Buffer or ArrayBuffer", value);
  },
  compare(a, b) {
    needBytes(a, "buf1");
    needBytes(b, "buf2");
    return order(a, b);
  },
  concat(list, total) {
    if (!Array.isArray(list)) throw invalidArgument("list", "an instance of Array", list);
    if (list.length === 0) return Buffer.alloc(0);
    if (total !== undefined) needOffset(total, "length");
    const length = total ?? list.reduce((sum, item) => sum + (item.length || 0), 0);
    const made = Buffer.alloc(length);
    let at = 0;
    for (const [i, item] of list.entries()) {
      needBytes(item, `list[${i}]`);
      made.set(plain(item).subarray(0, Math.max(length - at, 0)), Math.min(at, length));
      at += Math.min(item.length, length - at);
    }
    return made;
  },
  of: (...items) => Buffer.from(items),
  copyBytesFrom(view, offset, length) {
    if (!ArrayBuffer.isView(view) || view instanceof DataView) throw invalidArgument("view", "an instance of TypedArray", view);
    if (offset !== undefined) needOffset(offset, "offset");
    if (length !== undefined) needOffset(length, "length");
    const part = view.subarray(offset, length === undefined ? undefined : (offset ?? 0) + length);
    return Buffer.from(plain(part).slice());
  },
});

function order(a, b) {
  const { length } = a.length < b.length ? a : b;
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
}

// Returns the position at which a search starts, or -1 if it finds nothing.
function searchFrom(bytes, offset, wanted, forward) {
  const given = +offset;
  const at = Number.isNaN(given) ? (forward ? 0 : bytes.length) : Math.trunc(Math.max(Math.min(given, 0x7fffffff), -0x80000000));
  if (at < 0) return at + bytes.length >= 0 ? at + bytes.length : forward || wanted === 0 ? 0 : -1;
  if (at + wanted <= bytes.length) return at;
  return wanted === 0 ? bytes.length : forward ? -1 : bytes.length - 1;
}
function search(bytes, value, given, name, forward) {
  const [offset, encoding] = typeof given === "string" ? [undefined, given] : [given, name];
  let wanted;
  if (typeof value === "number") wanted = [(value >>> 0) & 255];
  else if (typeof value === "string") wanted = encoders[encodingOf(encoding)](value);
  else if (isBytes(value)) wanted = value;
  else throw invalidArgument("value", "one of type number or string or an instance of Buffer or Uint8Array", value);
  const from = searchFrom(bytes, offset, wanted.length, forward);
  if (wanted.length === 0 && typeof value !== "number") return from;
  if (from < 0 || wanted.length > bytes.length) return -1;
  // UTF-16 is searched by its units.
  const step = typeof value !== "number" && normalizeEncoding(encoding) === "utf16le" ? 2 : 1;
  if (step === 2 && (bytes.length < 2 || wanted.length < 2)) return -1;
  const last = bytes.length - wanted.length;
  const start = Math.floor((forward ? from : Math.min(from, last)) / step) * step;
  for (let i = start; forward ? i <= last : i >= 0; i += forward ? step : -step) {
    let j = 0;
    while (j < wanted.length && bytes[i + j] === wanted[j]) j++;
    if (j === wanted.length) return i;
  }
  return -1;
}

const clamp = (at, length, otherwise) => {
  if (at === undefined) return otherwise;
  const whole = Math.trunc(at) || 0;
  return whole < 0 ? Math.max(length + whole, 0) : Math.min(whole, length);
};

const methods = {
  toString(encoding, start, end) {
    const from = start > 0 ? Math.trunc(start) || 0 : start <= 0 ? 0 : Math.trunc(start) || 0;
    const to = end === undefined || end > this.length ? this.length : Math.trunc(end) || 0;
    if (to <= from || from >= this.length) return "";
    return decoders[encoding === undefined ? "utf8" : encodingOf(encoding === null ? "null" : encoding)](plain(this).subarray(from, to));
  },
  toLocaleString(encoding, start, end) {
    return this.toString(encoding, start, end);
  },
  toJSON() {
    return { type: "Buffer", data: Array.from(plain(this)) };
  },
  equals(other) {
    needBytes(other, "otherBuffer");
    return order(this, other) === 0;
  },
  compare(target, targetStart = 0, targetEnd, start = 0, end) {
    needBytes(target, "target");
    needOffset(targetStart, "targetStart");
    if (targetEnd !== undefined) needOffset(targetEnd, "targetEnd", target.length);
    needOffset(start, "sourceStart");
    if (end !== undefined) needOffset(end, "sourceEnd", this.length);
    const [to, targetTo] = [end ?? this.length, targetEnd ?? target.length];
    if (start >= to) return targetStart >= targetTo ? 0 : -1;
    if (targetStart >= targetTo) return 1;
    return order(plain(this).subarray(start, to), plain(target).subarray(targetStart, targetTo));
  },
  slice(start, end) {
    return this.subarray(start, end);
  },
  subarray(start, end) {
    const from = clamp(start, this.length, 0);
    const to = clamp(end, this.length, this.length);
    return wrap(new Uint8Array(this.buffer, this.byteOffset + from, Math.max(to - from, 0)));
  },
  write(text, offset, length, encoding) {
    if (length === undefined && typeof offset === "string") [encoding, offset] = [offset, undefined];
    else if (offset !== undefined) {
      needOffset(offset, "offset", this.length);
      if (typeof length === "string") [encoding, length] = [length, undefined];
      else if (length !== undefined) needOffset(length, "length", this.length);
    } else [length, encoding] = [undefined, undefined];
    const name = encoding ? encodingOf(encoding) : "utf8";
    if (typeof text !== "string") throw coded(new TypeError("argument must be a string"), "ERR_INVALID_ARG_TYPE");
    const at = offset ?? 0;
    const bytes = encoders[name](text);
    let count = Math.min(bytes.length, length ?? this.length - at, this.length - at);
    // A character is written whole or not at all.
    if (name === "utf8") while (count > 0 && count < bytes.length && (bytes[count] & 0xc0) === 0x80) count--;
    if (name === "utf16le") count -= count % 2;
    this.set(bytes.subarray(0, count), at);
    return count;
  },
  copy(target, targetStart, start, end) {
    needBytes(target, "target");
    const at = Math.trunc(targetStart) || 0;
    const from = Math.trunc(start) || 0;
    const to = end === undefined ? this.length : Math.trunc(end) || 0;
    if (at < 0) throw outOfRange("targetStart", ">= 0", at);
    if (from < 0 || from > this.length) throw outOfRange("sourceStart", `>= 0 && <= ${this.length}`, from);
    if (to < 0) throw outOfRange("sourceEnd", ">= 0", to);
    if (at >= target.length || from >= to) return 0;
    const bytes = plain(this).subarray(from, Math.min(to, from + target.length - at));
    target.set(bytes, at);
    return bytes.length;
  },
  fill(value, start, end, encoding) {
    if (typeof value === "string") {
      if (start === undefined || typeof start === "string") [encoding, start, end] = [start, 0, this.length];
      else if (typeof end === "string") [encoding, end] = [end, undefined];
      if (encoding !== undefined && encoding !== null && typeof encoding !== "string") throw invalidArgument("encoding", "of type string", encoding);
    }
    const name = encodingOf(typeof value === "string" ? encoding : undefined);
    if (start === undefined) end = undefined;
    else needNumber(start, "offset", 0, MOST);
    if (end !== undefined) needNumber(end, "end", 0, this.length);
    const [from, to] = [Math.trunc(start ?? 0), Math.trunc(end ?? this.length)];
    if (from >= to) return this;
    if (typeof value === "string" || isBytes(value)) {
      const bytes = value === "" ? [0] : typeof value === "string" ? encoders[name](value) : value;
      if (bytes.length === 0) throw invalidValue("value", value);
      for (let i = from; i < to; i++) this[i] = bytes[(i - from) % bytes.length];
    } else Uint8Array.prototype.fill.call(this, value & 255, from, to);
    return this;
  },
  indexOf(value, offset, encoding) {
    return search(this, value, offset, encoding, true);
  },
  lastIndexOf(value, offset, encoding) {
    return search(this, value, offset, encoding, false);
  },
  includes(value, offset, encoding) {
    return search(this, value, offset, encoding, true) !== -1;
  },
  swap16() {
    return swap(this, 2);
  },
  swap32() {
    return swap(this, 4);
  },
  swap64() {
    return swap(this, 8);
  },
};
function swap(bytes, size) {
  if (bytes.length % size !== 0) throw coded(new RangeError(`Buffer size must be a multiple of ${size * 8}-bits`), "ERR_INVALID_BUFFER_SIZE");
  for (let i = 0; i < bytes.length; i += size) plain(bytes).subarray(i, i + size).reverse();
  return bytes;
}

Object.assign(methods, require("node:internal/buffer-numbers"));
for (const key of Object.keys(methods)) {
  const lower = key.replace("UInt", "Uint");
  Object.defineProperty(Buffer.prototype, key, { value: methods[key], writable: true, configurable: true });
  if (lower !== key) Object.defineProperty(Buffer.prototype, lower, { value: methods[key], writable: true, configurable: true });
}
Object.defineProperty(Buffer.prototype, "parent", { get() { return this.buffer; }, configurable: true });
Object.defineProperty(Buffer.prototype, "offset", { get() { return this.byteOffset; }, configurable: true });

function SlowBuffer(size) {
  return Buffer.alloc(size);
}
const isUtf8 = (bytes) => host.decodeText(plain(Buffer.from(bytes)), true) !== undefined;
const isAscii = (bytes) => Buffer.from(bytes).every((byte) => byte < 128);
const { atob, btoa } = globalThis;
const kMaxLength = MOST;
const kStringMaxLength = 2 ** 29 - 24;
const INSPECT_MAX_BYTES = 50;
const constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: kStringMaxLength };
module.exports = { Buffer, SlowBuffer, isUtf8, isAscii, atob, btoa, kMaxLength, kStringMaxLength, INSPECT_MAX_BYTES, constants };
