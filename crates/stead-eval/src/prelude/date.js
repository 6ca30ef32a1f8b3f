// Dates without a clock: they are created from a value, and the local time zone is UTC. Loaded when a program first uses `Date`.

import {
  host, NativeDate, NativeTypeError, abs, apply, construct, replace, setLabels, setMember, toText, trunc,
} from "stead:host";
import { intl } from "stead:locale";
import { refuseClock, time } from "stead:sandbox";
import { replaceConstructor } from "stead:text";

export const { UTC } = NativeDate;
export const { getTime, setUTCFullYear } = NativeDate.prototype;

let parser;
const parseDate = (text) => (parser ??= host.lazy("stead:date-parse")).parseDate(text);
const isBetween = (n, from, to) => n >= from && n <= to;

// Converts all arguments first, as the language does.
const utc = (args) => {
  for (let i = 0; i < args.length; i++) args[i] = +args[i];
  return apply(UTC, undefined, args);
};

/** The constructor of dates. `time` refuses to read the clock, except while a package loads. */
export function SteadDate(...args) {
  if (new.target === undefined) refuseClock();
  let value = args.length === 0 ? time() : args[0];
  if (args.length > 1) value = utc(args);
  else if (typeof value === "object" && value !== null) value = isDate(value) ? apply(getTime, value, []) : toPrimitive(value);
  if (typeof value === "string") value = parseDate(value);
  return construct(NativeDate, [value], new.target === SteadDate ? NativeDate : new.target);
}
replaceConstructor("Date", NativeDate, SteadDate);
setMember(SteadDate, "now", { now: () => time() }.now);
const { parse } = { parse: (text) => parseDate(toText(text)) };
const { all } = { all: (...args) => utc(args) };
setLabels(all, "UTC", 7);
setMember(SteadDate, "UTC", all);
setMember(SteadDate, "parse", parse);

const isDate = (value) => {
  try {
    apply(getTime, value, []);
    return true;
  } catch {
    return false;
  }
};

// Converts an object to a primitive value with the hint "default".
function toPrimitive(value) {
  const exotic = value[Symbol.toPrimitive];
  if (exotic !== undefined && exotic !== null) {
    const made = apply(exotic, value, ["default"]);
    if (typeof made !== "object" || made === null) return made;
    throw new NativeTypeError("cannot convert an object to a primitive value");
  }
  for (const name of ["valueOf", "toString"]) {
    if (typeof value[name] !== "function") continue;
    const made = value[name]();
    if ((typeof made !== "object" && typeof made !== "function") || made === null) return made;
  }
  throw new NativeTypeError("cannot convert an object to a primitive value");
}

// The local time zone is UTC.
const { prototype } = NativeDate;
const method = (name, length, value) => {
  setLabels(value, name, length);
  setMember(prototype, name, value);
};
for (const part of ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"]) {
  for (const verb of ["get", "set"]) {
    const native = prototype[`${verb}UTC${part}`];
    if (native === undefined) continue;
    method(`${verb}${part}`, native.length, { call(...args) { return apply(native, this, args); } }.call);
  }
}
const { getUTCFullYear, getUTCDate, getUTCMonth, getUTCDay, getUTCHours, getUTCMinutes, getUTCSeconds } = prototype;
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTH_NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const padded = (n, width) => {
  let text = `${abs(n)}`;
  while (text.length < width) text = `0${text}`;
  return n < 0 ? `-${text}` : text;
};
const of = (date, get) => apply(get, date, []);
const dateText = (date) => `${DAYS[of(date, getUTCDay)]} ${MONTH_NAMES[of(date, getUTCMonth)]} ${padded(of(date, getUTCDate), 2)} ${padded(of(date, getUTCFullYear), 4)}`;
const timeText = (date) => `${padded(of(date, getUTCHours), 2)}:${padded(of(date, getUTCMinutes), 2)}:${padded(of(date, getUTCSeconds), 2)} GMT+0000 (Coordinated Universal Time)`;
const orInvalid = (date, text) => (of(date, getTime) !== of(date, getTime) ? "Invalid Date" : text(date));
method("toString", 0, { call() { return orInvalid(this, (date) => `${dateText(date)} ${timeText(date)}`); } }.call);
method("toDateString", 0, { call() { return orInvalid(this, dateText); } }.call);
method("toTimeString", 0, { call() { return orInvalid(this, timeText); } }.call);
method("getTimezoneOffset", 0, { call() { return of(this, getTime) !== of(this, getTime) ? NaN : 0; } }.call);
method("getYear", 0, { call() { return of(this, getUTCFullYear) - 1900; } }.call);
method("setYear", 1, { call(year) {
  year = +year;
  if (year !== year) return apply(prototype.setTime, this, [NaN]);
  const whole = trunc(year);
  if (of(this, getTime) !== of(this, getTime)) apply(prototype.setTime, this, [0]);
  return apply(setUTCFullYear, this, [isBetween(whole, 0, 99) ? 1900 + whole : year]);
} }.call);
for (const [name, needs] of [["toLocaleString", "any"], ["toLocaleDateString", "date"], ["toLocaleTimeString", "time"]]) {
  replace(prototype, name, {
    call(locales, options) {
      const time = apply(getTime, this, []);
      return time !== time ? "Invalid Date" : intl().formatDate(time, locales, options, needs);
    },
  }.call);
}
