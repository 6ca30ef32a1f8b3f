// Functions of numbers with the digits that V8 gives: text in a radix other than 10, and `Math.hypot`.

import { apply, replace } from "stead:host";

const { toString, valueOf } = Number.prototype;
const { floor, abs } = Math;
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";
const bits = new Float64Array(1);
const words = new BigUint64Array(bits.buffer);

// Returns the next larger number.
function after(value) {
  bits[0] = value;
  words[0] += 1n;
  return bits[0];
}

function inRadix(value, radix) {
  let integer = floor(value);
  let fraction = value - integer;
  let delta = 0.5 * (after(value) - value);
  if (delta < 5e-324) delta = 5e-324;
  let digits = "";
  if (fraction >= delta) {
    do {
      fraction *= radix;
      delta *= radix;
      const digit = floor(fraction);
      digits += DIGITS[digit];
      fraction -= digit;
      if ((fraction > 0.5 || (fraction === 0.5 && digit % 2 === 1)) && fraction + delta > 1) {
        const raised = raise(digits, radix);
        if (raised === "") integer += 1;
        digits = raised;
        break;
      }
    } while (fraction >= delta);
  }
  let text = "";
  while (integer / radix >= 2 ** 53) {
    integer /= radix;
    text = `0${text}`;
  }
  do {
    const digit = integer % radix;
    text = DIGITS[floor(digit)] + text;
    integer = (integer - digit) / radix;
  } while (integer > 0);
  return digits === "" ? text : `${text}.${digits}`;
}

// Adds one to the last digit; digits that overflow are dropped.
function raise(digits, radix) {
  for (let at = digits.length - 1; at >= 0; at--) {
    let digit = 0;
    while (DIGITS[digit] !== digits[at]) digit++;
    if (digit + 1 < radix) {
      let kept = "";
      for (let i = 0; i < at; i++) kept += digits[i];
      return kept + DIGITS[digit + 1];
    }
  }
  return "";
}

replace(Number.prototype, "toString", {
  toString(radix) {
    if (radix === undefined || radix === 10 || typeof this === "function") return apply(toString, this, [radix]);
    const text = apply(toString, this, [radix]);
    const value = apply(valueOf, this, []);
    if (value !== value || abs(value) === Infinity || (floor(value) === value && abs(value) <= 2 ** 53)) return text;
    const base = +radix | 0;
    if (base === 10) return text;
    return value < 0 ? `-${inRadix(-value, base)}` : inRadix(value, base);
  },
}.toString);

const { hypot } = Math;
const { sqrt } = Math;
replace(Math, "hypot", {
  hypot(...values) {
    for (let i = 0; i < values.length; i++) if (typeof values[i] === "function") return apply(hypot, undefined, values);
    let most = 0;
    let infinite = false;
    for (let i = 0; i < values.length; i++) {
      values[i] = abs(+values[i]);
      if (values[i] === Infinity) infinite = true;
      if (values[i] !== values[i] || values[i] > most) most = most !== most ? most : values[i];
    }
    if (infinite || most === 0 || most !== most) return infinite ? Infinity : most;
    let sum = 0;
    let compensation = 0;
    for (let i = 0; i < values.length; i++) {
      const part = values[i] / most;
      const summand = part * part - compensation;
      const next = sum + summand;
      compensation = next - sum - summand;
      sum = next;
    }
    return sqrt(sum) * most;
  },
}.hypot);
