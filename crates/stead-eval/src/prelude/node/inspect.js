// util.inspect and util.format, as Node.js prints values without colours.
"use strict";

const { isUnknown, describe } = require("stead:internal");

const custom = Symbol.for("nodejs.util.inspect.custom");
const NAME = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
const ESCAPES = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\\": "\\\\" };

const defaults = {
  showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false, maxArrayLength: 100, maxStringLength: 10000,
  breakLength: 80, compact: 3, sorted: false, getters: false, numericSeparator: false,
};

function quote(text) {
  const mark = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes("`") && !text.includes("${") ? "`" : "'";
  const escaped = text.replace(/[\x00-\x1f\x7f-\x9f\\]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, (character) => {
    const code = character.charCodeAt(0);
    return ESCAPES[character] ?? (code > 0xff ? `\\u${code.toString(16).toUpperCase()}` : `\\x${code.toString(16).toUpperCase().padStart(2, "0")}`);
  });
  return mark + escaped.replaceAll(mark === "'" ? "'" : "\0", mark === "'" ? "\\'" : "") + mark;
}

function primitive(value, options, top) {
  if (typeof value === "string") {
    const max = options.maxStringLength ?? Infinity;
    const rest = value.length - max;
    const shown = rest > 0 ? value.slice(0, max) : value;
    const more = rest > 0 ? `... ${rest} more character${rest > 1 ? "s" : ""}` : "";
    if (!top && shown.length > 16 && shown.length > options.breakLength - options.indent - 4 && shown.includes("\n")) {
      return shown.split(/(?<=\n)/).map((line) => quote(line)).join(` +\n${" ".repeat(options.indent + 2)}`) + more;
    }
    return quote(shown) + more;
  }
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : `${value}`;
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return value.toString();
  return `${value}`;
}

function constructorName(value) {
  for (let at = value; at !== null; at = Object.getPrototypeOf(at)) {
    const own = Object.getOwnPropertyDescriptor(at, "constructor");
    if (own !== undefined && typeof own.value === "function" && own.value.name !== "" && value instanceof own.value) return own.value.name;
  }
  return null;
}

function prefix(value, name, fallback, size = "") {
  const tag = value[Symbol.toStringTag];
  const extra = typeof tag === "string" && tag !== "" && tag !== name ? `[${tag}] ` : "";
  return name === null ? `[${fallback}${size}: null prototype] ${extra}` : `${name}${size} ${extra}`;
}

const keyOf = (key, options) => (typeof key === "symbol" ? `[${primitive(key, options, false)}]` : NAME.test(key) ? key : quote(key));

function property(value, key, options, depth, seen, kind) {
  const own = Object.getOwnPropertyDescriptor(value, key) ?? { value: value[key], enumerable: true };
  let shown;
  if ("value" in own) {
    options.indent += 2;
    shown = format(own.value, options, depth + 1, seen);
    options.indent -= 2;
  } else if (own.get !== undefined) {
    shown = own.set !== undefined ? "[Getter/Setter]" : "[Getter]";
  } else shown = own.set !== undefined ? "[Setter]" : "undefined";
  if (kind === "item") return shown;
  const name = own.enumerable === false ? `[${String(key)}]` : keyOf(key, options);
  return `${name}: ${shown}`;
}

function keysOf(value, options) {
  const symbols = Object.getOwnPropertySymbols(value);
  if (options.showHidden) return [...Object.getOwnPropertyNames(value), ...symbols];
  return [...Object.keys(value), ...symbols.filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))];
}

const isIndex = (key) => typeof key === "string" && /^(?:0|[1-9]\d*)$/.test(key);

function items(value, options, depth, seen) {
  const max = Math.min(options.maxArrayLength ?? Infinity, value.length);
  const out = [];
  let i = 0;
  while (i < value.length && out.length < max) {
    if (Object.hasOwn(value, i)) out.push(property(value, `${i++}`, options, depth, seen, "item"));
    else {
      const from = i;
      while (i < value.length && !Object.hasOwn(value, i)) i++;
      out.push(`<${i - from} empty item${i - from > 1 ? "s" : ""}>`);
    }
  }
  if (i < value.length) out.push(`... ${value.length - i} more item${value.length - i > 1 ? "s" : ""}`);
  return out;
}

