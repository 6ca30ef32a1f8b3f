// node:crypto: digests, HMAC and comparison. Randomness and keys are refused when they are used.
"use strict";

const { host, isUnknown, refuse: refuseUnknown } = require("stead:internal");
const { refuse, refuseFinally } = require("node:internal/unavailable");
const { Buffer } = require("node:buffer");

const RANDOM = "use `new local.RandomString(…)` or `new local.KeyPair(…)`, which keep their value; for a stable id, use a digest or uuid v5";
const hashes = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];

function coded(error, code) {
  error.code = code;
  return error;
}
const algorithmOf = (name) => {
  if (typeof name !== "string") throw coded(new TypeError('The "algorithm" argument must be of type string.'), "ERR_INVALID_ARG_TYPE");
  const known = name.toLowerCase().replace(/^rsa-/, "").replace("-", "");
  if (!hashes.includes(known)) throw coded(new Error("Digest method not supported"), "ERR_CRYPTO_INVALID_DIGEST");
  return known;
};
const bytesOf = (value, encoding) => {
  if (isUnknown(value)) refuseUnknown("takes", value, "node:crypto");
  if (typeof value === "string") return Buffer.from(value, encoding === "buffer" ? "utf8" : encoding);
  if (ArrayBuffer.isView(value)) return Buffer.from(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if (value instanceof ArrayBuffer) return Buffer.from(value);
  throw coded(new TypeError('The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView.'), "ERR_INVALID_ARG_TYPE");
};
const plain = (bytes) => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const shown = (bytes, encoding) => {
  const made = Buffer.from(bytes);
  return encoding === undefined || encoding === "buffer" ? made : made.toString(encoding);
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

function createHash(algorithm) {
  const name = algorithmOf(algorithm);
  return new Hash((bytes) => host.digest(name, bytes));
}
function createHmac(algorithm, key) {
  const name = algorithmOf(algorithm);
  const secret = plain(bytesOf(key));
  return new Hash((bytes) => host.hmac(name, secret, bytes));
}
function hash(algorithm, data, encoding = "hex") {
  return createHash(algorithm).update(data).digest(encoding);
}
function timingSafeEqual(a, b) {
  const [left, right] = [bytesOf(a), bytesOf(b)];
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
  const made = host.digest(algorithmOf(typeof algorithm === "string" ? algorithm : algorithm.name), plain(bytesOf(data)));
  return made.buffer;
};
const webcrypto = { subtle, getRandomValues: randoms.getRandomValues, randomUUID: randoms.randomUUID };

module.exports = { ...randoms, ...others, createHash, createHmac, hash, timingSafeEqual, getHashes, Hash, Hmac: Hash, constants: {}, webcrypto, subtle };
0 && (module.exports = { createHash, createHmac, hash, timingSafeEqual, getHashes, Hash, Hmac, constants, webcrypto, subtle, randomBytes, pseudoRandomBytes, randomInt, randomUUID, randomFill, randomFillSync, getRandomValues, generateKeyPair, generateKeyPairSync, createCipheriv, createDecipheriv, createSign, createVerify, createPrivateKey, createPublicKey, createSecretKey, pbkdf2, pbkdf2Sync, scrypt, scryptSync, hkdf, hkdfSync, sign, verify });
