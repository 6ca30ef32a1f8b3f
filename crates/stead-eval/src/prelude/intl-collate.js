// `Intl.Collator` for the locale `en-US`: the root order of CLDR for ASCII, accented Latin letters and common signs.
//
// A text with other characters is refused, unless the order does not depend on them.

import { known, locale, option, unsupported } from "stead:intl-locale";

// Signs in their order. Digits and letters follow them.
const SIGNS = "\t\n\v\f\r\u0085 _-‒–—,;:!¡?¿.'\"«»()[]{}§¶@*/\\&#%†‡•`^°©®←→↑↓+±÷×<=>¬|¦~−¢$£¥€";
const DIGITS = "0123456789";
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
// Accents in their order.
const ACCENTS = "\u0301\u0300\u0306\u0302\u030c\u030a\u0308\u030b\u0303\u0307\u0338\u0327\u0328\u0304";
const NUMBER = 1000;
const LETTER = 1_000_000;

const primaries = new Map();
[...SIGNS].forEach((sign, at) => primaries.set(sign, at + 1));
[...DIGITS].forEach((digit, at) => primaries.set(digit, 500 + at));
[...LETTERS].forEach((letter, at) => primaries.set(letter, LETTER + at));
const secondaries = new Map([...ACCENTS].map((accent, at) => [accent, at + 2]));

const isDigit = (char) => char >= "0" && char <= "9";

// Returns the weights of a text on each level.
function weights(text, numeric) {
  const all = { primary: [], secondary: [], tertiary: [] };
  const decomposed = /^[\0-\x7f]*$/.test(text) ? text : text.normalize("NFD").replace(/ø/g, "o\u0338").replace(/Ø/g, "O\u0338");
  for (let at = 0; at < decomposed.length; at++) {
    const char = decomposed[at];
    const accent = secondaries.get(char);
    if (accent !== undefined) {
      all.secondary.push(accent);
      all.tertiary.push(0);
      continue;
    }
    if (numeric && isDigit(char)) {
      const start = at;
      while (at + 1 < decomposed.length && isDigit(decomposed[at + 1])) at++;
      const digits = decomposed.slice(start, at + 1).replace(/^0+/, "");
      add(all, NUMBER + digits.length, 0);
      for (const digit of digits) add(all, 500 + Number(digit), 0);
      continue;
    }
    const lower = char >= "A" && char <= "Z" ? LETTERS[char.charCodeAt(0) - 65] : char;
    const primary = primaries.get(lower);
    if (primary === undefined) refuseText(decomposed, at);
    add(all, primary, lower === char ? 0 : 1);
  }
  return all;
}

function add(all, primary, tertiary) {
  all.primary.push(primary);
  all.secondary.push(1);
  all.tertiary.push(tertiary);
}

function refuseText(text, at) {
  const code = text.codePointAt(at).toString(16).toUpperCase().padStart(4, "0");
  unsupported(`the order of a text with U+${code}`, "compare with `<` and `>`, which use the numbers of the characters");
}

function compareLevel(left, right) {
  const { length } = left.length < right.length ? left : right;
  for (let i = 0; i < length; i++) if (left[i] !== right[i]) return left[i] < right[i] ? -1 : 1;
  return left.length === right.length ? 0 : left.length < right.length ? -1 : 1;
}

class Order {
  #used;
  constructor(locales, options) {
    known(options);
    if (options === null) throw new TypeError("Cannot convert undefined or null to object");
    this.#used = { locale: locale(locales) };
    this.#used.usage = option(options, "usage", ["sort", "search"], "sort");
    if (this.#used.usage === "search") unsupported("the usage `search` of `Intl.Collator`", "use `sort`");
    this.#used.sensitivity = option(options, "sensitivity", ["base", "accent", "case", "variant"], "variant");
    if (options?.ignorePunctuation) unsupported("the option `ignorePunctuation` of `Intl.Collator`", "remove the punctuation before the comparison");
    this.#used.ignorePunctuation = false;
    this.#used.collation = "default";
    this.#used.numeric = Boolean(options?.numeric);
    this.#used.caseFirst = option(options, "caseFirst", ["upper", "lower", "false"], "false");
    if (options?.collation !== undefined && options.collation !== "default") unsupported("the option `collation` of `Intl.Collator`", "leave it out");
  }
  compare(left, right) {
    [left, right] = [`${left}`, `${right}`];
    if (left === right) return 0;
    const { numeric, sensitivity, caseFirst } = this.#used;
    const [a, b] = [weights(left, numeric), weights(right, numeric)];
    let order = compareLevel(a.primary, b.primary);
    if (order === 0 && (sensitivity === "accent" || sensitivity === "variant")) order = compareLevel(a.secondary, b.secondary);
    if (order === 0 && sensitivity === "variant") order = compareLevel(a.tertiary, b.tertiary) * (caseFirst === "upper" ? -1 : 1);
    if (order === 0 && sensitivity === "case") order = compareCase(a, b) * (caseFirst === "upper" ? -1 : 1);
    return order;
  }
  resolvedOptions() {
    return { ...this.#used };
  }
}

// Compares the case of the letters and ignores their accents.
function compareCase(a, b) {
  const letters = ({ secondary, tertiary }) => tertiary.filter((_, at) => secondary[at] === 1);
  return compareLevel(letters(a), letters(b));
}

export function Collator(locales, options) {
  if (new.target === undefined) return new Collator(locales, options);
  return Reflect.construct(Order, [locales, options], new.target);
}
Object.defineProperty(Collator, "prototype", { value: Order.prototype, writable: false });
Object.defineProperty(Order.prototype, "constructor", { value: Collator });
const { compare } = Order.prototype;
Object.defineProperty(Order.prototype, "compare", {
  get() {
    return (left, right) => Reflect.apply(compare, this, [left, right]);
  },
  configurable: true,
});
