// util.inspect and util.format, as Node.js prints values without colours.
"use strict";

const { host, isUnknown, describe } = require("stead:internal");
const { refuse } = require("node:internal/unavailable");
const types = require("node:internal/types");

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
    return ESCAPES[character] ?? (code > 0xff ? `\\u${code.toString(16)}` : `\\x${code.toString(16).toUpperCase().padStart(2, "0")}`);
  });
  return mark + escaped.replaceAll(mark === "'" ? "'" : "\0", mark === "'" ? "\\'" : "") + mark;
}

// Separates the digits of a number by `_`.
function separated(digits) {
  const [, sign, whole, fraction] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(digits) ?? [];
  if (whole === undefined) return digits;
  const groups = `${sign}${whole.replace(/(?<=\d)(?=(?:\d{3})+$)/g, "_")}`;
  return fraction === undefined ? groups : `${groups}.${fraction.replace(/(?<=^(?:\d{3})+)(?=\d)/g, "_")}`;
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
  if (typeof value === "number") return options.numericSeparator ? separated(`${value}`) : Object.is(value, -0) ? "-0" : `${value}`;
  if (typeof value === "bigint") return options.numericSeparator ? `${separated(`${value}`)}n` : `${value}n`;
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

// Shows the value that a getter returns.
function gotten(value, get, label, options, depth, seen) {
  options.indent += 2;
  try {
    const result = get.call(value);
    const shown = format(result, options, depth + 1, seen);
    return typeof result === "object" && result !== null ? `[${label}] ${shown}` : `[${label}: ${shown}]`;
  } catch (error) {
    return `[${label}: <Inspection threw (${error.message})>]`;
  } finally {
    options.indent -= 2;
  }
}

function property(value, key, options, depth, seen, kind) {
  const own = Object.getOwnPropertyDescriptor(value, key) ?? { value: value[key], enumerable: true };
  let shown;
  if ("value" in own) {
    const deeper = options.compact === true && kind !== "item" ? 3 : 2;
    options.indent += deeper;
    shown = format(own.value, options, depth + 1, seen);
    if (deeper === 3 && options.breakLength < widthOf(shown)) shown = `\n${" ".repeat(options.indent)}${shown}`;
    options.indent -= deeper;
  } else if (own.get !== undefined) {
    const label = own.set !== undefined ? "Getter/Setter" : "Getter";
    const { getters } = options;
    const read = getters === true || (getters === "get" && own.set === undefined) || (getters === "set" && own.set !== undefined);
    shown = read ? gotten(value, own.get, label, options, depth, seen) : `[${label}]`;
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

const sizeOf = { Set: Object.getOwnPropertyDescriptor(Set.prototype, "size").get, Map: Object.getOwnPropertyDescriptor(Map.prototype, "size").get };
const moreItems = (count) => `... ${count} more item${count > 1 ? "s" : ""}`;
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
  if (i < value.length) out.push(moreItems(value.length - i));
  return out;
}

// Width of a text in a terminal, as Node.js measures it.
const WIDE = [
  [0x1100, 0x115f], [0x2329, 0x232a], [0x2e80, 0x303e], [0x3040, 0x3247], [0x3250, 0x4dbf], [0x4e00, 0xa4c6], [0xa960, 0xa97c],
  [0xac00, 0xd7a3], [0xf900, 0xfaff], [0xfe10, 0xfe19], [0xfe30, 0xfe6b], [0xff01, 0xff60], [0xffe0, 0xffe6], [0x1b000, 0x1b001],
  [0x1f200, 0x1f251], [0x1f300, 0x1f64f], [0x1f900, 0x1f9ff], [0x20000, 0x3fffd],
];
const ZERO = /^[\0-\x1f\x7f-\x9f\u0300-\u036f\u200b-\u200f\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]$/;
function widthOf(text) {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text.normalize("NFC")) {
    const code = character.codePointAt(0);
    if (!ZERO.test(character)) width += WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
  }
  return width;
}

// Puts many short items into columns, as Node.js does for arrays with more than six of them.
function columns(out, value, options) {
  let total = 0;
  let longest = 0;
  let count = out.length;
  if (options.maxArrayLength < out.length) count--;
  const lengths = [];
  for (let i = 0; i < count; i++) {
    lengths[i] = widthOf(out[i]);
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
      const room = widths[j - i] + cell.length - 2 - lengths[j];
      line += right ? cell.padStart(room) : cell.padEnd(room);
    }
    line += right ? out[j].padStart(widths[j - i] - 2) : out[j];
    lines.push(line);
  }
  if (count < out.length) lines.push(out[count]);
  return lines;
}

