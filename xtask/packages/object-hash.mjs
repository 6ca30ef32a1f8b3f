import hash from "object-hash";
export const result = [hash({ foo: "bar", list: [1, 2, { a: null }] }), hash([1, "x"], { algorithm: "md5" }), hash.sha1({ b: 1, a: 2 }) === hash({ a: 2, b: 1 }), hash.keys({ a: 1 }), hash(new Map([["k", new Set([1])]])), hash("x", { algorithm: "sha256", encoding: "base64" }), hash(new Date(0))];
