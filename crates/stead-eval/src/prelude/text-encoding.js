// TextEncoder, TextDecoder, atob and btoa. Loaded when a program first uses one of them.

import { host, NativeError, NativeTypeError, apply, defineProperty, toText } from "stead:host";
import { bytesOf, needed, unreadable } from "stead:encoding";

const NativeBytes = Uint8Array;
const { toWellFormed } = String.prototype;

// Unpaired surrogates become the replacement character.
const utf8 = (text) => host.encodeText(apply(toWellFormed, toText(text), []));

export class TextEncoder {
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

// Returns the number of bytes at the end that begin a character and do not end it.
function unfinished(bytes) {
  const { length } = bytes;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const lead = bytes[length - back];
    if ((lead & 0xc0) === 0x80) continue;
    const size = lead >= 0xc2 && lead <= 0xdf ? 2 : (lead & 0xf0) === 0xe0 ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 1;
    if (size <= back) return 0;
    // Some second bytes would make a surrogate, a number that is too large, or one that is written too long.
    const second = back === 1 ? 0x90 : bytes[length - back + 1];
    const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    return back === 1 || (second >= lowest && second <= highest) ? back : 0;
  }
  return 0;
}

export class TextDecoder {
  #fatal;
  #ignoreBOM;
  // Bytes of a character that the next call of a stream completes.
  #rest = new NativeBytes(0);
  // No text of the stream has been returned yet: a byte order mark may come.
  #atStart = true;
  constructor(label = "utf-8", given = {}) {
    const options = given ?? {};
    const wanted = toText(needed(label, "TextDecoder")).trim().toLowerCase();
    if (wanted !== "utf-8" && wanted !== "utf8" && wanted !== "unicode-1-1-utf-8") {
      throw new RangeError(`TextDecoder supports only utf-8, not ${wanted}`);
    }
    this.#fatal = !!needed(options.fatal, "TextDecoder");
    this.#ignoreBOM = !!needed(options.ignoreBOM, "TextDecoder");
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
  decode(bytes = new NativeBytes(0), options = {}) {
    const stream = !!needed(needed(options, "TextDecoder")?.stream, "TextDecoder");
    const given = bytesOf(bytes, "TextDecoder");
    const { length } = this.#rest;
    const whole = new NativeBytes(length + given.length);
    whole.set(this.#rest);
    whole.set(given, length);
    const end = stream ? whole.length - unfinished(whole) : whole.length;
    const text = host.decodeText(whole.slice(0, end), this.#fatal);
    this.#rest = text === undefined || !stream ? new NativeBytes(0) : whole.slice(end);
    const first = this.#atStart;
    this.#atStart = !stream || (first && end === 0);
    if (text === undefined) {
      const error = new NativeTypeError("The encoded data was not valid for encoding utf-8");
      throw defineProperty(error, "code", { value: "ERR_ENCODING_INVALID_ENCODED_DATA", writable: true, enumerable: true, configurable: true }) && error;
    }
    return first && !this.#ignoreBOM && text[0] === "\ufeff" ? text.slice(1) : text;
  }
}

export const { btoa, atob } = {
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
