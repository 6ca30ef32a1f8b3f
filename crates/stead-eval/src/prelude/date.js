// Dates without a clock: they are created from a value, and the local time zone is UTC.
//
// Texts are parsed as V8 parses them: first as an ISO date, then by rules that accept most ways to write a date.

import { NativeTypeError, apply, construct, defineProperty, toText } from "stead:host";
import { replaceConstructor } from "stead:text";

const NativeDate = Date;
const { UTC } = NativeDate;
const { getTime, setUTCFullYear } = NativeDate.prototype;
const { charCodeAt } = String.prototype;
const { trunc, abs } = Math;
const code = (text, at) => apply(charCodeAt, text, [at]);

// Words that the parser knows, by their first three letters: kind and value.
const MONTH = 1;
const HALF = 2;
const ZONE = 3;
const SEPARATOR = 4;
const WORDS = { __proto__: null, am: [HALF, 0], pm: [HALF, 12], ut: [ZONE, 0], utc: [ZONE, 0], z: [ZONE, 0], gmt: [ZONE, 0], cdt: [ZONE, -5], cst: [ZONE, -6], edt: [ZONE, -4], est: [ZONE, -5], mdt: [ZONE, -6], mst: [ZONE, -7], pdt: [ZONE, -7], pst: [ZONE, -8], t: [SEPARATOR, 0] };
const MONTHS = { __proto__: null, jan: 1, feb: 2, mar: 3, apr: 4, may: 5, jun: 6, jul: 7, aug: 8, sep: 9, oct: 10, nov: 11, dec: 12 };

const isDigit = (c) => c >= 48 && c <= 57;
const isSpace = (c) => (c >= 9 && c <= 13) || c === 32 || c === 0xa0 || c === 0x1680 || (c >= 0x2000 && c <= 0x200a) || c === 0x2028 || c === 0x2029 || c === 0x202f || c === 0x205f || c === 0x3000 || c === 0xfeff;
const isBetween = (n, from, to) => n >= from && n <= to;

// Splits a text into tokens: { kind, value, length, text }.
function tokens(text) {
  const found = { __proto__: null, length: 0 };
  const add = (kind, value, length = 1) => (found[found.length++] = { __proto__: null, kind, value, length });
  let at = 0;
  while (at < text.length) {
    const c = code(text, at);
    const start = at;
    if (isDigit(c)) {
      while (code(text, at) === 48) at++;
      let value = 0;
      for (let digits = 0; isDigit(code(text, at)); at++, digits++) if (digits < 9) value = value * 10 + code(text, at) - 48;
      add("number", value, at - start);
    } else if (c === 58 || c === 45 || c === 43 || c === 46 || c === 41) {
      add(text[at], 0);
      at++;
    } else if (c >= 65 && !isSpace(c)) {
      let prefix = "";
      for (; code(text, at) >= 65 && !isSpace(code(text, at)); at++) {
        const letter = code(text, at);
        if (at - start < 3) prefix += letter >= 65 && letter <= 90 ? "abcdefghijklmnopqrstuvwxyz"[letter - 65] : text[at];
      }
      const length = at - start;
      if (MONTHS[prefix] !== undefined) add("word", [MONTH, MONTHS[prefix]], length);
      else add("word", length <= 3 && WORDS[prefix] !== undefined ? WORDS[prefix] : [0, 0], length);
    } else if (isSpace(c)) {
      add("space", 0);
      at++;
    } else if (c === 40) {
      for (let depth = 0; at < text.length; at++) {
        if (text[at] === "(") depth++;
        if (text[at] === ")" && --depth === 0) break;
      }
      at++;
      add("other", 0);
    } else {
      add("other", 0);
      at++;
    }
  }
  add("end", 0, 0);
  return found;
}

const milliseconds = ({ value, length }) => {
  if (length === 1) return value * 100;
  if (length === 2) return value * 10;
  return length > 3 ? trunc(value / 10 ** ((length > 9 ? 9 : length) - 3)) : value;
};

class Parser {
  constructor(text) {
    this.tokens = tokens(text);
    this.at = 0;
    this.day = { __proto__: null, length: 0 };
    this.time = { __proto__: null, length: 0 };
    this.month = undefined;
    this.half = undefined;
    this.sign = undefined;
    this.zoneHour = undefined;
    this.zoneMinute = undefined;
    this.iso = false;
  }
  get peek() {
    return this.tokens[this.at];
  }
  next() {
    const token = this.tokens[this.at];
    if (token.kind !== "end") this.at++;
    return token;
  }
  skip(kind) {
    if (this.peek.kind !== kind) return false;
    this.at++;
    return true;
  }
  fixed(length) {
    return this.peek.kind === "number" && this.peek.length === length;
  }
  addTime(n) {
    if (this.time.length >= 4) return false;
    this.time[this.time.length++] = n;
    return true;
  }
  endTime(n) {
    this.addTime(n);
    while (this.time.length < 4) this.addTime(0);
  }
  addDay(n) {
    if (this.day.length >= 3) return false;
    this.day[this.day.length++] = n;
    return true;
  }
  expectsTime(n) {
    const { length } = this.time;
    return (length === 1 && isBetween(n, 0, 59)) || (length === 2 && isBetween(n, 0, 59)) || (length === 3 && isBetween(n, 0, 999));
  }
  setZone(hours) {
    this.sign = hours < 0 ? -1 : 1;
    this.zoneHour = abs(hours);
    this.zoneMinute = 0;
  }

