// node:module: names of the modules, and `createRequire` for files of the project.
"use strict";

const { refuse } = require("node:internal/unavailable");

const builtinModules = [
  "assert", "async_hooks", "buffer", "crypto", "events", "fs", "os", "path", "perf_hooks", "process", "querystring",
  "string_decoder", "timers", "url", "util",
];
function isBuiltin(name) {
  return name.startsWith("node:") || builtinModules.includes(name);
}
function createRequire() {
  return (name) =>
    isBuiltin(name) ? require(name.startsWith("node:") ? name : `node:${name}`) : refuse("`createRequire` for files", "write `import`, or make the file CommonJS");
}
module.exports = { builtinModules, isBuiltin, createRequire };
