// `config` of module "stead": values of the environment, and declarations of their types.

import { host, NativeError, NativeTypeError, freeze, toText } from "stead:host";
import { idOf, refusal, refuse } from "stead:unknown";
import { markSecret } from "stead:external";
import { needed } from "stead:encoding";

export const { stringify } = JSON;
const { env } = host.program;
const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const NativeNumber = Number;

export function checked(answer) {
  if (answer.problem !== undefined) throw refusal(answer.problem);
  return answer;
}

// Gives a text from a flag or a variable the type that the program asks for.
function typed(text, kind) {
  if (kind === "boolean" && (text === "true" || text === "false")) return text === "true";
  if (kind === "number" && isNumber.test(text)) return NativeNumber(text);
  return text;
}

const articles = { __proto__: null, object: "an object" };
const described = (kind) => articles[kind] ?? `a ${kind}`;

function look(key, kind) {
  const id = idOf(key);
  if (id !== undefined) refuse("builtin", id, "config");
  const found = checked(host.config(toText(key), new NativeError().stack));
  if (found.value !== undefined && kind !== undefined) {
    if (found.untyped) found.value = typed(found.value, kind);
    if (typeof found.value !== kind) {
      throw new NativeTypeError(`config \`${key}\` must be ${described(kind)}, not ${described(typeof found.value)}`);
    }
  }
  return found;
}

// Returns the value of a key; the value of a secret key is a secret.
function read(key, kind) {
  const { value, secret } = look(key, kind);
  return secret && value !== undefined ? markSecret(value, `config \`${key}\``, new NativeError().stack) : value;
}

function required(found, key) {
  if (found.value === undefined) {
    throw new NativeError(`config \`${key}\` is not set for environment \`${env}\`; set it in stead.toml`);
  }
  return found.value;
}

let schemas;
const schema = () => (schemas ??= host.lazy("stead:config-schema"));

/** Types of config values, for `config.schema`. */
export const t = freeze({
  string: () => schema().make("string"),
  number: () => schema().make("number"),
  integer: () => schema().make("integer"),
  boolean: () => schema().make("boolean"),
  list: (items) => schema().make("list", items),
  map: (items) => schema().make("map", items),
});

export const config = freeze({
  get: (key) => read(key),
  number: (key) => read(key, "number"),
  boolean: (key) => read(key, "boolean"),
  require(key) {
    required(look(key), key);
    return read(key);
  },
  secret: (key) => markSecret(required(look(key), key), `config \`${key}\``, new NativeError().stack),
  schema(shape) {
    needed(shape, "config.schema");
    const { stack } = new NativeError();
    return schema().declare(shape, stack);
  },
});