function combine(out, base, open, close, options, depth, array) {
  const entries = out.length;
  const below = (start) => {
    const whole = out.reduce((sum, item) => sum + item.length, 0) + out.length;
    return whole + start <= options.breakLength && !base.includes("\n");
  };
  if (options.compact === true) {
    if (below(out.length)) return `${open}${base ? ` ${base}` : ""} ${out.join(", ")} ${close}`;
    const indent = `\n${" ".repeat(options.indent)}`;
    const line = base === "" && open.length === 1 ? " " : `${base ? ` ${base}` : ""}\n${indent}  `;
    return `${open}${line}${out.join(`,${indent}  `)} ${close}`;
  }
  if (options.compact >= 1 && array !== undefined && entries > 6) out = columns(out, array, options);
  const start = out.length + options.indent + open.length + base.length + 10;
  if (options.deepest - depth < options.compact && entries === out.length) {
    if (below(start) && !out.some((item) => item.includes("\n"))) {
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

function format(given, options, depth, seen) {
  if (isUnknown(given)) return `<${describe(given)}>`;
  if ((typeof given !== "object" && typeof given !== "function") || given === null) return primitive(given, options, depth === 0);
  let value = given;
  // The traps of a proxy are not called: its target is shown.
  for (let target; (target = host.proxyTarget(value)) !== undefined; value = target) {
    if (options.showProxy) refuse("`showProxy` of `util.inspect`", "inspect the target and the handler");
  }
  if (options.customInspect) {
    const own = value[custom];
    if (typeof own === "function" && own !== inspect) {
      const left = options.depth === null ? null : options.depth - depth;
      const { indent, deepest, circular, ...shared } = options;
      const result = own.call(given, left, { ...shared, stylize: (text) => `${text}` }, inspect);
      if (result !== given) return typeof result === "object" && result !== null ? format(result, options, depth, seen) : `${result}`.replaceAll("\n", `\n${" ".repeat(options.indent)}`);
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
  } else if (types.isSet(value) || types.isMap(value)) {
    const kind = types.isSet(value) ? "Set" : "Map";
    const size = sizeOf[kind].call(value);
    open = `${prefix(value, name, kind, `(${size})`)}{`;
    if (size === 0 && keys.length === 0) return `${open}}`;
    if (deep) return `[${name}]`;
    enter();
    const most = Math.min(Math.max(options.maxArrayLength, 0), size);
    const all = kind === "Set" ? Set.prototype.values.call(value) : Map.prototype.entries.call(value);
    for (const item of all) {
      if (out.length >= most) break;
      out.push(kind === "Set" ? nested(item) : `${nested(item[0])} => ${nested(item[1])}`);
    }
    if (size > most) out.push(moreItems(size - most));
  } else if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    keys = keys.filter((key) => !isIndex(key));
    if (name === "Buffer") {
      const shown = Array.from(value.subarray(0, 50), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
      return `<Buffer ${shown}${value.length > 50 ? ` ... ${value.length - 50} more byte${value.length > 51 ? "s" : ""}` : ""}>`;
    }
    [open, close] = [`${prefix(value, name, "TypedArray", `(${value.length})`)}[`, "]"];
    if (value.length === 0 && keys.length === 0) return `${open}]`;
    if (deep) return `[${name}]`;
    list = value;
    enter();
    out.push(...items(value, options, depth, inner));
  } else if (typeof value === "function") {
    const kind = /^class\b/.test(Function.prototype.toString.call(value)) ? "class" : name ?? "Function";
    const bare = name === null ? " (null prototype)" : "";
    const label = kind === "class" ? `class ${value.name || "(anonymous)"}` : `${kind}${bare}${value.name ? `: ${value.name}` : " (anonymous)"}`;
    const parent = kind === "class" ? Object.getPrototypeOf(value) : null;
    base = `[${label}${parent?.name ? ` extends ${parent.name}` : ""}]`;
    if (keys.length === 0) return base;
  } else if (types.isRegExp(value)) {
    base = RegExp.prototype.toString.call(value);
    if (keys.length === 0 || deep) return base;
  } else if (types.isDate(value)) {
    const { getTime, toISOString } = Date.prototype;
    base = Number.isNaN(getTime.call(value)) ? "Invalid Date" : toISOString.call(value);
    if (name !== "Date") base = `${prefix(value, name, "Date")}${base}`;
    if (keys.length === 0) return base;
  } else if (value instanceof Error) {
    base = errorText(value);
    keys = keys.filter((key) => key !== "message" && key !== "stack" && key !== "name");
    if (keys.length === 0) return base;
  } else if (types.isPromise(value)) {
    if (deep) return `[${name}]`;
    open = `${prefix(value, name, "Promise")}{`;
    enter();
    const { state, result } = host.promiseState(value) ?? { state: "pending" };
    if (state === "pending") out.push("<pending>");
    else out.push(`${state === "rejected" ? "<rejected> " : ""}${nested(result)}`);
  } else if (value instanceof WeakMap || value instanceof WeakSet) {
    return `${name} { <items unknown> }`;
  } else if (value instanceof Number || value instanceof Boolean || value instanceof String || value instanceof Symbol || value instanceof BigInt) {
    const kind = constructorName(value);
    base = `[${kind}: ${primitive(value.valueOf(), options, true)}]`;
    keys = keys.filter((key) => !isIndex(key));
    if (keys.length === 0) return base;
  } else if (types.isArgumentsObject(value)) {
    open = "[Arguments] {";
    if (keys.length === 0) return `${open}}`;
    if (deep) return "[Arguments]";
  } else if (types.isAnyArrayBuffer(value)) {
    if (deep) return `[${name}]`;
    open = `${prefix(value, name, "ArrayBuffer")}{`;
    enter();
    const bytes = new Uint8Array(value, 0, Math.min(value.byteLength, Math.max(options.maxArrayLength, 0)));
    const left = value.byteLength - bytes.length;
    const shown = [...Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")), ...(left > 0 ? [`... ${left} more byte${left > 1 ? "s" : ""}`] : [])];
    out.push(`[Uint8Contents]: <${shown.join(" ")}>`, `byteLength: ${value.byteLength}`);
  } else if (types.isDataView(value)) {
    if (deep) return `[${name}]`;
    open = `${prefix(value, name, "DataView")}{`;
    enter();
    keys = ["byteLength", "byteOffset", "buffer", ...keys];
  } else if (types.isMapIterator(value) || types.isSetIterator(value)) {
    refuse("`util.inspect` of the iterator of a Map or Set", "spread it into a list first");
  } else {
    const head = name !== "Object" || typeof value[Symbol.toStringTag] === "string" ? prefix(value, name, "Object") : "";
    open = `${head}{`;
    if (keys.length === 0) return `${open}}`;
    if (deep) return `[${name === null ? "Object: null prototype" : name}]`;
  }
  enter();
  const first = list === undefined ? 0 : out.length;
  for (const key of keys) out.push(property(value, key, options, depth, inner, "member"));
  if (options.sorted) out.push(...out.splice(first).sort(typeof options.sorted === "function" ? options.sorted : undefined));
  let shown = combine(out, base, open, close, options, depth, list);
  if (options.circular.has(value)) shown = `<ref *${options.circular.get(value)}> ${shown}`;
  return shown;
}

function inspect(value, given, depth, colors) {
  const legacy = typeof given === "boolean" ? { showHidden: given, ...(depth !== undefined && { depth }), colors } : given;
  const options = { ...defaults, ...legacy, indent: 0, deepest: 0, circular: new Map() };
  if (options.depth === Infinity) options.depth = null;
  if (options.colors) refuse("`colors` of `util.inspect`", "print without colours: the output of a program is plain text");
  if (options.compact === false) options.compact = 0;
  if (options.maxArrayLength === null) options.maxArrayLength = Infinity;
  return format(value, options, 0, []);
}
inspect.custom = custom;
inspect.defaultOptions = defaults;
inspect.styles = {
  __proto__: null, special: "cyan", number: "yellow", bigint: "yellow", boolean: "yellow", undefined: "grey", null: "bold",
  string: "green", symbol: "green", date: "magenta", regexp: "red", module: "underline",
};
inspect.colors = {
  __proto__: null, reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], blink: [5, 25], inverse: [7, 27],
  hidden: [8, 28], strikethrough: [9, 29], doubleunderline: [21, 24], black: [30, 39], red: [31, 39], green: [32, 39],
  yellow: [33, 39], blue: [34, 39], magenta: [35, 39], cyan: [36, 39], white: [37, 39], bgBlack: [40, 49], bgRed: [41, 49],
  bgGreen: [42, 49], bgYellow: [43, 49], bgBlue: [44, 49], bgMagenta: [45, 49], bgCyan: [46, 49], bgWhite: [47, 49],
  framed: [51, 54], overlined: [53, 55], gray: [90, 39], redBright: [91, 39], greenBright: [92, 39], yellowBright: [93, 39],
  blueBright: [94, 39], magentaBright: [95, 39], cyanBright: [96, 39], whiteBright: [97, 39], bgGray: [100, 49],
  bgRedBright: [101, 49], bgGreenBright: [102, 49], bgYellowBright: [103, 49], bgBlueBright: [104, 49], bgMagentaBright: [105, 49],
  bgCyanBright: [106, 49], bgWhiteBright: [107, 49],
};
for (const [name, same] of [["grey", "gray"], ["blackBright", "gray"], ["bgGrey", "bgGray"], ["bgBlackBright", "bgGray"], ["faint", "dim"], ["crossedout", "strikethrough"], ["strikeThrough", "strikethrough"], ["crossedOut", "strikethrough"], ["conceal", "hidden"], ["swapColors", "inverse"], ["swapcolors", "inverse"], ["doubleUnderline", "doubleunderline"]]) {
  Object.defineProperty(inspect.colors, name, { get: () => inspect.colors[same], enumerable: false, configurable: true });
}

// Returns true for an object whose `toString` is that of a class of the language.
function hasBuiltInText(value) {
  if (typeof value.toString !== "function") return true;
  if (Object.hasOwn(value, "toString")) return false;
  let at = value;
  while (!Object.hasOwn(at, "toString")) at = Object.getPrototypeOf(at);
  const own = Object.getOwnPropertyDescriptor(at, "constructor");
  return typeof own?.value === "function" && /^[A-Z]/.test(own.value.name) && Object.hasOwn(globalThis, own.value.name);
}
function json(value) {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof TypeError && /circular/i.test(error.message)) return "[Circular]";
    throw error;
  }
}

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
        if (typeof value === "object" && value !== null && hasBuiltInText(value)) {
          return inspect(value, { ...options, depth: 0, compact: 3 });
        }
        return typeof value === "number" && Object.is(value, -0) ? "-0" : String(value);
      }
      if (mark === "%d") return typeof value === "bigint" ? `${value}n` : typeof value === "symbol" ? "NaN" : inspect(Number(value));
      if (mark === "%i") return typeof value === "bigint" ? `${value}n` : typeof value === "symbol" ? "NaN" : inspect(parseInt(value, 10));
      if (mark === "%f") return typeof value === "symbol" ? "NaN" : inspect(parseFloat(value));
      if (mark === "%j") return json(value);
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
