// Modules of Node.js that a program does not have: each function refuses to run, with another way.
"use strict";

const { unavailable, unavailableFinally } = require("stead:internal");

const RESOURCE = "describe the work as a resource; its provider does it when the plan is applied";
const HELP = {
  child_process: "use `new local.Command(…)`",
  http: "look a resource up with `Type.get(id)`, or use `new local.Command(…)`",
  timers: "a program runs once, before anything is applied; use `await` and promises",
  zlib: "use `archive` of the module `stead` for folders",
  vm: "use `new Function(…)`, or write the code in a file of the program",
};
for (const name of ["https", "http2", "net", "tls", "dgram", "dns", "dns/promises"]) HELP[name] = HELP.http;
HELP["timers/promises"] = HELP.timers;

exports.refuse = (name, help = RESOURCE) => unavailable(name, help);
exports.refuseFinally = unavailableFinally;

/** Returns a module whose functions, and classes, refuse to run. */
exports.module = (name, functions) => {
  const made = {};
  for (const key of functions.split(" ")) {
    if (key === "") continue;
    const refused = function () {
      unavailable(`\`${key}\` of \`node:${name}\``, HELP[name] ?? RESOURCE);
    };
    Object.defineProperty(refused, "name", { value: key });
    made[key] = refused;
  }
  if (name === "stream") return streams(made);
  if (name === "net") Object.assign(made, addresses);
  if (name === "tty") made.isatty = () => false;
  if (name === "worker_threads") Object.assign(made, { isMainThread: true, parentPort: null, workerData: null, threadId: 0 });
  if (name === "http" || name === "https") Object.assign(made, { METHODS: [], STATUS_CODES: {}, globalAgent: {} });
  if (name === "zlib") made.constants = {};
  return made;
};

// `stream` is itself the class `Stream`, which packages extend when they load.
function streams(made) {
  const Stream = made.Readable;
  for (const key of Object.keys(made)) Stream[key] = made[key];
  Stream.Stream = Stream;
  Stream.promises = { pipeline: made.pipeline, finished: made.finished };
  return Stream;
}

const octets = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
const addresses = {
  isIPv4: (text) => octets.test(`${text}`) && !/(?:^|\.)0\d/.test(`${text}`),
  isIPv6(text) {
    const [address, ...zone] = `${text}`.split("%");
    if (zone.length > 1 || zone[0] === "") return false;
    const halves = address.split("::");
    if (halves.length > 2) return false;
    const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
    let count = 0;
    for (const [h, half] of groups.entries()) {
      for (const [i, group] of half.entries()) {
        const last = h === groups.length - 1 && i === half.length - 1;
        if (last && group.includes(".")) {
          if (!addresses.isIPv4(group)) return false;
          count += 2;
        } else if (/^[0-9a-f]{1,4}$/i.test(group)) count++;
        else return false;
      }
    }
    return halves.length === 2 ? count < 8 : count === 8;
  },
  isIP: (text) => (addresses.isIPv4(text) ? 4 : addresses.isIPv6(text) ? 6 : 0),
};
