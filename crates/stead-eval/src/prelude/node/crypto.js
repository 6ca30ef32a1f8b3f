// node:crypto: digests, HMAC and comparison. Randomness and keys are refused when they are used.
"use strict";

const { host, isUnknown, refuse: refuseUnknown } = require("stead:internal");
const { refuse, refuseFinally } = require("node:internal/unavailable");
const { Buffer } = require("node:buffer");
const { coded, invalidArgument } = require("node:internal/errors");

const RANDOM = "use `new local.RandomString(…)` or `new local.KeyPair(…)`, which keep their value; for a stable id, use a digest or uuid v5";
const hashes = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];

const known = (name) => {
  const plain = name.toLowerCase().replace(/^rsa-/, "").replace("-", "");
  return hashes.includes(plain) ? plain : undefined;
};
const algorithmOf = (name) => {
  if (typeof name !== "string") throw invalidArgument("algorithm", "of type string", name);
  if (known(name) === undefined) throw new Error("Digest method not supported");
  return known(name);
};
const DATA = "of type string or an instance of Buffer, TypedArray, or DataView";
const KEY = "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey";
const bytesOf = (value, encoding, name = "data", expected = DATA) => {
  if (isUnknown(value)) refuseUnknown("takes", value, "node:crypto");
  if (typeof value === "string") return Buffer.from(value, encoding === "buffer" ? "utf8" : encoding);
  if (ArrayBuffer.isView(value)) return Buffer.from(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if (value instanceof ArrayBuffer && name !== "data") return Buffer.from(value);
  throw invalidArgument(name, expected, value);
};
const plain = (bytes) => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const shown = (bytes, encoding) => {
  const made = Buffer.from(bytes);
  return encoding && encoding !== "buffer" && Buffer.isEncoding(encoding) ? made.toString(encoding) : made;
};

class Hash {
  #chunks = [];
  #done = false;
  #finish;
  constructor(finish, chunks = []) {
    this.#finish = finish;
    this.#chunks = chunks;
  }
  update(data, encoding) {
    if (this.#done) throw coded(new Error("Digest already called"), "ERR_CRYPTO_HASH_FINALIZED");
    this.#chunks.push(bytesOf(data, encoding));
    return this;
  }
  digest(encoding) {
    if (this.#done) throw coded(new Error("Digest already called"), "ERR_CRYPTO_HASH_FINALIZED");
    this.#done = true;
    return shown(this.#finish(plain(Buffer.concat(this.#chunks))), encoding);
  }
  copy() {
    if (this.#done) throw coded(new Error("Digest already called"), "ERR_CRYPTO_HASH_FINALIZED");
    return new Hash(this.#finish, [...this.#chunks]);
  }
  write(data, encoding) {
    this.update(data, encoding);
    return true;
  }
  end(data, encoding) {
    if (data !== undefined) this.update(data, encoding);
  }
  read() {
    return this.digest();
  }
}

class Hmac extends Hash {
  #done = false;
  digest(encoding) {
    // Node.js returns nothing the second time.
    if (this.#done) return shown([], encoding);
    this.#done = true;
    return super.digest(encoding);
  }
  get copy() {
    return undefined;
  }
}

function createHash(algorithm) {
  const name = algorithmOf(algorithm);
  return new Hash((bytes) => host.digest(name, bytes));
}
function createHmac(algorithm, key) {
  if (typeof algorithm !== "string") throw invalidArgument("hmac", "of type string", algorithm);
  const secret = plain(bytesOf(key, "utf8", "key", KEY));
  const name = known(algorithm);
  if (name === undefined) throw coded(new TypeError(`Invalid digest: ${algorithm}`), "ERR_CRYPTO_INVALID_DIGEST");
  return new Hmac((bytes) => host.hmac(name, secret, bytes));
}
function hash(algorithm, data, encoding = "hex") {
  return createHash(algorithm).update(data).digest(encoding);
}
function timingSafeEqual(a, b) {
  for (const [name, value] of [["buf1", a], ["buf2", b]]) {
    if (isUnknown(value)) refuseUnknown("takes", value, "node:crypto");
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) continue;
    throw coded(new TypeError(`The "${name}" argument must be an instance of ArrayBuffer, Buffer, TypedArray, or DataView.`), "ERR_INVALID_ARG_TYPE");
  }
  const [left, right] = [bytesOf(a, undefined, "buf1"), bytesOf(b, undefined, "buf2")];
  if (left.length !== right.length) throw coded(new RangeError("Input buffers must have the same byte length"), "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH");
  return left.equals(right);
}
const getHashes = () => [...hashes];
const randoms = {};
for (const name of [
  "randomBytes", "pseudoRandomBytes", "randomInt", "randomUUID", "randomFill", "randomFillSync", "getRandomValues",
  "generateKeyPair", "generateKeyPairSync", "generateKey", "generateKeySync", "generatePrime", "generatePrimeSync",
]) {
  randoms[name] = { [name]: () => refuseFinally(`\`crypto.${name}()\``, RANDOM) }[name];
}
const others = {};
for (const name of [
  "createCipheriv", "createDecipheriv", "createSign", "createVerify", "createDiffieHellman", "createECDH", "createPrivateKey",
  "createPublicKey", "createSecretKey", "pbkdf2", "pbkdf2Sync", "scrypt", "scryptSync", "hkdf", "hkdfSync", "sign", "verify",
  "publicEncrypt", "privateDecrypt", "getCiphers", "getCurves",
]) {
  others[name] = { [name]: () => refuse(`\`crypto.${name}()\``) }[name];
}
const subtle = {};
for (const name of ["encrypt", "decrypt", "sign", "verify", "generateKey", "deriveKey", "deriveBits", "importKey", "exportKey"]) {
  subtle[name] = { [name]: () => refuse(`\`crypto.subtle.${name}()\``) }[name];
}
subtle.digest = async (algorithm, data) => {
  const made = host.digest(algorithmOf(typeof algorithm === "string" ? algorithm : algorithm.name), plain(bytesOf(data, undefined, "buffer")));
  return made.buffer;
};
const webcrypto = { subtle, getRandomValues: randoms.getRandomValues, randomUUID: randoms.randomUUID };

module.exports = { ...randoms, ...others, createHash, createHmac, hash, timingSafeEqual, getHashes, Hash, Hmac, constants: {}, webcrypto, subtle };
0 && (module.exports = { createHash, createHmac, hash, timingSafeEqual, getHashes, Hash, Hmac, constants, webcrypto, subtle, randomBytes, pseudoRandomBytes, randomInt, randomUUID, randomFill, randomFillSync, getRandomValues, generateKeyPair, generateKeyPairSync, createCipheriv, createDecipheriv, createSign, createVerify, createPrivateKey, createPublicKey, createSecretKey, pbkdf2, pbkdf2Sync, scrypt, scryptSync, hkdf, hkdfSync, sign, verify });
