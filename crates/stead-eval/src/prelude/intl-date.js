// `Intl.DateTimeFormat` for the locale `en-US` and the time zone UTC.
//
// The texts are those of Node 20. Combinations of parts that people do not write are refused.

import { digits, known, locale, option, unsupported } from "stead:intl-locale";

const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const TWO = ["numeric", "2-digit"];
const NAME = ["long", "short", "narrow"];
const PARTS = { weekday: NAME, year: TWO, month: [...TWO, ...NAME], day: TWO, hour: TWO, minute: TWO, second: TWO };
const ZONES = { short: "UTC", long: "Coordinated Universal Time", shortOffset: "GMT+0", longOffset: "GMT+00:00", shortGeneric: "GMT+0", longGeneric: "GMT+00:00" };
const DATE_STYLES = {
  full: { weekday: "long", year: "numeric", month: "long", day: "numeric" },
  long: { year: "numeric", month: "long", day: "numeric" },
  medium: { year: "numeric", month: "short", day: "numeric" },
  short: { year: "2-digit", month: "numeric", day: "numeric" },
};
const TIME_STYLES = {
  full: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "long" },
  long: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
  medium: { hour: "numeric", minute: "2-digit", second: "2-digit" },
  short: { hour: "numeric", minute: "2-digit" },
};

const pad = (n, width = 2) => `${n}`.padStart(width, "0");
const named = (name, form) => (form === "long" ? name : form === "short" ? name.slice(0, 3) : name[0]);
const short = (form) => form === "numeric" || form === "2-digit";

function zoneOf(options) {
  const given = option(options, "timeZone");
  if (given === undefined || /^(?:etc\/)?(?:utc|gmt|uct|zulu|universal|greenwich)$/i.test(given)) return "UTC";
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/.test(given) && !/^[+-]\d\d:?\d\d$/.test(given)) throw new RangeError(`Invalid time zone specified: ${given}`);
  return unsupported(`the time zone \`${given}\``, "a program has no table of time zones; add the offset to the time, and format it as UTC");
}

function settings(locales, options, needs, fallback) {
  known(options);
  if (options === null) throw new TypeError("Cannot convert undefined or null to object");
  const used = { locale: locale(locales), calendar: "gregory", numberingSystem: "latn" };
  for (const [key, only] of [["calendar", "gregory"], ["numberingSystem", "latn"]]) {
    if (options?.[key] !== undefined && options[key] !== only) unsupported(`the option \`${key}\` of \`Intl.DateTimeFormat\``, `only \`${only}\` is supported`);
  }
  for (const key of ["era", "dayPeriod"]) if (options?.[key] !== undefined) unsupported(`the option \`${key}\` of \`Intl.DateTimeFormat\``, "leave it out");
  const hour12 = options?.hour12;
  const hourCycle = option(options, "hourCycle", ["h11", "h12", "h23", "h24"], undefined);
  const cycle = hour12 === undefined ? hourCycle ?? "h12" : hour12 ? "h12" : "h24";
  used.timeZone = zoneOf(options);
  const parts = {};
  for (const [key, values] of Object.entries(PARTS)) parts[key] = option(options, key, values, undefined);
  parts.fractionalSecondDigits = digits(options, "fractionalSecondDigits", 1, 3, undefined);
  parts.timeZoneName = option(options, "timeZoneName", Object.keys(ZONES), undefined);
  option(options, "formatMatcher", ["basic", "best fit"], undefined);
  used.dateStyle = option(options, "dateStyle", Object.keys(DATE_STYLES), undefined);
  used.timeStyle = option(options, "timeStyle", Object.keys(TIME_STYLES), undefined);
  if (used.dateStyle !== undefined || used.timeStyle !== undefined) {
    for (const key of Object.keys(parts)) if (parts[key] !== undefined) throw new TypeError(`Can't set option ${key} when ${used.dateStyle === undefined ? "timeStyle" : "dateStyle"} is used`);
    if ((needs === "date" && used.timeStyle !== undefined) || (needs === "time" && used.dateStyle !== undefined)) throw new TypeError("Invalid option : dateStyle or timeStyle");
    const styled = { ...(DATE_STYLES[used.dateStyle] ?? {}), ...(TIME_STYLES[used.timeStyle] ?? {}) };
    return { used, parts: styled, cycle: used.timeStyle === undefined ? undefined : cycle };
  }
  const given = (keys) => keys.some((key) => parts[key] !== undefined);
  const hasDate = given(["weekday", "year", "month", "day"]);
  const hasTime = given(["hour", "minute", "second", "fractionalSecondDigits"]);
  if ((needs === "date" ? !hasDate : needs === "time" ? !hasTime : !hasDate && !hasTime)) {
    if (fallback !== "time") parts.year = parts.month = parts.day = "numeric";
    if (fallback !== "date") parts.hour = parts.minute = parts.second = "numeric";
  }
  return { used, parts, cycle: parts.hour === undefined ? undefined : cycle };
}

