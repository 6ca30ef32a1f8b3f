// Text and bytes: `base64` and `hash` of module "stead". Bytes must be known; an unknown text is deferred.

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

/** Returns bytes in any of their forms as a list of bytes. */
export function bytesOf(value, name) {
  needed(value, name);
  if (value instanceof NativeBytes) return value;
  if (value instanceof NativeBuffer) return new NativeBytes(value);
  if (isView(value)) return new NativeBytes(value.buffer, value.byteOffset, value.byteLength);
  throw new NativeTypeError(`${name} takes bytes`);
}

/** Returns the error of a text that is not base64. */
export const unreadable = (name) => {
  const error = new NativeError(`${name}: the text is not valid base64`);
  defineProperty(error, "name", { value: "InvalidCharacterError" });
  return error;
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
