// Writes any value as text, so that two engines can be compared: keeps -0, NaN, holes, kinds and the order of keys.

const number = (value) => (Object.is(value, -0) ? "-0" : `${value}`);
// The names of the language's own kinds; a class of a package may have another name after bundling.
const kindOf = (value) => {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null ? "null" : prototype === Object.prototype ? "" : `${prototype.constructor?.name} `;
};

function members(value, seen, skip) {
  const names = Reflect.ownKeys(value).filter((name) => !skip(name) && Object.prototype.propertyIsEnumerable.call(value, name));
  return names.map((name) => `${typeof name === "symbol" ? `[${String(name)}]` : JSON.stringify(name)}: ${write(value[name], seen)}`);
}

function list(value, seen) {
  const parts = [];
  for (let i = 0; i < value.length; i++) parts.push(i in value ? write(value[i], seen) : "hole");
  return parts;
}

function inside(value, seen) {
  const isIndex = (name) => typeof name === "string" && /^\d+$/.test(name);
  if (Array.isArray(value)) return `[${[...list(value, seen), ...members(value, seen, isIndex)].join(", ")}]`;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return `(${list(value, seen).join(", ")})`;
  if (value instanceof Map) return `{${[...value].map(([k, v]) => `${write(k, seen)} => ${write(v, seen)}`).join(", ")}}`;
  if (value instanceof Set) return `{${[...value].map((v) => write(v, seen)).join(", ")}}`;
  if (value instanceof Date) return `(${number(value.getTime())})`;
  if (value instanceof RegExp) return `(${value})`;
  if (value instanceof Error) return `(${value.name}: ${value.message})`;
  if (value instanceof Number || value instanceof Boolean || value instanceof String) return `(${write(value.valueOf(), seen)})`;
  return `{${members(value, seen, () => false).join(", ")}}`;
}

function write(value, seen) {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return number(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return `function ${value.name}`;
  if (typeof value !== "object" || value === null) return String(value);
  if (seen.includes(value)) return `cycle ${seen.indexOf(value)}`;
  return `${Object.isFrozen(value) ? "frozen " : ""}${Array.isArray(value) ? "" : kindOf(value)}${inside(value, [...seen, value])}`;
}

/** Returns one text for each item of a list, or for the value itself. */
export const show = (value) => (Array.isArray(value) ? value.map((item) => write(item, [])) : [write(value, [])]);