// Describes the parts that are present, for the table of supported combinations.
const shape = (parts) => ["weekday", "year", "month", "day"].filter((key) => parts[key] !== undefined).join(" ");
const DATE_SHAPES = ["", "weekday", "year", "month", "day", "year month", "month day", "year month day", "weekday day", "weekday month day", "weekday year month day"];
const TIME_SHAPES = ["", "hour", "hour minute", "hour minute second", "minute second", "minute", "second"];
const refuseParts = () => unsupported("this combination of options of `Intl.DateTimeFormat`", "format the parts one by one, and join them");

class Format {
  #used;
  #parts;
  #cycle;
  constructor(locales, options, needs = "any", fallback = "date") {
    const { used, parts, cycle } = settings(locales, options, needs, fallback);
    [this.#used, this.#parts, this.#cycle] = [used, parts, cycle];
    const time = ["hour", "minute", "second"].filter((key) => parts[key] !== undefined).join(" ");
    if (!DATE_SHAPES.includes(shape(parts)) || !TIME_SHAPES.includes(time)) refuseParts();
    if (parts.fractionalSecondDigits !== undefined && parts.second === undefined) refuseParts();
    const alone = shape(parts) === "month" || shape(parts) === "weekday";
    if ((parts.month === "narrow" || parts.weekday === "narrow") && !(alone && time === "" && parts.timeZoneName === undefined)) refuseParts();
  }

  #date(time, out) {
    const { weekday, year, month, day } = this.#parts;
    const date = new Date(time);
    const literal = (value) => out.push({ type: "literal", value });
    const put = (type, value) => out.push({ type, value: `${value}` });
    const number = (type, value, form) => put(type, form === "2-digit" ? pad(value) : value);
    const full = date.getUTCFullYear();
    const shown = full > 0 ? full : 1 - full;
    const putYear = () => put("year", year === "2-digit" ? pad(shown % 100) : shown);
    if (weekday !== undefined) {
      const name = named(DAYS[date.getUTCDay()], weekday);
      if (day !== undefined && month === undefined) {
        number("day", date.getUTCDate(), day);
        literal(" ");
        return put("weekday", name);
      }
      put("weekday", name);
      if (month !== undefined) literal(", ");
    }
    const numeric = short(month);
    if (month !== undefined) {
      if (numeric) number("month", date.getUTCMonth() + 1, month);
      else put("month", named(MONTHS[date.getUTCMonth()], month));
    }
    if (day !== undefined) {
      if (month !== undefined) literal(numeric ? "/" : " ");
      number("day", date.getUTCDate(), day);
    }
    if (year !== undefined) {
      if (month !== undefined) literal(numeric ? "/" : day === undefined ? " " : ", ");
      putYear();
    }
  }

