// `Intl` for the locale `en-US`: locales, plural rules, lists and relative times. Another locale is refused, never replaced.

import { defineProperty } from "stead:host";
import { NumberFormat, pluralOperands } from "stead:intl-number";
import { DateTimeFormat, withDefaults } from "stead:intl-date";
import { Collator } from "stead:intl-collate";
import { Segmenter } from "stead:intl-segment";
import { known, locale, option, refuseLocale, tags, unsupported } from "stead:intl-locale";

export const checkLocale = (locales) => void locale(locales);

const numbers = new NumberFormat("en-US");
/** Formats a number like `Number.prototype.toLocaleString`. */
export const formatNumber = (value, locales, options) =>
  (locales === undefined && options === undefined ? numbers : new NumberFormat(locales, options)).format(value);

/** Formats a time like `Date.prototype.toLocaleString`; `needs` names the parts that are shown by default. */
export const formatDate = (time, locales, options, needs) => withDefaults(locales, options, needs).format(time);

const collator = new Collator("en-US");
export const compareText = (left, right, locales, options) =>
  (locales === undefined && options === undefined ? collator : new Collator(locales, options)).compare(left, right);

const supportedLocalesOf = (locales) => {
  const all = tags(locales);
  for (const tag of all) locale(tag);
  return all;
};