  // Parses an ISO date as far as possible. Returns the first token for the other rules, or undefined if the text is no date.
  isoDate() {
    if (this.peek.kind === "+" || this.peek.kind === "-") {
      const sign = this.next();
      if (!this.fixed(6)) return sign;
      const year = this.next().value;
      if (sign.kind === "-" && year === 0) return sign;
      this.addDay(sign.kind === "-" ? -year : year);
    } else if (this.fixed(4)) this.addDay(this.next().value);
    else return this.next();
    if (this.skip("-")) {
      if (!this.fixed(2) || !isBetween(this.peek.value, 1, 12)) return this.next();
      this.addDay(this.next().value);
      if (this.skip("-")) {
        if (!this.fixed(2) || !isBetween(this.peek.value, 1, 31)) return this.next();
        this.addDay(this.next().value);
      }
    }
    if (this.peek.kind === "word" && this.peek.value[0] === SEPARATOR) {
      this.next();
      if (!this.isoTime()) return undefined;
    } else if (this.peek.kind !== "end") return this.next();
    if (this.sign === undefined && this.time.length === 0) this.setZone(0);
    this.iso = true;
    return this.peek;
  }
  isoTime() {
    if (!this.fixed(2) || !isBetween(this.peek.value, 0, 24)) return false;
    const last = this.peek.value === 24 ? 0 : 59;
    this.addTime(this.next().value);
    if (!this.skip(":") || !this.fixed(2) || !isBetween(this.peek.value, 0, last)) return false;
    this.addTime(this.next().value);
    if (this.skip(":")) {
      if (!this.fixed(2) || !isBetween(this.peek.value, 0, last)) return false;
      this.addTime(this.next().value);
      if (this.skip(".")) {
        if (this.peek.kind !== "number" || (last === 0 && this.peek.value > 0)) return false;
        this.addTime(milliseconds(this.next()));
      }
    }
    const { kind, value } = this.peek;
    if (kind === "word" && value[0] === ZONE && this.peek.length === 1) {
      this.next();
      this.setZone(0);
    } else if (kind === "+" || kind === "-") {
      this.sign = this.next().kind === "-" ? -1 : 1;
      if (this.fixed(4)) {
        const both = this.next().value;
        this.zoneHour = trunc(both / 100);
        this.zoneMinute = both % 100;
      } else {
        if (!this.fixed(2)) return false;
        this.zoneHour = this.next().value;
        if (!this.skip(":") || !this.fixed(2)) return false;
        this.zoneMinute = this.next().value;
      }
      if (!isBetween(this.zoneHour, 0, 23) || !isBetween(this.zoneMinute, 0, 59)) return false;
    }
    return this.peek.kind === "end";
  }

  // Parses the rest by the other rules. Returns false if the text is no date.
  rest(first) {
    let numbers = this.day.length > 0;
    for (let token = first; token.kind !== "end"; token = this.next()) {
      const { kind, value } = token;
      if (kind === "number") {
        numbers = true;
        if (!this.number(value)) return false;
      } else if (kind === "word") {
        const { 0: type, 1: meaning } = value;
        if (type === HALF && this.time.length > 0) this.half = meaning;
        else if (type === MONTH) {
          this.month = meaning;
          this.skip("-");
        } else if (type === ZONE && numbers) this.setZone(meaning);
        else if (numbers || this.peek.kind === "number") return false;
      } else if ((kind === "+" || kind === "-") && ((this.zoneHour === 0 && this.zoneMinute === 0) || this.time.length > 0)) {
        numbers = true;
        if (!this.offset(kind)) return false;
      } else if ((kind === "+" || kind === "-" || kind === ")") && numbers) return false;
    }
    return true;
  }
  number(n) {
    if (this.skip(":")) {
      if (this.skip(":")) {
        if (this.time.length > 0) return false;
        this.addTime(n);
        this.addTime(0);
        return true;
      }
      if (!this.addTime(n)) return false;
      this.skip(".");
      return true;
    }
    if (this.skip(".") && this.expectsTime(n)) {
      this.addTime(n);
      if (this.peek.kind !== "number") return false;
      this.endTime(milliseconds(this.next()));
    } else if (this.zoneHour !== undefined && this.zoneMinute === undefined && isBetween(n, 0, 59)) this.zoneMinute = n;
    else if (this.expectsTime(n)) {
      this.endTime(n);
      const { kind, value, length } = this.peek;
      const zulu = kind === "word" && value[0] === ZONE && length === 1;
      if (kind !== "end" && kind !== "space" && kind !== "+" && kind !== "-" && !zulu) return false;
    } else {
      if (!this.addDay(n)) return false;
      this.skip("-");
    }
    return true;
  }
  offset(kind) {
    this.sign = kind === "-" ? -1 : 1;
    let n = 0;
    let length = 0;
    if (this.peek.kind === "number") ({ value: n, length } = this.next());
    if (this.peek.kind === ":") {
      this.zoneHour = n;
      this.zoneMinute = undefined;
    } else if (length === 1 || length === 2) {
      this.zoneHour = n;
      this.zoneMinute = 0;
    } else if (length === 3 || length === 4) {
      this.zoneHour = trunc(n / 100);
      this.zoneMinute = n % 100;
    } else return false;
    return true;
  }

