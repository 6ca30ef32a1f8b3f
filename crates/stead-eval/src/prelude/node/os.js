// node:os: constants only; everything else depends on the machine.
"use strict";

const { refuse } = require("node:internal/unavailable");

const HELP = "a program must give the same graph on every machine; use `config`, `env`, `project` and `target` of the module `stead`";
const made = { EOL: "\n", devNull: "/dev/null", constants: { signals: {}, errno: {}, priority: {} } };
for (const name of [
  "arch", "availableParallelism", "cpus", "endianness", "freemem", "getPriority", "homedir", "hostname", "loadavg", "machine",
  "networkInterfaces", "platform", "release", "setPriority", "tmpdir", "totalmem", "type", "uptime", "userInfo", "version",
]) {
  made[name] = { [name]: () => refuse(`\`os.${name}()\``, HELP) }[name];
}
// Packages ask for these while they load.
made.platform = () => "linux";
made.type = () => "Linux";
made.endianness = () => "LE";
module.exports = made;
0 && (module.exports = { EOL, devNull, constants, arch, availableParallelism, cpus, endianness, freemem, getPriority, homedir, hostname, loadavg, machine, networkInterfaces, platform, release, setPriority, tmpdir, totalmem, type, uptime, userInfo, version });
