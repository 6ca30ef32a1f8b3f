// Language tags and options of `Intl`.

import { host, NativeError } from "stead:host";
import { idOf, refusal, refuse } from "stead:unknown";

/** Refuses a feature that would differ from Node. The program cannot catch that: it would go on with another value. */
export function unsupported(what, help) {
  throw refusal(host.refuseFinally(what, help, new NativeError().stack));
}

export const refuseLocale = (tag) =>
  unsupported(`the locale \`${tag}\``, "only `en` and `en-US` are supported; leave the locale out, or write the text in the program");

const TAG = /^[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?$/i;
// Languages and regions whose tags are replaced by others, and tags with a default script or older names.
const ALIASES = ["iw", "in", "ji", "jw", "mo", "sh", "tl", "no", "bh", "scc", "scr", "aam", "adp", "aju", "cmn", "swc", "zsm"];

function canonical(tag) {
  if (typeof tag !== "string" && (typeof tag !== "object" || tag === null)) throw new TypeError("a language tag must be a string");
  const text = `${tag}`;
  if (!TAG.test(text)) {
    if (!/^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i.test(text) || /^[a-z]{4}(?:-|$)/i.test(text)) throw new RangeError(`Incorrect locale information provided`);
    return unsupported(`the language tag \`${text}\``, "only language, script and region are supported, such as `en-US`");
  }
  const parts = text.split("-");
  const language = parts[0].toLowerCase();
  if (language.length === 3 || ALIASES.includes(language)) unsupported(`the language tag \`${text}\``, "use a language of two letters");
  return [language, ...parts.slice(1).map((part) => (part.length === 4 ? part[0].toUpperCase() + part.slice(1).toLowerCase() : part.toUpperCase()))].join("-");
}

/** Returns the canonical tags of an argument `locales`. */
export function tags(locales) {
  const id = idOf(locales);
  if (id !== undefined) refuse("builtin", id, "Intl");
  if (locales === undefined) return [];
  if (locales === null) throw new TypeError("a language tag must be a string");
  const list = typeof locales === "string" || typeof locales.language === "string" ? [locales] : Array.from(locales);
  return [...new Set(list.map(canonical))];
}

/** Checks an argument `locales` and returns the locale that is used. */
export function locale(locales) {
  const [first] = tags(locales);
  if (first === undefined || first === "en-US") return "en-US";
  return first === "en" ? "en" : refuseLocale(first);
}

/** Refuses options that are not known yet. */
export function known(options) {
  if (idOf(options) !== undefined) refuse("builtin", idOf(options), "Intl");
  if (typeof options !== "object" || options === null) return;
  for (const key of Object.keys(options)) if (idOf(options[key]) !== undefined) refuse("builtin", idOf(options[key]), "Intl");
}

/** Reads an option with a list of values. */
export function option(options, key, values, fallback) {
  const value = options?.[key];
  if (value === undefined) return fallback;
  const text = `${value}`;
  if (values !== undefined && !values.includes(text)) throw new RangeError(`Value ${text} out of range for Intl options property ${key}`);
  return text;
}

/** Reads an option that is a number between two bounds. */
export function digits(options, key, least, most, fallback) {
  const value = options?.[key];
  if (value === undefined) return fallback;
  const number = Number(value);
  if (!(number >= least && number <= most)) throw new RangeError(`${key} value is out of range.`);
  return Math.floor(number);
}