  #time(time, out) {
    const { hour, minute, second, fractionalSecondDigits } = this.#parts;
    const date = new Date(time);
    const put = (type, value) => out.push({ type, value: `${value}` });
    const alone = hour === undefined && (minute === undefined || second === undefined);
    if (hour !== undefined) {
      const h = date.getUTCHours();
      const value = { h11: h % 12, h12: h % 12 || 12, h23: h, h24: h || 24 }[this.#cycle];
      const wide = hour === "2-digit" || this.#cycle === "h23" || this.#cycle === "h24";
      put("hour", wide ? pad(value) : value);
    }
    if (minute !== undefined) {
      if (hour !== undefined) put("literal", ":");
      put("minute", alone ? date.getUTCMinutes() : pad(date.getUTCMinutes()));
    }
    if (second !== undefined) {
      if (minute !== undefined) put("literal", ":");
      put("second", alone ? date.getUTCSeconds() : pad(date.getUTCSeconds()));
      if (fractionalSecondDigits !== undefined) {
        put("literal", ".");
        put("fractionalSecond", pad(date.getUTCMilliseconds(), 3).slice(0, fractionalSecondDigits));
      }
    }
    if (hour !== undefined && (this.#cycle === "h11" || this.#cycle === "h12")) {
      put("literal", "\u202f");
      put("dayPeriod", date.getUTCHours() < 12 ? "AM" : "PM");
    }
  }

  formatToParts(date) {
    if (date === undefined) return new Date();
    const time = typeof date === "number" ? Math.trunc(date) : typeof date === "object" && date instanceof Date ? date.getTime() : Math.trunc(Number(date));
    if (!(Math.abs(time) <= 8.64e15)) throw new RangeError("Invalid time value");
    const out = [];
    this.#date(time, out);
    const dated = out.length > 0;
    const clock = [];
    this.#time(time, clock);
    if (dated && clock.length > 0) {
      const long = this.#parts.month === "long" && this.#used.dateStyle !== "medium";
      const onlyDay = shape(this.#parts) === "weekday";
      out.push({ type: "literal", value: long ? " at " : onlyDay ? " " : ", " });
    }
    out.push(...clock);
    if (this.#parts.timeZoneName !== undefined) {
      out.push({ type: "literal", value: clock.length > 0 ? " " : ", " }, { type: "timeZoneName", value: ZONES[this.#parts.timeZoneName] });
    }
    return out;
  }
  format(date) {
    let text = "";
    for (const { value } of this.formatToParts(date)) text += value === "\u202f" ? " " : value;
    return text;
  }
  resolvedOptions() {
    const { dateStyle, timeStyle, ...all } = this.#used;
    if (this.#cycle !== undefined) Object.assign(all, { hourCycle: this.#cycle, hour12: this.#cycle === "h11" || this.#cycle === "h12" });
    if (dateStyle === undefined && timeStyle === undefined) {
      const parts = { ...this.#parts };
      if (parts.hour !== undefined && !all.hour12) parts.hour = "2-digit";
      if (parts.minute !== undefined && (parts.hour !== undefined || parts.second !== undefined)) parts.minute = "2-digit";
      else if (parts.minute !== undefined) parts.minute = "numeric";
      if (parts.second !== undefined) parts.second = parts.minute === undefined ? "numeric" : "2-digit";
      for (const key of Object.keys(parts)) if (parts[key] !== undefined) all[key] = parts[key];
    }
    if (dateStyle !== undefined) all.dateStyle = dateStyle;
    if (timeStyle !== undefined) all.timeStyle = timeStyle;
    return all;
  }
}

export function DateTimeFormat(locales, options) {
  if (new.target === undefined) return new DateTimeFormat(locales, options);
  return Reflect.construct(Format, [locales, options], new.target);
}
Object.defineProperty(DateTimeFormat, "prototype", { value: Format.prototype, writable: false });
Object.defineProperty(Format.prototype, "constructor", { value: DateTimeFormat });
const { format } = Format.prototype;
Object.defineProperty(Format.prototype, "format", {
  get() {
    return (date) => Reflect.apply(format, this, [date]);
  },
  configurable: true,
});
for (const name of ["formatRange", "formatRangeToParts"]) {
  const { call } = { call: () => unsupported(`\`${name}\``, "format both times, and join them") };
  Object.defineProperty(call, "name", { value: name });
  Object.defineProperty(Format.prototype, name, { value: call, writable: true, configurable: true });
}

/** Returns the format of `Date.prototype.toLocaleString` and its two relatives. */
export const withDefaults = (locales, options, needs) => {
  const made = new Format(locales, options, needs, needs === "any" ? "all" : needs);
  return { format: (time) => Reflect.apply(format, made, [time]) };
};
