// node:buffer: `Buffer` on top of Uint8Array.
"use strict";

const { host, isUnknown, refuse } = require("stead:internal");

const NAMES = {
  utf8: "utf8", "utf-8": "utf8", ucs2: "utf16le", "ucs-2": "utf16le", utf16le: "utf16le", "utf-16le": "utf16le",
  latin1: "latin1", binary: "latin1", ascii: "ascii", hex: "hex", base64: "base64", base64url: "base64url",
};
const KIND = /^\[object (?:Uint8Array|ArrayBuffer|SharedArrayBuffer)\]$/;

function coded(error, code) {
  error.code = code;
  return error;
}
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

function sizeOf(size) {
  if (typeof size !== "number") throw coded(new TypeError(`The "size" argument must be of type number. Received ${typeof size}`), "ERR_INVALID_ARG_TYPE");
  if (!(size >= 0 && size <= 2 ** 31)) throw coded(new RangeError(`The value of "size" is out of range. It must be >= 0 && <= 2147483648. Received ${size}`), "ERR_OUT_OF_RANGE");
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
      if (inner !== undefined && inner !== null && inner !== value) return Buffer.from(inner, encodingOrOffset, length);
      if (value.type === "Buffer" && Array.isArray(value.data)) return Buffer.from(value.data);
      if (typeof value.length === "number") return wrap(Uint8Array.from(value, (item) => item & 255));
      if (typeof value[Symbol.toPrimitive] === "function") return Buffer.from(value[Symbol.toPrimitive]("string"), encodingOrOffset);
    }
    throw coded(
      new TypeError(`The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received ${value === null ? "null" : `type ${typeof value}`}`),
      "ERR_INVALID_ARG_TYPE",
    );
  },
  alloc(size, fill, encoding) {
    const made = wrap(new Uint8Array(sizeOf(size)));
    return fill === undefined || fill === 0 ? made : made.fill(fill, 0, size, encoding);
  },
  allocUnsafe: (size) => wrap(new Uint8Array(sizeOf(size))),
  allocUnsafeSlow: (size) => wrap(new Uint8Array(sizeOf(size))),
  isBuffer: (value) => value instanceof Buffer,
  isEncoding: (name) => typeof name === "string" && name !== "" && normalizeEncoding(name) !== undefined,
  byteLength(value, encoding) {
    if (typeof value === "string") return encoders[normalizeEncoding(encoding) ?? "utf8"](value).length;
    if (ArrayBuffer.isView(value) || KIND.test(Object.prototype.toString.call(value))) return value.byteLength;
    throw coded(new TypeError(`The "string" argument must be of type string or an instance of Buffer or ArrayBuffer. Received ${typeof value}`), "ERR_INVALID_ARG_TYPE");
  },
  compare(a, b) {
    const { length } = a.length < b.length ? a : b;
    for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
  },
  concat(list, total) {
    const length = total ?? list.reduce((sum, item) => sum + item.length, 0);
    const made = Buffer.alloc(length);
    let at = 0;
    for (const item of list) {
      if (at + item.length > length) made.set(plain(item).subarray(0, length - at), at);
      else made.set(item, at);
      at += Math.min(item.length, length - at);
    }
    return made;
  },
  of: (...items) => Buffer.from(items),
  copyBytesFrom: (view, offset, length) => Buffer.from(plain(view.subarray(offset, length === undefined ? undefined : (offset ?? 0) + length))),
});

const clamp = (at, length, otherwise) => {
  if (at === undefined) return otherwise;
  const whole = Math.trunc(at) || 0;
  return whole < 0 ? Math.max(length + whole, 0) : Math.min(whole, length);
};

