// `Intl.NumberFormat` for the locale `en-US`.
//
// Rounds the shortest decimal text of a number, as ICU does, not its binary value.

import { digits, known, locale, option, unsupported } from "stead:intl-locale";

const CURRENCIES = { USD: "$", EUR: "€", GBP: "£", JPY: "¥", CAD: "CA$", AUD: "A$", CHF: "CHF", CNY: "CN¥", INR: "₹", BRL: "R$", MXN: "MX$", KRW: "₩", SEK: "SEK", NOK: "NOK", DKK: "DKK", NZD: "NZ$", PLN: "PLN" };
const NARROW = { CAD: "$", AUD: "$", CNY: "¥", MXN: "$", NZD: "$", SEK: "kr", NOK: "kr", DKK: "kr", PLN: "zł" };
const NAMES = { USD: ["US dollar", "US dollars"], EUR: ["euro", "euros"], GBP: ["British pound", "British pounds"], JPY: ["Japanese yen", "Japanese yen"] };
const WITHOUT_CENTS = ["JPY", "KRW"];
// Units: short singular and plural, long singular, narrow.
const UNITS = {
  byte: ["byte", "byte", "byte", "B"], kilobyte: ["kB", "kB", "kilobyte", "kB"], megabyte: ["MB", "MB", "megabyte", "MB"], gigabyte: ["GB", "GB", "gigabyte", "GB"], terabyte: ["TB", "TB", "terabyte", "TB"],
  second: ["sec", "sec", "second", "s"], minute: ["min", "min", "minute", "m"], hour: ["hr", "hr", "hour", "h"], day: ["day", "days", "day", "d"], week: ["wk", "wks", "week", "w"], month: ["mth", "mths", "month", "m"], year: ["yr", "yrs", "year", "y"], millisecond: ["ms", "ms", "millisecond", "ms"],
  meter: ["m", "m", "meter", "m"], kilometer: ["km", "km", "kilometer", "km"],
};
const COMPACT = [["T", "trillion"], ["B", "billion"], ["M", "million"], ["K", "thousand"]];

// Returns the decimal digits of a finite number of at least 0, and the position of the decimal point in them.
function decimal(value) {
  const [mantissa, exponent = "0"] = `${value}`.split("e");
  const [whole, fraction = ""] = mantissa.split(".");
  const all = (whole + fraction).replace(/^0+/, "");
  return { figures: all.replace(/0+$/, ""), point: all.length - fraction.length + Number(exponent) };
}

// Rounds half away from zero to `count` figures.
function round({ figures, point }, count) {
  if (figures.length <= count) return { figures, point };
  if (count < 0) return { figures: "", point: 0 };
  let kept = figures.slice(0, count);
  if (figures[count] >= "5") {
    let at = count - 1;
    while (at >= 0 && kept[at] === "9") at--;
    if (at < 0) return { figures: "1", point: point + 1 };
    kept = kept.slice(0, at) + (Number(kept[at]) + 1);
  }
  return { figures: kept.replace(/0+$/, ""), point };
}

const zeros = (count) => "0".repeat(Math.max(0, count));

// Returns the integer and the fraction part of a decimal number as text.
function plainText({ figures, point }) {
  if (figures === "") return { integer: "0", fraction: "" };
  if (point <= 0) return { integer: "0", fraction: zeros(-point) + figures };
  return { integer: figures.slice(0, point) + zeros(point - figures.length), fraction: figures.slice(point) };
}

const KNOWN = ["style", "currency", "currencyDisplay", "currencySign", "unit", "unitDisplay", "notation", "compactDisplay", "signDisplay", "useGrouping", "minimumIntegerDigits", "minimumFractionDigits", "maximumFractionDigits", "minimumSignificantDigits", "maximumSignificantDigits", "localeMatcher", "numberingSystem", "roundingMode", "roundingPriority", "roundingIncrement", "trailingZeroDisplay"];

