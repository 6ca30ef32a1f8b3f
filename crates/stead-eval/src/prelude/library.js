// Functions of module "stead" that Rust implements on plain data. A call with an unknown argument is deferred.

import { host, NativeTypeError, freeze, list } from "stead:host";
import { unknown } from "stead:unknown";

function result(answer) {
  if (answer.problem !== undefined) throw new NativeTypeError(answer.problem);
  return answer.deferred === undefined ? answer.value : unknown(answer.deferred);
}

/** Calls a library function by name. */
export function call(name, args) {
  let { length } = args;
  while (length > 0 && args[length - 1] === undefined) length--;
  const given = list();
  for (let i = 0; i < length; i++) given[i] = args[i];
  return result(host.library(name, given));
}

// Literals, because a loop over names would cost every program more than the functions themselves.
export const cidr = freeze({
  subnet: (...args) => call("cidr.subnet", args),
  subnets: (...args) => call("cidr.subnets", args),
  split: (...args) => call("cidr.split", args),
  contains: (...args) => call("cidr.contains", args),
  overlaps: (...args) => call("cidr.overlaps", args),
  host: (...args) => call("cidr.host", args),
  netmask: (...args) => call("cidr.netmask", args),
  first: (...args) => call("cidr.first", args),
  last: (...args) => call("cidr.last", args),
  size: (...args) => call("cidr.size", args),
});
export const json = freeze({
  canonical: (...args) => call("json.canonical", args),
});
export const semver = freeze({
  parse: (...args) => call("semver.parse", args),
  compare: (...args) => call("semver.compare", args),
  satisfies: (...args) => call("semver.satisfies", args),
  maxSatisfying: (...args) => call("semver.maxSatisfying", args),
  inc: (...args) => call("semver.inc", args),
  sort: (...args) => call("semver.sort", args),
});
export const text = freeze({
  dedent: (...args) => call("text.dedent", args),
  indent: (...args) => call("text.indent", args),
});
export const toml = freeze({
  parse: (...args) => call("toml.parse", args),
  stringify: (...args) => call("toml.stringify", args),
});
export const yaml = freeze({
  parse: (...args) => call("yaml.parse", args),
  parseAll: (...args) => call("yaml.parseAll", args),
  stringify: (value) => result(host.yamlStringify(value)),
});

let templates;
const filled = () => (templates ??= host.lazy("stead:template"));
export const render = (text, values) => filled().render(text, values);
export const template = (path, values) => filled().template(path, values);
