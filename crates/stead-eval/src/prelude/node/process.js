// node:process: constants that are the same on every machine, and the environment variables that the project grants.
"use strict";

const { host } = require("stead:internal");
const { refuse, refuseFinally } = require("node:internal/unavailable");
const { invalidArgument } = require("node:internal/errors");
const EventEmitter = require("node:events");
const { tick } = require("node:internal/tasks");

const CLOCK = "a program must give the same graph on every run; take the time from `config`";
const MACHINE = "a program must give the same graph on every machine; use `config` of the module `stead`";

const process = new EventEmitter();
const stream = (write) => ({ isTTY: false, columns: 80, rows: 24, fd: 1, writable: true, write, on() {}, once() {}, emit() {}, end() {} });
const line = (print) => (text) => {
  print(`${text}`.replace(/\n$/, ""));
  return true;
};
const hrtime = () => refuseFinally("process.hrtime()", CLOCK);
hrtime.bigint = () => refuseFinally("process.hrtime.bigint()", CLOCK);

const versions = { node: "20.20.2", v8: "11.3.244.8-node.38", modules: "115" };
Object.assign(process, {
  title: "stead",
  version: `v${versions.node}`,
  versions,
  arch: "x64",
  platform: "linux",
  release: { name: "node" },
  argv: ["/usr/bin/node", host.projectFolder],
  argv0: "node",
  execArgv: [],
  execPath: "/usr/bin/node",
  exitCode: undefined,
  env: host.environment(),
  features: {},
  config: { variables: {}, target_defaults: {} },
  stdout: stream(line(console.log)),
  stderr: stream(line(console.error)),
  stdin: { isTTY: false, on() {}, once() {}, resume() {}, pause() {} },
  cwd: () => host.projectFolder,
  chdir: () => refuse("process.chdir()", "paths are relative to the project folder"),
  umask: () => 0o022,
  nextTick(callback, ...args) {
    if (typeof callback !== "function") throw invalidArgument("callback", "of type function", callback);
    tick(() => callback(...args));
  },
  emitWarning: (warning) => console.warn(typeof warning === "string" ? warning : warning.message),
  hrtime,
  uptime: () => refuseFinally("process.uptime()", CLOCK),
  memoryUsage: () => refuse("process.memoryUsage()", MACHINE),
  cpuUsage: () => refuse("process.cpuUsage()", MACHINE),
  resourceUsage: () => refuse("process.resourceUsage()", MACHINE),
  exit: () => refuse("process.exit()", "throw an error to stop the program"),
  abort: () => refuse("process.abort()", "throw an error to stop the program"),
  kill: () => refuse("process.kill()"),
  getuid: () => refuse("process.getuid()", MACHINE),
  binding: () => {
    throw new Error("No such module: process.binding is not available");
  },
});
Object.defineProperty(process, "pid", { get: () => refuse("process.pid", MACHINE), configurable: true });
Object.defineProperty(process, "ppid", { get: () => refuse("process.ppid", MACHINE), configurable: true });
Object.defineProperty(process, Symbol.toStringTag, { value: "process", configurable: true });
module.exports = process;
0 && (module.exports = { title, version, versions, arch, platform, release, argv, argv0, execArgv, execPath, env, stdout, stderr, stdin, cwd, chdir, nextTick, emitWarning, hrtime, uptime, memoryUsage, exit, kill, on, once, off, emit });