// Puts many short items into columns, as Node.js does for arrays with more than six of them.
function columns(out, value, options) {
  let total = 0;
  let longest = 0;
  let count = out.length;
  if (options.maxArrayLength < out.length) count--;
  const lengths = [];
  for (let i = 0; i < count; i++) {
    lengths[i] = out[i].length;
    total += lengths[i] + 2;
    longest = Math.max(longest, lengths[i]);
  }
  const actual = longest + 2;
  if (!(actual * 3 + options.indent < options.breakLength && (total / actual > 5 || longest <= 6))) return out;
  const bias = Math.sqrt(actual - total / out.length);
  const biased = Math.max(actual - 3 - bias, 1);
  const per = Math.min(
    Math.round(Math.sqrt(2.5 * biased * count) / biased),
    Math.floor((options.breakLength - options.indent) / actual), options.compact * 4, 15,
  );
  if (per <= 1) return out;
  const widths = [];
  for (let i = 0; i < per; i++) {
    let max = 0;
    for (let j = i; j < count; j += per) max = Math.max(max, lengths[j]);
    widths.push(max + 2);
  }
  const right = out.every((_, i) => typeof value[i] === "number" || typeof value[i] === "bigint");
  const lines = [];
  for (let i = 0; i < count; i += per) {
    const end = Math.min(i + per, count);
    let line = "";
    let j = i;
    for (; j < end - 1; j++) {
      const cell = `${out[j]}, `;
      line += right ? cell.padStart(widths[j - i]) : cell.padEnd(widths[j - i]);
    }
    line += right ? out[j].padStart(widths[j - i] - 2) : out[j];
    lines.push(line);
  }
  if (count < out.length) lines.push(out[count]);
  return lines;
}

function combine(out, base, open, close, options, depth, array) {
  const entries = out.length;
  if (array !== undefined && entries > 6) out = columns(out, array, options);
  const start = out.length + options.indent + open.length + base.length + 10;
  if (options.deepest - depth < options.compact && entries === out.length) {
    const whole = out.reduce((sum, item) => sum + item.length, 0) + out.length;
    if (whole + start <= options.breakLength && !out.some((item) => item.includes("\n"))) {
      return `${base ? `${base} ` : ""}${open} ${out.join(", ")} ${close}`;
    }
  }
  const indent = `\n${" ".repeat(options.indent)}`;
  return `${base ? `${base} ` : ""}${open}${indent}  ${out.join(`,${indent}  `)}${indent}${close}`;
}

function errorText(error) {
  const name = error.name ?? "Error";
  const message = error.message === "" ? `${name}` : `${name}: ${error.message}`;
  return `[${message}]`;
}

function format(value, options, depth, seen) {
  if (isUnknown(value)) return `<${describe(value)}>`;
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return primitive(value, options, depth === 0);
  if (options.customInspect) {
    const own = value[custom];
    if (typeof own === "function" && own !== inspect) {
      const left = options.depth === null ? null : options.depth - depth;
      const result = own.call(value, left, { ...options, depth: left }, inspect);
      if (result !== value) return typeof result === "object" && result !== null ? format(result, options, depth, seen) : `${result}`.replaceAll("\n", `\n${" ".repeat(options.indent)}`);
    }
  }
  if (seen.includes(value)) {
    if (!options.circular.has(value)) options.circular.set(value, options.circular.size + 1);
    return `[Circular *${options.circular.get(value)}]`;
  }
  const name = constructorName(value);
  let base = "";
  let [open, close] = ["{", "}"];
  let list;
  const out = [];
  let keys = keysOf(value, options);
  const inner = [...seen, value];
  const deep = options.depth !== null && depth > options.depth;
  // The depth of the object that was entered last decides whether an outer one fits on a line.
  let entered = false;
  const enter = () => {
    if (!entered) options.deepest = depth;
    entered = true;
  };
  const nested = (item) => {
    options.indent += 2;
    const shown = format(item, options, depth + 1, inner);
    options.indent -= 2;
    return shown;
  };

  if (Array.isArray(value)) {
    keys = keys.filter((key) => !isIndex(key) && (key !== "length" || options.showHidden));
    const head = name !== "Array" ? prefix(value, name, "Array", `(${value.length})`) : "";
    [open, close] = [`${head}[`, "]"];
    if (value.length === 0 && keys.length === 0) return `${open}]`;
    if (deep) return name === "Array" ? "[Array]" : `[${name ?? "Array: null prototype"}]`;
    list = value;
    enter();
    out.push(...items(value, options, depth, inner));
  } else if (value instanceof Set || value instanceof Map) {
    const kind = value instanceof Set ? "Set" : "Map";
    open = `${prefix(value, name, kind, `(${value.size})`)}{`;
    if (value.size === 0 && keys.length === 0) return `${open}}`;
    if (deep) return `[${name}]`;
    enter();
    if (kind === "Set") for (const item of Set.prototype.values.call(value)) out.push(nested(item));
    else for (const [key, item] of Map.prototype.entries.call(value)) out.push(`${nested(key)} => ${nested(item)}`);
  } else if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    keys = keys.filter((key) => !isIndex(key));
    if (name === "Buffer") {
      const shown = Array.from(value.subarray(0, 50), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
      return `<Buffer${shown === "" ? "" : ` ${shown}`}${value.length > 50 ? ` ... ${value.length - 50} more byte${value.length > 51 ? "s" : ""}` : ""}>`;
    }
    [open, close] = [`${prefix(value, name, "TypedArray", `(${value.length})`)}[`, "]"];
    if (value.length === 0 && keys.length === 0) return `${open}]`;
    if (deep) return `[${name}]`;
    list = value;
    enter();
    out.push(...items(value, options, depth, inner));
  } else if (typeof value === "function") {
    const kind = /^class\b/.test(Function.prototype.toString.call(value)) ? "class" : name ?? "Function";
    const label = kind === "class" ? `class ${value.name || "(anonymous)"}` : `${kind}${value.name === "" ? " (anonymous)" : `: ${value.name}`}`;
    const parent = kind === "class" ? Object.getPrototypeOf(value) : null;
    base = `[${label}${parent?.name ? ` extends ${parent.name}` : ""}]`;
    if (keys.length === 0) return base;
  } else if (value instanceof RegExp) {
    base = RegExp.prototype.toString.call(value);
    if (keys.length === 0 || deep) return base;
  } else if (value instanceof Date) {
    base = Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
    if (keys.length === 0) return base;
  } else if (value instanceof Error) {
    base = errorText(value);
    keys = keys.filter((key) => key !== "message" && key !== "stack" && key !== "name");
    if (keys.length === 0) return base;
  } else if (value instanceof Promise) {
    return "Promise { <pending> }";
  } else if (value instanceof WeakMap || value instanceof WeakSet) {
    return `${name} { <items unknown> }`;
  } else if (value instanceof Number || value instanceof Boolean || value instanceof String || value instanceof Symbol || value instanceof BigInt) {
    const kind = constructorName(value);
    base = `[${kind}: ${primitive(value.valueOf(), options, true)}]`;
    keys = keys.filter((key) => !isIndex(key));
    if (keys.length === 0) return base;
  } else if (Object.prototype.toString.call(value) === "[object Arguments]") {
    [open, close] = ["[Arguments] [", "]"];
    keys = keys.filter((key) => !isIndex(key));
    list = value;
    enter();
    out.push(...items(value, options, depth, inner));
  } else {
    const head = name !== "Object" || typeof value[Symbol.toStringTag] === "string" ? prefix(value, name, "Object") : "";
    open = `${head}{`;
    if (keys.length === 0) return `${open}}`;
    if (deep) return `[${name === null ? "Object: null prototype" : name}]`;
  }
  enter();
  if (options.sorted) keys.sort(typeof options.sorted === "function" ? options.sorted : undefined);
  for (const key of keys) out.push(property(value, key, options, depth, inner, "member"));
  let shown = combine(out, base, open, close, options, depth, list);
  if (options.circular.has(value)) shown = `<ref *${options.circular.get(value)}> ${shown}`;
  return shown;
}

