// Other names of Node.js: a package may test for them and extend them, and is refused when it uses one.
//
// This module is loaded before a file runs that uses a global name that few programs use.

import { NativeRegExp, defineProperty, globals, setLabels, setMember } from "stead:host";
import { forbid } from "stead:sandbox";

const missing = "a program declares resources; it has no streams, no messages and no requests";
const classes = [
  "DOMException", "TransformStream", "TransformStreamDefaultController", "WritableStream", "WritableStreamDefaultController",
  "WritableStreamDefaultWriter", "ReadableStream", "ReadableStreamDefaultReader", "ReadableStreamBYOBReader",
  "ReadableStreamBYOBRequest", "ReadableByteStreamController", "ReadableStreamDefaultController", "ByteLengthQueuingStrategy",
  "CountQueuingStrategy", "TextEncoderStream", "TextDecoderStream", "CompressionStream", "DecompressionStream",
  "BroadcastChannel", "MessagePort", "MessageEvent", "File", "Performance", "PerformanceEntry", "PerformanceMark",
  "PerformanceMeasure", "PerformanceObserver", "PerformanceObserverEntryList", "PerformanceResourceTiming", "FormData",
  "Headers", "Request", "Response", "Crypto", "CryptoKey", "SubtleCrypto", "CustomEvent",
];
for (let i = 0; i < classes.length; i++) {
  const name = classes[i];
  if (name in globals) continue;
  const refused = function () {
    forbid(name, missing)();
  };
  setLabels(refused, name, 0);
  setMember(globals, name, refused);
}
const assembly = {};
const functions = ["compile", "instantiate", "validate", "Module", "Instance", "Memory", "Table", "Global"];
for (let i = 0; i < functions.length; i++) {
  const key = functions[i];
  setMember(assembly, key, forbid(`WebAssembly.${key}`, "write the function in TypeScript, or use `new local.Command(…)`", key));
}
if (!("WebAssembly" in globals)) setMember(globals, "WebAssembly", assembly);

// Node.js keeps the last match of all regular expressions in these members.
const lastMatch = forbid("`RegExp.$1` and the other members of `RegExp` about the last match", "use the result of `match` or `exec`", "get");
const members = [
  "input", "$_", "lastMatch", "$&", "lastParen", "$+", "leftContext", "$`", "rightContext", "$'", "$1", "$2", "$3", "$4", "$5",
  "$6", "$7", "$8", "$9",
];
for (let i = 0; i < members.length; i++) {
  defineProperty(NativeRegExp, members[i], { get: lastMatch, set: lastMatch, configurable: true });
}