function settings(locales, options) {
  known(options);
  if (options === null) throw new TypeError("Cannot convert undefined or null to object");
  const used = { locale: locale(locales) };
  used.style = option(options, "style", ["decimal", "percent", "currency", "unit"], "decimal");
  const currency = option(options, "currency");
  if (currency !== undefined && !/^[a-z]{3}$/i.test(currency)) throw new RangeError(`Invalid currency code : ${currency}`);
  if (used.style === "currency") {
    if (currency === undefined) throw new TypeError("Currency code is required with currency style.");
    used.currency = currency.toUpperCase();
    if (CURRENCIES[used.currency] === undefined) unsupported(`the currency \`${used.currency}\``, "format the number alone, and write the currency in the program");
    used.currencyDisplay = option(options, "currencyDisplay", ["code", "symbol", "narrowSymbol", "name"], "symbol");
    used.currencySign = option(options, "currencySign", ["standard", "accounting"], "standard");
    if (used.currencyDisplay === "name" && NAMES[used.currency] === undefined) unsupported(`the name of the currency \`${used.currency}\``, "write it in the program");
  }
  const unit = option(options, "unit");
  if (used.style === "unit") {
    if (unit === undefined) throw new TypeError("Unit is required with unit style.");
    used.unit = unit;
    if (UNITS[unit] === undefined) unsupported(`the unit \`${unit}\``, "format the number alone, and write the unit in the program");
    used.unitDisplay = option(options, "unitDisplay", ["short", "narrow", "long"], "short");
  }
  used.notation = option(options, "notation", ["standard", "scientific", "engineering", "compact"], "standard");
  if (used.notation === "scientific" || used.notation === "engineering") unsupported(`the notation \`${used.notation}\``, "use `toExponential`");
  if (used.notation === "compact") {
    used.compactDisplay = option(options, "compactDisplay", ["short", "long"], "short");
    if (used.style === "currency" || used.style === "unit") unsupported("the notation `compact` with a currency or a unit", "format the number alone");
  }
  for (const [key, value] of [["roundingMode", "halfExpand"], ["roundingPriority", "auto"], ["roundingIncrement", 1], ["trailingZeroDisplay", "auto"], ["numberingSystem", "latn"]]) {
    if (options?.[key] !== undefined && options[key] !== value) unsupported(`the option \`${key}\` of \`Intl.NumberFormat\``, "round the number in the program");
  }
  readDigits(used, options);
  const grouping = options?.useGrouping;
  if (grouping === undefined) used.useGrouping = used.notation === "compact" ? "min2" : "auto";
  else if (grouping === false || grouping === "false" || grouping === "") used.useGrouping = grouping === false ? false : "auto";
  else if (grouping === true || grouping === "true") used.useGrouping = grouping === true ? "always" : "auto";
  else if (["auto", "always", "min2"].includes(grouping)) used.useGrouping = grouping;
  else if (typeof grouping === "string") throw new RangeError(`Value ${grouping} out of range for Intl.NumberFormat options property useGrouping`);
  else used.useGrouping = grouping ? "always" : false;
  used.signDisplay = option(options, "signDisplay", ["auto", "never", "always", "exceptZero", "negative"], "auto");
  for (const key of Object.keys(options ?? {})) if (!KNOWN.includes(key)) delete used[key];
  return used;
}

function readDigits(used, options) {
  const cents = used.style === "currency" ? (WITHOUT_CENTS.includes(used.currency) ? 0 : 2) : 0;
  const most = used.style === "currency" ? cents : used.style === "percent" || used.notation === "compact" ? 0 : 3;
  used.minimumIntegerDigits = digits(options, "minimumIntegerDigits", 1, 21, 1);
  const fractionMin = digits(options, "minimumFractionDigits", 0, 100, undefined);
  const fractionMax = digits(options, "maximumFractionDigits", 0, 100, undefined);
  if (options?.minimumSignificantDigits !== undefined || options?.maximumSignificantDigits !== undefined) {
    used.minimumSignificantDigits = digits(options, "minimumSignificantDigits", 1, 21, 1);
    used.maximumSignificantDigits = digits(options, "maximumSignificantDigits", used.minimumSignificantDigits, 21, 21);
    return;
  }
  if (used.notation === "compact" && fractionMin === undefined && fractionMax === undefined) return;
  if (fractionMin !== undefined && fractionMax !== undefined && fractionMin > fractionMax) throw new RangeError("maximumFractionDigits value is out of range.");
  used.minimumFractionDigits = fractionMin ?? Math.min(cents, fractionMax ?? cents);
  used.maximumFractionDigits = fractionMax ?? Math.max(most, used.minimumFractionDigits);
}

