// The module "stead" that programs import.

import { host, NativeError, NativeTypeError, freeze, toText } from "stead:host";
import { idOf, refuse } from "stead:unknown";
import { markSecret } from "stead:external";

export { all, apply } from "stead:apply";
export { secret, stack } from "stead:external";
export { move, nodeOf } from "stead:node-of";
export { Resource } from "stead:resource";
export { archive, file, readText } from "stead:files";
export { base64, hash } from "stead:encoding";

export const { env, namespace, project, target } = host.program;

function read(key, kind) {
  const id = idOf(key);
  if (id !== undefined) refuse("builtin", id, "config");
  const value = host.config(toText(key));
  if (value !== undefined && kind !== undefined && typeof value !== kind) {
    throw new NativeTypeError(`config \`${key}\` must be a ${kind}, not a ${typeof value}`);
  }
  return value;
}

function required(key) {
  const value = read(key);
  if (value === undefined) {
    throw new NativeError(`config \`${key}\` is not set for environment \`${env}\`; set it in stead.toml`);
  }
  return value;
}

export const config = freeze({
  get: (key) => read(key),
  number: (key) => read(key, "number"),
  boolean: (key) => read(key, "boolean"),
  require: (key) => required(key),
  secret: (key) => markSecret(required(key), `config \`${key}\``, new NativeError().stack),
});
