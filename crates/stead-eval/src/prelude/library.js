// Functions of module "stead" that Rust implements on plain data. A call with an unknown argument is deferred.

import { host, NativeTypeError, apply, create, defineProperty, freeze, list } from "stead:host";
import { unknown } from "stead:unknown";

const { split } = String.prototype;

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

const spaces = create(null);
for (const name of apply(split, host.libraryNames, [" "])) {
  const { 0: space, 1: key } = apply(split, name, ["."]);
  if (key === undefined || space === "base64") continue;
  spaces[space] ??= {};
  defineProperty(spaces[space], key, { value: { [key]: (...args) => call(name, args) }[key], enumerable: true });
}
defineProperty(spaces.yaml, "stringify", {
  value: { stringify: (value) => result(host.yamlStringify(value)) }.stringify,
  enumerable: true,
});

export const cidr = freeze(spaces.cidr);
export const json = freeze(spaces.json);
export const semver = freeze(spaces.semver);
export const text = freeze(spaces.text);
export const toml = freeze(spaces.toml);
export const yaml = freeze(spaces.yaml);
