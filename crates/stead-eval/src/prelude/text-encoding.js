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

export class TextDecoder {
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