  // Returns the time value, or NaN.
  value() {
    const { day, time } = this;
    if (day.length < 1) return NaN;
    while (day.length < 3) this.addDay(1);
    while (time.length < 4) this.addTime(0);
    let { 0: year, 1: month, 2: date } = day;
    const first = isBetween(day[0], 1, 31);
    if (this.month !== undefined) {
      month = this.month;
      [year, date] = first ? [day[1], day[0]] : [day[0], day[1]];
    } else if (!this.iso && first) [month, date, year] = [day[0], day[1], day[2]];
    if (!this.iso) year += isBetween(year, 0, 49) ? 2000 : isBetween(year, 50, 99) ? 1900 : 0;
    if (!isBetween(month, 1, 12) || !isBetween(date, 1, 31)) return NaN;
    let { 0: hour } = time;
    if (this.half !== undefined) {
      if (!isBetween(hour, 0, 12)) return NaN;
      hour = (hour % 12) + this.half;
    }
    const fits = isBetween(hour, 0, 23) && isBetween(time[1], 0, 59) && isBetween(time[2], 0, 59) && isBetween(time[3], 0, 999);
    if (!fits && (hour !== 24 || time[1] !== 0 || time[2] !== 0 || time[3] !== 0)) return NaN;
    const made = new NativeDate(0);
    apply(setUTCFullYear, made, [year, month - 1, date]);
    const offset = this.sign === undefined ? 0 : this.sign * ((this.zoneHour ?? 0) * 60 + (this.zoneMinute ?? 0));
    return apply(getTime, made, []) + UTC(1970, 0, 1, hour, time[1], time[2], time[3]) - offset * 60_000;
  }
}

function parseDate(text) {
  const parser = new Parser(text);
  const first = parser.isoDate();
  if (first === undefined) return NaN;
  if (first.kind !== "end" && !parser.rest(first)) return NaN;
  const value = parser.value();
  return abs(value) <= 8.64e15 ? value : NaN;
}

// Converts all arguments first, as the language does.
const utc = (args) => {
  for (let i = 0; i < args.length; i++) args[i] = +args[i];
  return apply(UTC, undefined, args);
};

/** Installs `Date`. `refuse` refuses to read the clock; `time` does too, except while a package loads. */
export function installDate(refuse, time) {
  function SteadDate(...args) {
    if (new.target === undefined) refuse();
    let value = args.length === 0 ? time() : args[0];
    if (args.length > 1) value = utc(args);
    else if (typeof value === "object" && value !== null) value = isDate(value) ? apply(getTime, value, []) : toPrimitive(value);
    if (typeof value === "string") value = parseDate(value);
    return construct(NativeDate, [value], new.target === SteadDate ? NativeDate : new.target);
  }
  replaceConstructor("Date", NativeDate, SteadDate);
  defineProperty(SteadDate, "now", { value: { now: () => time() }.now, writable: true, configurable: true });
  const { parse } = { parse: (text) => parseDate(toText(text)) };
  const { all } = { all: (...args) => utc(args) };
  defineProperty(all, "name", { value: "UTC", configurable: true });
  defineProperty(all, "length", { value: 7, configurable: true });
  defineProperty(SteadDate, "UTC", { value: all, writable: true, configurable: true });
  defineProperty(SteadDate, "parse", { value: parse, writable: true, configurable: true });
}

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
  defineProperty(value, "name", { value: name, configurable: true });
  defineProperty(value, "length", { value: length, configurable: true });
  defineProperty(prototype, name, { value, writable: true, configurable: true });
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
