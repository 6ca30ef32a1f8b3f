// Writes any value as text, so that two engines can be compared: keeps -0, NaN, holes, kinds and the order of keys.

const kinds = ["Map", "Set", "Date", "RegExp", "Error", "ArrayBuffer", "DataView", "Promise", "WeakMap", "WeakSet"];

function number(value: number): string {
  return Object.is(value, -0) ? "-0" : `${value}`;
}

function key(name: string | symbol): string {
  return typeof name === "symbol" ? `[${String(name)}]` : JSON.stringify(name);
}

function members(value: object, seen: object[], skip: (name: string) => boolean): string[] {
  const parts: string[] = [];
  for (const name of Reflect.ownKeys(value)) {
    if (typeof name === "string" && skip(name)) continue;
    const property = Reflect.getOwnPropertyDescriptor(value, name)!;
    const flags = `${property.enumerable ? "" : "!e"}${property.configurable ? "" : "!c"}`;
    if ("value" in property) parts.push(`${key(name)}${flags}${property.writable ? "" : "!w"}: ${write(property.value, seen)}`);
    else parts.push(`${key(name)}${flags}: ${property.get ? "get" : ""}${property.set ? "set" : ""}`);
  }
  return parts;
}

function kindOf(value: object): string {
  // Iterators have a constructor in newer engines only.
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (tag.endsWith(" Iterator")) return tag;
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null) return "null";
  const { constructor } = prototype;
  return typeof constructor === "function" ? constructor.name : "?";
}

function list(value: ArrayLike<unknown>, seen: object[]): string {
  const parts: string[] = [];
  if (value.length > 10_000) return `${value.length} items`;
  for (let i = 0; i < value.length; i++) parts.push(i in value ? write(value[i], seen) : "hole");
  return parts.join(", ");
}

function inside(value: object, seen: object[]): string {
  const isIndex = (name: string) => name === "length" || /^\d+$/.test(name);
  if (Array.isArray(value)) return `[${[list(value, seen), ...members(value, seen, isIndex)].filter((one) => one !== "").join(", ")}]`;
  if (value instanceof Map) return `{${[...value].map(([k, v]) => `${write(k, seen)} => ${write(v, seen)}`).join(", ")}}`;
  if (value instanceof Set) return `{${[...value].map((v) => write(v, seen)).join(", ")}}`;
  if (value instanceof Date) return `(${number(value.getTime())})`;
  if (value instanceof RegExp) return `(${value.source} ${value.flags} ${value.lastIndex})`;
  if (value instanceof Error) return "";
  if (value instanceof ArrayBuffer) return `(${list(new Uint8Array(value), seen)})`;
  if (ArrayBuffer.isView(value)) return `(${list(value as any, seen)})`;
  if (value instanceof Number || value instanceof Boolean || value instanceof String) return `(${write(value.valueOf(), seen)})`;
  return `{${members(value, seen, () => false).join(", ")}}`;
}

function write(value: unknown, seen: object[]): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      return number(value);
    case "bigint":
      return `${value}n`;
    case "function":
      return `function ${value.name}/${value.length}`;
    case "object": {
      if (value === null) return "null";
      if (seen.includes(value)) return `cycle ${seen.indexOf(value)}`;
      const kind = kindOf(value);
      const mark = kind === "Object" || kind === "Array" ? "" : kinds.includes(kind) ? kind : `${kind} `;
      const frozen = Object.isFrozen(value) && Reflect.ownKeys(value).length > 0 ? "frozen " : "";
      return `${frozen}${mark}${inside(value, [...seen, value])}`;
    }
    default:
      return String(value);
  }
}

export const show = (value: unknown): string => write(value, []);

export const out: string[] = [];

/** Records the result of a function, or the kind of the error that it throws. */
export function record(result: () => unknown): void {
  let text: string;
  try {
    text = show(result());
  } catch (error) {
    text = `throws ${error instanceof Error ? error.name : show(error)}`;
  }
  // Unpaired surrogates cannot be sent as JSON.
  out.push((text as any).isWellFormed() ? text : JSON.stringify(text));
}