const methods = {
  toString(encoding, start, end) {
    const from = Math.max(Math.trunc(start) || 0, 0);
    const to = end === undefined ? this.length : Math.min(Math.trunc(end) || 0, this.length);
    if (to <= from) return "";
    return decoders[encodingOf(encoding)](plain(this).subarray(from, to));
  },
  toLocaleString(encoding, start, end) {
    return this.toString(encoding, start, end);
  },
  toJSON() {
    return { type: "Buffer", data: Array.from(plain(this)) };
  },
  equals(other) {
    return Buffer.compare(this, other) === 0;
  },
  compare(target, targetStart = 0, targetEnd = target.length, start = 0, end = this.length) {
    return Buffer.compare(plain(this).subarray(start, end), plain(target).subarray(targetStart, targetEnd));
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
    if (typeof offset === "string") [encoding, offset, length] = [offset, 0, undefined];
    else if (typeof length === "string") [encoding, length] = [length, undefined];
    const at = offset ?? 0;
    const bytes = encoders[encodingOf(encoding)](text);
    let count = Math.min(bytes.length, length ?? this.length - at, this.length - at);
    // A character is written whole or not at all.
    if (encodingOf(encoding) === "utf8") while (count > 0 && count < bytes.length && (bytes[count] & 0xc0) === 0x80) count--;
    this.set(bytes.subarray(0, count), at);
    return count;
  },
  copy(target, targetStart = 0, start = 0, end = this.length) {
    const bytes = plain(this).subarray(start, Math.min(end, start + target.length - targetStart));
    target.set(bytes, targetStart);
    return bytes.length;
  },
  fill(value, start, end, encoding) {
    if (typeof start === "string") [encoding, start, end] = [start, undefined, undefined];
    else if (typeof end === "string") [encoding, end] = [end, undefined];
    const from = start ?? 0;
    const to = end ?? this.length;
    if (typeof value === "number" || typeof value === "boolean") {
      Uint8Array.prototype.fill.call(this, Number(value) & 255, from, to);
      return this;
    }
    const bytes = typeof value === "string" ? encoders[encodingOf(encoding)](value) : value;
    if (bytes.length === 0) Uint8Array.prototype.fill.call(this, 0, from, to);
    else for (let i = from; i < to; i++) this[i] = bytes[(i - from) % bytes.length];
    return this;
  },
  indexOf(value, offset, encoding) {
    if (typeof offset === "string") [encoding, offset] = [offset, undefined];
    if (typeof value === "number") return Uint8Array.prototype.indexOf.call(this, value & 255, offset);
    const bytes = typeof value === "string" ? encoders[encodingOf(encoding)](value) : value;
    for (let i = clamp(offset, this.length, 0); i + bytes.length <= this.length; i++) {
      let j = 0;
      while (j < bytes.length && this[i + j] === bytes[j]) j++;
      if (j === bytes.length) return i;
    }
    return -1;
  },
  lastIndexOf(value, offset, encoding) {
    if (typeof offset === "string") [encoding, offset] = [offset, undefined];
    const bytes = typeof value === "number" ? [value & 255] : typeof value === "string" ? encoders[encodingOf(encoding)](value) : value;
    for (let i = Math.min(offset === undefined ? this.length : clamp(offset, this.length, this.length), this.length - bytes.length); i >= 0; i--) {
      let j = 0;
      while (j < bytes.length && this[i + j] === bytes[j]) j++;
      if (j === bytes.length) return i;
    }
    return -1;
  },
  includes(value, offset, encoding) {
    return this.indexOf(value, offset, encoding) !== -1;
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

const view = (bytes, offset, size) => {
  if (typeof offset !== "number") throw coded(new TypeError(`The "offset" argument must be of type number. Received ${typeof offset}`), "ERR_INVALID_ARG_TYPE");
  if (!Number.isInteger(offset) || offset < 0 || offset + size > bytes.length) {
    throw coded(new RangeError(`The value of "offset" is out of range. It must be >= 0 and <= ${bytes.length - size}. Received ${offset}`), "ERR_OUT_OF_RANGE");
  }
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};
for (const [name, kind, size] of [
  ["Int8", "Int8", 1], ["UInt8", "Uint8", 1], ["Int16", "Int16", 2], ["UInt16", "Uint16", 2], ["Int32", "Int32", 4],
  ["UInt32", "Uint32", 4], ["BigInt64", "BigInt64", 8], ["BigUInt64", "BigUint64", 8], ["Float", "Float32", 4], ["Double", "Float64", 8],
]) {
  for (const [order, little] of size === 1 ? [["", true]] : [["LE", true], ["BE", false]]) {
    methods[`read${name}${order}`] = function (offset = 0) {
      return view(this, offset, size)[`get${kind}`](offset, little);
    };
    methods[`write${name}${order}`] = function (value, offset = 0) {
      view(this, offset, size)[`set${kind}`](offset, value, little);
      return offset + size;
    };
  }
}
for (const [order, little] of [["LE", true], ["BE", false]]) {
  const bytesOf = (bytes, offset, size) => {
    view(bytes, offset, size);
    const list = Array.from(plain(bytes).subarray(offset, offset + size));
    return little ? list.reverse() : list;
  };
  methods[`readUInt${order}`] = function (offset, size) {
    return bytesOf(this, offset, size).reduce((sum, byte) => sum * 256 + byte, 0);
  };
  methods[`readInt${order}`] = function (offset, size) {
    const value = bytesOf(this, offset, size).reduce((sum, byte) => sum * 256 + byte, 0);
    return value >= 2 ** (size * 8 - 1) ? value - 2 ** (size * 8) : value;
  };
  methods[`writeUInt${order}`] = methods[`writeInt${order}`] = function (value, offset, size) {
    view(this, offset, size);
    let rest = value < 0 ? value + 2 ** (size * 8) : value;
    for (let i = 0; i < size; i++) {
      this[offset + (little ? i : size - 1 - i)] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    return offset + size;
  };
}
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
const kMaxLength = 2 ** 31;
const kStringMaxLength = 2 ** 29 - 24;
const INSPECT_MAX_BYTES = 50;
const constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: kStringMaxLength };
module.exports = { Buffer, SlowBuffer, isUtf8, isAscii, atob, btoa, kMaxLength, kStringMaxLength, INSPECT_MAX_BYTES, constants };
