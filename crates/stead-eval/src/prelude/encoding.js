// Text and bytes: TextEncoder, TextDecoder, atob, btoa, and `base64` and `hash` of module "stead".
//
// Bytes must be known. `base64` and `hash` of an unknown text are deferred; the others need the characters.

import { host, NativeError, NativeTypeError, apply, defineProperty, freeze, toText } from "stead:host";
import { idOf, refuse } from "stead:unknown";
import { call } from "stead:library";

const NativeBytes = Uint8Array;
const { isView } = ArrayBuffer;
const NativeBuffer = ArrayBuffer;
const { toWellFormed } = String.prototype;

/** Returns the argument of a function that needs a known value. */
export function needed(value, name) {
  const id = idOf(value);
  if (id !== undefined) refuse("takes", id, name);
  return value;
}

// Unpaired surrogates become the replacement character.
const utf8 = (text) => host.encodeText(apply(toWellFormed, toText(text), []));

function bytesOf(value, name) {
  needed(value, name);
  if (value instanceof NativeBytes) return value;
  if (value instanceof NativeBuffer) return new NativeBytes(value);
  if (isView(value)) return new NativeBytes(value.buffer, value.byteOffset, value.byteLength);
  throw new NativeTypeError(`${name} takes bytes`);
}

class TextEncoder {
  get encoding() {
    return "utf-8";
  }
  encode(text = "") {
    return utf8(needed(text, "TextEncoder"));
  }
  encodeInto(text, target) {
    const whole = toText(needed(text, "TextEncoder"));
    const bytes = bytesOf(target, "TextEncoder");
    let read = 0;
    let written = 0;
    while (read < whole.length) {
      const character = whole.codePointAt(read) > 0xffff ? whole.slice(read, read + 2) : whole[read];
      const next = utf8(character);
      if (written + next.length > bytes.length) break;
      bytes.set(next, written);
      written += next.length;
      read += character.length;
    }
    return { read, written };
  }
}

class TextDecoder {
  #fatal;
  #ignoreBOM;
  constructor(label = "utf-8", options = {}) {
    const wanted = toText(needed(label, "TextDecoder")).trim().toLowerCase();
    if (wanted !== "utf-8" && wanted !== "utf8" && wanted !== "unicode-1-1-utf-8") {
      throw new RangeError(`TextDecoder supports only utf-8, not ${wanted}`);
    }
    this.#fatal = needed(options.fatal, "TextDecoder") === true;
    this.#ignoreBOM = needed(options.ignoreBOM, "TextDecoder") === true;
  }
  get encoding() {
    return "utf-8";
  }
  get fatal() {
    return this.#fatal;
  }
  get ignoreBOM() {
    return this.#ignoreBOM;
  }
  decode(bytes = new NativeBytes(0)) {
    const text = host.decodeText(bytesOf(bytes, "TextDecoder"), this.#fatal);
    if (text === undefined) throw new NativeTypeError("the bytes are not valid utf-8");
    return !this.#ignoreBOM && text[0] === "\ufeff" ? text.slice(1) : text;
  }
}

const unreadable = (name) => {
  const error = new NativeError(`${name}: the text is not valid base64`);
  defineProperty(error, "name", { value: "InvalidCharacterError" });
  return error;
};

const { btoa, atob } = {
  btoa(text) {
    const whole = toText(needed(text, "btoa"));
    const bytes = new NativeBytes(whole.length);
    for (let i = 0; i < whole.length; i++) {
      const code = whole.charCodeAt(i);
      if (code > 255) {
        const error = new NativeError("btoa takes characters up to U+00FF; use `base64.encode` of module stead");
        throw defineProperty(error, "name", { value: "InvalidCharacterError" }) && error;
      }
      bytes[i] = code;
    }
    return host.base64Encode(bytes);
  },
  atob(text) {
    const bytes = host.base64Decode(toText(needed(text, "atob")));
    if (bytes === undefined) throw unreadable("atob");
    let whole = "";
    for (let i = 0; i < bytes.length; i++) whole += String.fromCharCode(bytes[i]);
    return whole;
  },
};

// Calls the library for text, known or not, and `bytes` for bytes.
const ofTextOrBytes = (name, value, rest, bytes) => {
  if (idOf(value) !== undefined) return call(name, [value, ...rest]);
  if (typeof value === "string") return call(name, [apply(toWellFormed, value, []), ...rest]);
  return bytes(bytesOf(value, name));
};

const urlSafe = (base64) => base64.replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_");

export const base64 = freeze({
  encode: (value) => ofTextOrBytes("base64.encode", value, [], (bytes) => host.base64Encode(bytes)),
  encodeUrl: (value) => ofTextOrBytes("base64.encodeUrl", value, [], (bytes) => urlSafe(host.base64Encode(bytes))),
  decode: (text) => call("base64.decode", [text]),
  decodeUrl: (text) => call("base64.decodeUrl", [text]),
  decodeBytes(text) {
    const bytes = host.base64Decode(toText(needed(text, "base64.decodeBytes")));
    if (bytes === undefined) throw unreadable("base64.decodeBytes");
    return bytes;
  },
});

export function hash(value, algorithm = "sha256") {
  return ofTextOrBytes("hash", value, [algorithm], (bytes) => {
    const digest = host.hash(bytes, toText(needed(algorithm, "hash")));
    if (digest === undefined) {
      throw new NativeTypeError(`hash: unknown algorithm \`${algorithm}\`; use md5, sha1, sha256, sha384 or sha512`);
    }
    return digest;
  });
}

for (const [name, value] of Object.entries({ TextEncoder, TextDecoder, atob, btoa })) {
  defineProperty(globalThis, name, { value, writable: true, configurable: true });
}
