// `Intl.Segmenter` for graphemes of Latin text, signs and emoji. Other scripts, words and sentences are refused.

import { known, locale, option, unsupported } from "stead:intl-locale";

const KNOWN = /^[\0-\u036f\u1e00-\u1eff\u2000-\u206f\u20a0-\u20cf\u2100-\u2bff\ufe0e\ufe0f\u{1f000}-\u{1faff}]*$/u;
const GRAPHEME = /\r\n|\p{RI}\p{RI}|\p{Extended_Pictographic}(?:[\u0300-\u036f\ufe0e\ufe0f\u{1f3fb}-\u{1f3ff}]*(?:\u200d\p{Extended_Pictographic})?)*[\u200d\u200c]*|[\r\n\0-\x1f\x7f-\x9f\u2028\u2029\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f]|[^](?:[\u0300-\u036f\u200c\u200d\ufe0e\ufe0f]|[\u{1f3fb}-\u{1f3ff}])*/gu;

export class Segmenter {
  #locale;
  constructor(locales, options) {
    known(options);
    this.#locale = locale(locales);
    const granularity = option(options, "granularity", ["grapheme", "word", "sentence"], "grapheme");
    if (granularity !== "grapheme") unsupported(`the granularity \`${granularity}\` of \`Intl.Segmenter\``, "split the text with a regular expression");
  }
  segment(input) {
    input = `${input}`;
    if (!KNOWN.test(input)) unsupported("`Intl.Segmenter` on this script", "split the text with a regular expression");
    const found = [...input.matchAll(GRAPHEME)].map((match) => ({ segment: match[0], index: match.index, input }));
    return {
      containing: (index = 0) => found.find((one) => index >= one.index && index < one.index + one.segment.length),
      [Symbol.iterator]: () => found[Symbol.iterator](),
    };
  }
  resolvedOptions() {
    return { locale: this.#locale, granularity: "grapheme" };
  }
}
