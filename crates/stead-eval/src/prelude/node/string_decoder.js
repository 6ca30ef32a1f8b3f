// node:string_decoder: keeps the bytes of an incomplete character until the next write.
"use strict";

const { Buffer } = require("node:buffer");
const { coded, invalidArgument } = require("node:internal/errors");

class StringDecoder {
  #rest = Buffer.alloc(0);
  // Bytes that complete a unit or a pair of UTF-16.
  #missing = 0;
  constructor(encoding = "utf8") {
    const name = Buffer.normalizeEncoding(encoding);
    if (name === undefined) throw coded(new TypeError(`Unknown encoding: ${encoding}`), "ERR_UNKNOWN_ENCODING");
    this.encoding = name;
  }
  // Returns the number of bytes at the start that form whole characters.
  #whole(bytes) {
    const { length } = bytes;
    if (this.encoding === "base64" || this.encoding === "base64url") return length - (length % 3);
    if (this.encoding !== "utf8") return length;
    for (let back = 1; back <= Math.min(3, length); back++) {
      const byte = bytes[length - back];
      if ((byte & 0xc0) === 0x80) continue;
      const needed = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
      return needed > back && byte < 0xf8 ? length - back : length;
    }
    return length;
  }
  write(chunk) {
    if (typeof chunk === "string") return chunk;
    if (!ArrayBuffer.isView(chunk)) throw invalidArgument("buf", "an instance of Buffer, TypedArray, or DataView", chunk);
    const given = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.encoding === "utf16le") return this.#units(given);
    const bytes = Buffer.concat([this.#rest, given]);
    const end = this.#whole(bytes);
    this.#rest = bytes.subarray(end);
    return bytes.toString(this.encoding, 0, end);
  }
  // Decodes UTF-16: half a unit, and the first half of a pair at the end of a chunk, wait for the bytes that complete them.
  #units(given) {
    let bytes = given;
    let before = "";
    if (this.#missing > 0) {
      const taken = bytes.subarray(0, this.#missing);
      this.#rest = Buffer.concat([this.#rest, taken]);
      this.#missing -= taken.length;
      bytes = bytes.subarray(taken.length);
      if (this.#missing > 0) return "";
      [before, this.#rest] = [this.#rest.toString("utf16le"), Buffer.alloc(0)];
    }
    if (bytes.length === 0) return before;
    const kept = bytes.length % 2 === 1 ? 1 : (bytes[bytes.length - 1] & 0xfc) === 0xd8 ? 2 : 0;
    this.#missing = kept;
    this.#rest = Buffer.from(bytes.subarray(bytes.length - kept));
    return before + bytes.toString("utf16le", 0, bytes.length - kept);
  }
  end(chunk) {
    const text = chunk === undefined ? "" : this.write(chunk);
    const rest = this.#rest.toString(this.encoding);
    this.#rest = Buffer.alloc(0);
    this.#missing = 0;
    return text + rest;
  }
}

module.exports = { StringDecoder };
