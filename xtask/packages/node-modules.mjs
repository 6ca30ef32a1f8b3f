import path from "node:path";
import { join, posix, win32 } from "path";
import { createHash, createHmac, timingSafeEqual } from "crypto";
import util, { inspect, format, isDeepStrictEqual, promisify } from "node:util";
import { Buffer } from "node:buffer";
import { EventEmitter, once } from "events";
import querystring from "querystring";
import url, { fileURLToPath, pathToFileURL } from "url";
import { StringDecoder } from "string_decoder";
import assert from "node:assert/strict";
import os from "os";
const seen = [];
const emitter = new EventEmitter();
emitter.on("x", (...args) => seen.push(args));
emitter.once("x", () => seen.push("once"));
const waited = once(emitter, "y");
emitter.emit("x", 1, 2);
emitter.emit("x", 3);
emitter.emit("y", 7);
let failed;
try {
  assert.deepEqual({ a: 1 }, { a: 2 });
} catch (error) {
  failed = [error.name, error.code, error.operator];
}
const decoder = new StringDecoder("utf8");
export const result = [
  join("/a", "..", "b", "./c/"), path.resolve("/x", "y", "../z"), path.relative("/a/b/c", "/a/d"), path.parse("/home/u/file.tar.gz"), path.format({ dir: "/d", name: "n", ext: "e" }), path.basename("a/b.ts", ".ts"), path.extname(".bashrc"), path.extname("a.b.c"), path.dirname("/a/b/"), path.normalize("a//b/../c/."), path.isAbsolute("a"), path.dirname("a"), path.dirname("/"), path.normalize(""),
  win32.join("C:\\a", "..", "b/c"), win32.basename("C:\\x\\y.txt"), win32.parse("C:\\path\\dir\\file.txt"), win32.normalize("C:/a//b/../c"), win32.relative("C:\\a\\b", "C:\\a\\c\\d"), win32.dirname("C:\\a\\b"), win32.resolve("C:\\a", "..\\b"), win32.isAbsolute("C:/x"), posix.sep,
  createHash("sha256").update("a").update(Buffer.from("b")).digest("hex"), createHash("md5").update("x").digest("base64"), createHmac("sha512", "key").update("data").digest("hex"), createHash("sha1").update("é", "utf8").digest("base64url"), timingSafeEqual(Buffer.from("a"), Buffer.from("a")),
  inspect({ a: [1, "x", { b: { c: { d: 1 } } }], f() {}, s: Symbol("q"), m: new Map([["k", new Set([1])]]), d: new Date(0), n: null, u: undefined, r: /x/g }), inspect("it's"), inspect([,1]), inspect(Array.from({ length: 120 }, (_, i) => i)), inspect(new (class Foo { x = 1 })()), inspect({ long: "x".repeat(50), other: "y".repeat(50) }), inspect(Object.create(null)), inspect([1.5, -0, 10n, true]), inspect({ a: { b: { c: {} } } }, { depth: 0 }), inspect(new Uint8Array([1, 2])), inspect(Buffer.from("hi")), inspect("a\nb"), inspect(class A {}), inspect(() => 1), inspect({ get x() { return 1; }, "k-k": 1 }),
  format("%s %d %i %j %o %% %s", "a", 1.5, 2.7, { b: 1 }, [1], "z", "extra"), format("%s", { a: 1 }), format(1, "x"), format("%O", { a: { b: 1 } }), util.types.isRegExp(/x/), isDeepStrictEqual({ a: new Set([1, { b: 1 }]) }, { a: new Set([1, { b: 1 }]) }), isDeepStrictEqual([1, , 3], [1, undefined, 3]), await promisify((x, done) => done(null, x * 2))(4), util.inherits.length,
  Buffer.from("héllo").toString("hex"), Buffer.from("aGk", "base64").toString(), Buffer.concat([Buffer.from("a"), Buffer.alloc(2, "z")]).toString(), Buffer.from([1, 2, 3]).readUInt16BE(1), Buffer.byteLength("é"), Buffer.from("abc").slice(1).toString(), Buffer.from("xyz").equals(Buffer.from("xyz")), JSON.stringify(Buffer.from("a")), Buffer.from("ff00", "hex").readInt8(0), Buffer.from("test").indexOf("s"), Buffer.from("abc").subarray(-2).toString("latin1"), Buffer.compare(Buffer.from("a"), Buffer.from("b")), Buffer.alloc(8).fill("ab").toString(), (() => { const b = Buffer.alloc(8); b.writeDoubleLE(1.5); b.writeInt16BE(-2, 0); return b.toString("hex"); })(), Buffer.from("€").toString("utf16le").length, Buffer.isBuffer(new Uint8Array(1)),
  seen, await waited, emitter.listenerCount("x"), emitter.eventNames(), querystring.parse("a=1&b=2&a=3&c=%20x+y&d"), querystring.stringify({ a: [1, "x y"], b: true, c: null, d: "é&" }), url.parse("http://user:pw@Host.com:8080/p/a?x=1#h").href, url.parse("/a?b=c", true).query, url.format({ protocol: "https", host: "x.io", pathname: "/q", query: { a: 1 } }), url.resolve("/one/two/three", "four"), url.resolve("http://example.com/one", "/two"), fileURLToPath("file:///a/b%20c"), pathToFileURL("/x y").href,
  decoder.write(Buffer.from([0xe2, 0x82])) + decoder.write(Buffer.from([0xac])) + decoder.end(), failed, os.EOL, typeof process.cwd(), typeof process.versions.node, process.platform === "linux" || true, typeof globalThis.Buffer, global === globalThis,
];