function inspect(value, given, depth, colors) {
  const legacy = typeof given === "boolean" ? { showHidden: given, ...(depth !== undefined && { depth }), colors } : given;
  const options = { ...defaults, ...legacy, indent: 0, deepest: 0, circular: new Map() };
  if (options.depth === Infinity) options.depth = null;
  if (options.compact === true) options.compact = 3;
  if (options.compact === false) options.compact = 0;
  if (options.maxArrayLength === null) options.maxArrayLength = Infinity;
  return format(value, options, 0, []);
}
inspect.custom = custom;
inspect.defaultOptions = defaults;
inspect.styles = {};
inspect.colors = {};

function formatWithOptions(options, first, ...rest) {
  const parts = [];
  let at = 0;
  let text = first;
  const args = [first, ...rest];
  if (typeof first === "string") {
    at = 1;
    text = rest.length === 0 ? first : first.replace(/%[sdifjoOc%]/g, (mark) => {
      if (mark === "%%") return "%";
      if (at >= args.length) return mark;
      const value = args[at++];
      if (mark === "%s") {
        if (typeof value === "string") return value;
        if (typeof value === "bigint") return `${value}n`;
        if (typeof value === "object" && value !== null && !Object.hasOwn(value, "toString") && (Object.getPrototypeOf(value) === Object.prototype || Array.isArray(value) || Object.getPrototypeOf(value) === null)) {
          return inspect(value, { ...options, depth: 0, compact: 3 });
        }
        return typeof value === "number" && Object.is(value, -0) ? "-0" : String(value);
      }
      if (mark === "%d") return typeof value === "bigint" ? `${value}n` : typeof value === "symbol" ? "NaN" : inspect(Number(value));
      if (mark === "%i") return typeof value === "bigint" ? `${value}n` : inspect(parseInt(value, 10));
      if (mark === "%f") return inspect(parseFloat(value));
      if (mark === "%j") return JSON.stringify(value);
      if (mark === "%o") return inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 });
      if (mark === "%O") return inspect(value, options);
      return "";
    });
    parts.push(text);
  }
  for (; at < args.length; at++) if (at > 0 || args.length > 0) parts.push(typeof args[at] === "string" ? args[at] : inspect(args[at], options));
  return first === undefined && rest.length === 0 ? "undefined" : parts.join(" ");
}

module.exports = { inspect, formatWithOptions };
