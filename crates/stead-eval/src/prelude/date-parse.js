// Parses the text of a date as V8 does: first as an ISO date, then by rules that accept most ways to write a date.
//
// Loaded when a program first parses a date.

import { NativeDate, abs, apply, charCodeAt, trunc } from "stead:host";
import { UTC, getTime, setUTCFullYear } from "stead:date";

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

/** Returns the time value of a text, or NaN. */
export function parseDate(text) {
  const parser = new Parser(text);
  const first = parser.isoDate();
  if (first === undefined) return NaN;
  if (first.kind !== "end" && !parser.rest(first)) return NaN;
  const value = parser.value();
  return abs(value) <= 8.64e15 ? value : NaN;
}