const order = ["locale", "numberingSystem", "style", "currency", "currencyDisplay", "currencySign", "unit", "unitDisplay", "minimumIntegerDigits", "minimumSignificantDigits", "maximumSignificantDigits", "minimumFractionDigits", "maximumFractionDigits", "useGrouping", "notation", "compactDisplay", "signDisplay", "roundingMode", "roundingIncrement", "trailingZeroDisplay", "roundingPriority"];

class Format {
  #used;
  constructor(locales, options) {
    this.#used = settings(locales, options);
  }

  // Returns the number as texts: integer and fraction, rounded, and the power of a thousand of the compact notation.
  digitsOf(value) {
    const used = this.#used;
    let number = decimal(value);
    if (used.style === "percent") number = { figures: number.figures, point: number.point + 2 };
    let power = 0;
    if (used.notation === "compact") {
      power = Math.min(4, Math.max(0, Math.floor((number.point - 1) / 3)));
      let scaled = this.#round({ figures: number.figures, point: number.point - 3 * power });
      if (scaled.point > 3 && power < 4) {
        power += 1;
        scaled = this.#round({ figures: number.figures, point: number.point - 3 * power });
      }
      return { ...this.#padded(scaled), power };
    }
    return { ...this.#padded(this.#round(number)), power };
  }
  #round(number) {
    const used = this.#used;
    if (used.maximumSignificantDigits !== undefined) return round(number, used.maximumSignificantDigits);
    if (used.maximumFractionDigits !== undefined) return round(number, number.point + used.maximumFractionDigits);
    // Compact notation keeps two figures, or all of the integer.
    return round(number, Math.max(2, number.point));
  }
  #padded(number) {
    const used = this.#used;
    let { integer, fraction } = plainText(number);
    if (used.minimumSignificantDigits !== undefined) {
      const significant = integer === "0" ? (number.figures === "" ? 1 : number.figures.length) : integer.length + fraction.length;
      fraction += zeros(used.minimumSignificantDigits - significant);
    } else fraction += zeros((used.minimumFractionDigits ?? 0) - fraction.length);
    integer = zeros(used.minimumIntegerDigits - integer.length) + integer;
    return { integer, fraction };
  }

