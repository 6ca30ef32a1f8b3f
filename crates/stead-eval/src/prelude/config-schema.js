// Declared types of config values: `t` and `config.schema` of module "stead". Loaded at their first use.

import { host, NativeTypeError, create, defineProperty, freeze, ownKeys } from "stead:host";
import { checked, stringify } from "stead:config";
import { needed } from "stead:encoding";

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

/** Returns a type of config values. */
export const make = (type, items) => {
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

/** Declares the types of config values, and returns the values. */
export function declare(shape, stack) {
  checked(host.declareConfig(stringify(declarations(shape, "")), stack));
  return values(shape, [], stack);
}