class PluralRules {
  #type;
  #numbers;
  constructor(locales, options) {
    known(options);
    locale(locales);
    this.#type = option(options, "type", ["cardinal", "ordinal"], "cardinal");
    this.#numbers = new NumberFormat("en-US", plain(options));
  }
  select(value) {
    const { text, integer, fraction } = pluralOperands(this.#numbers, +value);
    if (this.#type === "cardinal") return text === "1" ? "one" : "other";
    if (fraction !== "" || !/^\d+$/.test(integer)) return "other";
    const [ten, hundred] = [+integer.slice(-1), +integer.slice(-2)];
    if (ten === 1 && hundred !== 11) return "one";
    if (ten === 2 && hundred !== 12) return "two";
    return ten === 3 && hundred !== 13 ? "few" : "other";
  }
  selectRange(start, end) {
    if (start === undefined || end === undefined) throw new TypeError("a range needs two numbers");
    if (Number.isNaN(+start) || Number.isNaN(+end)) throw new RangeError("a range needs two numbers");
    return this.#type === "cardinal" ? "other" : this.select(end);
  }
  resolvedOptions() {
    const { minimumIntegerDigits, minimumFractionDigits, maximumFractionDigits } = this.#numbers.resolvedOptions();
    const pluralCategories = this.#type === "cardinal" ? ["one", "other"] : ["few", "one", "two", "other"];
    return { locale: "en-US", type: this.#type, minimumIntegerDigits, minimumFractionDigits, maximumFractionDigits, pluralCategories, roundingIncrement: 1, roundingMode: "halfExpand", roundingPriority: "auto", trailingZeroDisplay: "auto" };
  }
}

// Options of plural rules that concern digits.
function plain(options) {
  const digits = {};
  for (const key of ["minimumIntegerDigits", "minimumFractionDigits", "maximumFractionDigits", "minimumSignificantDigits", "maximumSignificantDigits"]) {
    if (options?.[key] !== undefined) digits[key] = options[key];
  }
  return digits;
}

class ListFormat {
  #type;
  #style;
  constructor(locales, options) {
    known(options);
    locale(locales);
    if (options !== undefined && (typeof options !== "object" || options === null)) throw new TypeError("options must be an object");
    this.#type = option(options, "type", ["conjunction", "disjunction", "unit"], "conjunction");
    this.#style = option(options, "style", ["long", "short", "narrow"], "long");
  }
  formatToParts(list) {
    const items = [];
    for (const item of list ?? []) {
      if (typeof item !== "string") throw new TypeError("a list of strings is needed");
      items.push(item);
    }
    const [type, style] = [this.#type, this.#style];
    const word = type === "disjunction" ? "or" : type === "unit" ? "" : style === "long" ? "and" : style === "short" ? "&" : "";
    const between = type === "unit" && style === "narrow" ? " " : ", ";
    const last = word === "" ? between : `, ${word} `;
    const pair = word === "" ? between : ` ${word} `;
    const parts = [];
    items.forEach((value, at) => {
      const end = at === items.length - 1;
      if (at > 0) parts.push({ type: "literal", value: !end ? between : items.length === 2 ? pair : last });
      parts.push({ type: "element", value });
    });
    return parts;
  }
  format(list) {
    return this.formatToParts(list).map(({ value }) => value).join("");
  }
  resolvedOptions() {
    return { locale: "en-US", type: this.#type, style: this.#style };
  }
}

const UNITS = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];
const SHORT = { second: "sec.", minute: "min.", hour: "hr.", day: "day", week: "wk.", month: "mo.", quarter: "qtr.", year: "yr." };
const NARROW = { second: "s", minute: "m", hour: "h", day: "d", week: "w", month: "mo", quarter: "q", year: "y" };
const NAMED = { day: { "-1": "yesterday", 0: "today", 1: "tomorrow" }, second: { 0: "now" } };

class RelativeTimeFormat {
  #style;
  #numeric;
  #numbers;
  constructor(locales, options) {
    known(options);
    locale(locales);
    this.#style = option(options, "style", ["long", "short", "narrow"], "long");
    this.#numeric = option(options, "numeric", ["always", "auto"], "always");
    this.#numbers = new NumberFormat("en-US");
  }
  formatToParts(value, unit) {
    value = +value;
    unit = `${unit}`.replace(/s$/, "");
    if (!UNITS.includes(unit)) throw new RangeError(`Invalid unit argument for format() '${unit}'`);
    if (!Number.isFinite(value)) throw new RangeError("a relative time needs a finite number");
    const name = this.#numeric === "auto" ? this.#named(value, unit) : undefined;
    if (name !== undefined) return [{ type: "literal", value: name }];
    const past = value < 0 || Object.is(value, -0);
    const amount = this.#numbers.format(Math.abs(value));
    const parts = this.#numbers.formatToParts(Math.abs(value)).map((part) => ({ ...part, unit }));
    const text = this.#unit(unit, amount);
    return past ? [...parts, { type: "literal", value: `${text} ago` }] : [{ type: "literal", value: "in " }, ...parts, { type: "literal", value: text }];
  }
  #named(value, unit) {
    const known = NAMED[unit]?.[Object.is(value, -0) ? 0 : value];
    if (known !== undefined || unit === "day" || unit === "second" || ![-1, 0, 1].includes(value)) return known;
    const which = value === 0 ? "this" : value < 0 ? "last" : "next";
    if (unit === "minute" || unit === "hour") return value === 0 ? `this ${unit}` : undefined;
    return `${which} ${this.#style === "long" ? unit : SHORT[unit]}`;
  }
  #unit(unit, amount) {
    if (this.#style === "narrow") return NARROW[unit];
    const plural = amount === "1" ? "" : "s";
    if (this.#style === "long" || unit === "day") return ` ${unit}${plural}`;
    return unit === "quarter" && plural ? " qtrs." : ` ${SHORT[unit]}`;
  }
  format(value, unit) {
    return this.formatToParts(value, unit).map((part) => part.value).join("");
  }
  resolvedOptions() {
    return { locale: "en-US", style: this.#style, numeric: this.#numeric, numberingSystem: "latn" };
  }
}

class Locale {
  #tag;
  constructor(tag, options) {
    if (typeof tag !== "string" && !(tag instanceof Locale)) throw new TypeError("Intl.Locale needs a language tag");
    [this.#tag] = tags(`${tag}`);
    if (options !== undefined && Object.keys(options).length > 0) unsupported("options of `Intl.Locale`", "write them into the tag");
  }
  #subtag(pattern) {
    return this.#tag.split("-").slice(1).find((part) => pattern.test(part));
  }
  get language() {
    return this.#tag.split("-")[0];
  }
  get script() {
    return this.#subtag(/^[A-Z][a-z]{3}$/);
  }
  get region() {
    return this.#subtag(/^(?:[A-Z]{2}|\d{3})$/);
  }
  get baseName() {
    return this.#tag;
  }
  toString() {
    return this.#tag;
  }
  maximize() {
    if (this.language !== "en") refuseLocale(this.#tag);
    return new Locale(`en-${this.script ?? "Latn"}-${this.region ?? "US"}`);
  }
  minimize() {
    if (this.language !== "en") refuseLocale(this.#tag);
    const region = this.region === "US" ? undefined : this.region;
    return new Locale(["en", this.script === "Latn" ? undefined : this.script, region].filter((part) => part !== undefined).join("-"));
  }
}

class DisplayNames {
  constructor() {
    unsupported("`Intl.DisplayNames`", "write the names into the program");
  }
}

const classes = { Collator, DateTimeFormat, DisplayNames, ListFormat, Locale, NumberFormat, PluralRules, RelativeTimeFormat, Segmenter };
export const Intl = {};
const hide = (object, name, value) => defineProperty(object, name, { value, writable: true, configurable: true });
for (const [name, Class] of Object.entries(classes)) {
  hide(Intl, name, Class);
  if (name !== "Locale") hide(Class, "supportedLocalesOf", supportedLocalesOf);
  defineProperty(Class.prototype, Symbol.toStringTag, { value: `Intl.${name}`, configurable: true });
}
hide(Intl, "getCanonicalLocales", { getCanonicalLocales: (locales) => tags(locales) }.getCanonicalLocales);
hide(Intl, "supportedValuesOf", { supportedValuesOf: () => unsupported("`Intl.supportedValuesOf`", "write the values into the program") }.supportedValuesOf);
defineProperty(Intl, Symbol.toStringTag, { value: "Intl", configurable: true });