  formatToParts(value) {
    const used = this.#used;
    const number = typeof value === "bigint" ? value : typeof value === "string" ? Number(value) : Number(value);
    const negative = number < 0 || Object.is(number, -0);
    const size = negative ? -number : number;
    const parts = [];
    let power = 0;
    let zero = false;
    let one = false;
    if (Number.isNaN(size)) parts.push({ type: "nan", value: "NaN" });
    else if (size === Infinity) parts.push({ type: "infinity", value: "∞" });
    else {
      const text = this.digitsOf(size);
      power = text.power;
      zero = !/[1-9]/.test(text.integer + text.fraction);
      one = text.integer === "1" && text.fraction === "";
      this.#group(parts, text.integer);
      if (text.fraction !== "") parts.push({ type: "decimal", value: "." }, { type: "fraction", value: text.fraction });
    }
    if (power > 0) {
      const [short, long] = COMPACT[4 - power];
      if (used.compactDisplay === "long") parts.push({ type: "literal", value: " " });
      parts.push({ type: "compact", value: used.compactDisplay === "long" ? long : short });
    }
    return this.#dress(parts, this.#sign(negative, zero, Number.isNaN(size)), one);
  }
  #group(parts, integer) {
    const grouping = this.#used.useGrouping;
    if (grouping === false || integer.length <= (grouping === "min2" ? 4 : 3)) return void parts.push({ type: "integer", value: integer });
    const first = integer.length % 3 || 3;
    parts.push({ type: "integer", value: integer.slice(0, first) });
    for (let at = first; at < integer.length; at += 3) parts.push({ type: "group", value: "," }, { type: "integer", value: integer.slice(at, at + 3) });
  }
  #sign(negative, zero, nan) {
    switch (this.#used.signDisplay) {
      case "never":
        return "";
      case "always":
        return negative ? "-" : "+";
      case "exceptZero":
        return zero || nan ? "" : negative ? "-" : "+";
      case "negative":
        return negative && !zero && !nan ? "-" : "";
      default:
        return negative ? "-" : "";
    }
  }
  // Adds sign, currency, percent sign or unit.
  #dress(parts, sign, one) {
    const used = this.#used;
    const mark = sign === "" ? [] : [{ type: sign === "-" ? "minusSign" : "plusSign", value: sign }];
    if (used.style === "percent") return [...mark, ...parts, { type: "percentSign", value: "%" }];
    if (used.style === "unit") {
      const [single, plural, long, narrow] = UNITS[used.unit];
      const name = used.unitDisplay === "narrow" ? narrow : used.unitDisplay === "short" ? (one ? single : plural) : one ? long : `${long}s`;
      return [...mark, ...parts, ...(used.unitDisplay === "narrow" ? [] : [{ type: "literal", value: " " }]), { type: "unit", value: name }];
    }
    if (used.style !== "currency") return [...mark, ...parts];
    if (used.currencyDisplay === "name") return [...mark, ...parts, { type: "literal", value: " " }, { type: "currency", value: NAMES[used.currency][one ? 0 : 1] }];
    const symbol = used.currencyDisplay === "code" ? used.currency : used.currencyDisplay === "narrowSymbol" ? NARROW[used.currency] ?? CURRENCIES[used.currency] : CURRENCIES[used.currency];
    const space = /[A-Za-z]$/.test(symbol) && parts[0].type === "integer" ? [{ type: "literal", value: "\u00a0" }] : [];
    const money = [{ type: "currency", value: symbol }, ...space, ...parts];
    if (used.currencySign === "accounting" && sign === "-") return [{ type: "literal", value: "(" }, ...money, { type: "literal", value: ")" }];
    return [...mark, ...money];
  }
  format(value) {
    let text = "";
    for (const part of this.formatToParts(value)) text += part.value;
    return text;
  }
  resolvedOptions() {
    const all = { ...this.#used, numberingSystem: "latn", roundingIncrement: 1, roundingMode: "halfExpand", roundingPriority: "auto", trailingZeroDisplay: "auto" };
    if (all.notation === "compact" && all.maximumFractionDigits === undefined && all.maximumSignificantDigits === undefined) {
      Object.assign(all, { minimumFractionDigits: 0, maximumFractionDigits: 0, minimumSignificantDigits: 1, maximumSignificantDigits: 2, roundingPriority: "morePrecision" });
    }
    return Object.fromEntries(order.filter((key) => all[key] !== undefined).map((key) => [key, all[key]]));
  }
}

// Callable without `new`, with a bound `format`, as the language has it.
export function NumberFormat(locales, options) {
  if (new.target === undefined) return new NumberFormat(locales, options);
  const made = Reflect.construct(Format, [locales, options], new.target);
  return made;
}
NumberFormat.prototype = Format.prototype;
Object.defineProperty(NumberFormat, "prototype", { writable: false });
Object.defineProperty(Format.prototype, "constructor", { value: NumberFormat });
const { format } = Format.prototype;
Object.defineProperty(Format.prototype, "format", {
  get() {
    return (value) => Reflect.apply(format, this, [value]);
  },
  configurable: true,
});
Object.defineProperty(Format.prototype, "formatRange", {
  value: { formatRange: () => unsupported("`formatRange`", "format both numbers, and join them") }.formatRange,
  writable: true,
  configurable: true,
});

/** Returns the digits that decide about the plural form of a number. */
export function pluralOperands(numbers, value) {
  if (!Number.isFinite(value)) return { text: "", integer: "", fraction: "" };
  const { integer, fraction } = numbers.digitsOf(Math.abs(value));
  return { text: fraction === "" ? integer : `${integer}.${fraction}`, integer, fraction };
}
Object.defineProperty(Format.prototype, "digitsOf", { enumerable: false });
