// `config` of module "stead": values of the environment, and declarations of their types.

import { host, NativeError, NativeTypeError, create, defineProperty, freeze, ownKeys, toText } from "stead:host";
import { idOf, refusal, refuse } from "stead:unknown";
import { needed } from "stead:encoding";

const { stringify } = JSON;
const { env } = host.program;
const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const NativeNumber = Number;

function checked(answer) {
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

// A declared type. Each method returns another type, so that a type can be used twice.
class ConfigType {
  #parts;
  constructor(parts) {
    this.#parts = parts;
    freeze(this);
  }
  static partsOf(value) {
    return typeof value === "object" && value !== null && #parts in value ? value.#parts : undefined;
  }
  #with(word, value) {
    needed(value, `config.schema (${word})`);
    const parts = create(null);
    for (const key of ownKeys(this.#parts)) parts[key] = this.#parts[key];
    parts[word] = value;
    return new ConfigType(parts);
  }
  optional() {
    return this.#with("required", false);
  }
  default(value) {
    return this.#with("default", value).#with("required", false);
  }
  min(least) {
    return this.#with("min", least);
  }
  max(most) {
    return this.#with("max", most);
  }
  pattern(pattern) {
    return this.#with("pattern", typeof pattern === "object" && pattern !== null ? pattern.source : pattern);
  }
  oneOf(...values) {
    return this.#with("enum", values);
  }
  secret() {
    return this.#with("secret", true);
  }
  describe(text) {
    return this.#with("description", text);
  }
}
freeze(ConfigType.prototype);

const make = (type, items) => {
  const parts = create(null);
  parts.type = type;
  parts.required = true;
  if (items !== undefined) {
    const inner = ConfigType.partsOf(items);
    if (inner === undefined) throw new NativeTypeError(`\`t.${type}\` takes the type of its items: \`t.${type}(t.string())\``);
    parts.items = inner.type;
  }
  return new ConfigType(parts);
};

/** Types of config values, for `config.schema`. */
export const t = freeze({
  string: () => make("string"),
  number: () => make("number"),
  integer: () => make("integer"),
  boolean: () => make("boolean"),
  list: (items) => make("list", items),
  map: (items) => make("map", items),
});

// Copies the declarations as data, or throws for a value that is neither a type nor an object of types.
function declarations(shape, path) {
  const parts = ConfigType.partsOf(shape);
  if (parts !== undefined) return parts;
  if (typeof shape !== "object" || shape === null) {
    throw new NativeTypeError(`config.schema: \`${path}\` must be a type, such as \`t.string()\``);
  }
  const out = create(null);
  for (const key of ownKeys(shape)) {
    if (typeof key === "symbol") continue;
    if (key === "" || key.includes(".")) throw new NativeTypeError(`config.schema: \`${key}\` is not a key; nest objects instead of dots`);
    out[key] = declarations(shape[key], path === "" ? key : `${path}.${key}`);
  }
  return out;
}

function values(shape, path, stack) {
  if (ConfigType.partsOf(shape) !== undefined) {
    return checked(host.declaredConfig(path, stack)).value;
  }
  const out = {};
  for (const key of ownKeys(shape)) {
    if (typeof key === "symbol") continue;
    const inner = [...path, key];
    defineProperty(out, key, { value: values(shape[key], inner, stack), enumerable: true });
  }
  return freeze(out);
}

export const config = freeze({
  get: (key) => read(key),
  number: (key) => read(key, "number"),
  boolean: (key) => read(key, "boolean"),
  require: (key) => required(read(key), key),
  secret: (key) => required(read(key, undefined, true), key),
  schema(shape) {
    needed(shape, "config.schema");
    const { stack } = new NativeError();
    checked(host.declareConfig(stringify(declarations(shape, "")), stack));
    return values(shape, [], stack);
  },
});
