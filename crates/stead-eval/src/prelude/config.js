// `config` of module "stead": values of the environment, and declarations of their types.

import { host, NativeError, NativeTypeError, freeze, toText } from "stead:host";
import { idOf, refusal, refuse } from "stead:unknown";
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

const wrongKind = (key, kind, is) =>
  new NativeTypeError(`config \`${key}\` must be ${described(kind)}, not ${described(is)}`);

// Returns the value of a key. Secrets in it are deferred; `conceal` makes the whole value one.
function read(key, kind, conceal) {
  const id = idOf(key);
  if (id !== undefined) refuse("builtin", id, "config");
  const found = checked(host.config(toText(key), kind ?? "", conceal === true, new NativeError().stack));
  if (found.mismatch !== undefined) throw wrongKind(key, kind, found.mismatch);
  const { value } = found;
  if (value === undefined || kind === undefined || idOf(value) !== undefined) return value;
  const given = found.untyped ? typed(value, kind) : value;
  if (typeof given !== kind) throw wrongKind(key, kind, typeof given);
  return given;
}

function required(value, key) {
  if (value === undefined) {
    throw new NativeError(`config \`${key}\` is not set for environment \`${env}\`; set it in stead.toml`);
  }
  return value;
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
  require: (key) => required(read(key), key),
  secret: (key) => required(read(key, undefined, true), key),
  schema(shape) {
    needed(shape, "config.schema");
    const { stack } = new NativeError();
    return schema().declare(shape, stack);
  },
});
