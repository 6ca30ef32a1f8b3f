// Text that depends on a locale: `Intl`, `toLocaleString`, `localeCompare`. The locale of every program is `en-US`.
//
// Their implementation is loaded when a program first uses it.

import { host, apply, defineProperty, replace } from "stead:host";

let loaded;
export const intl = () => (loaded ??= host.lazy("stead:intl"));

defineProperty(globalThis, "Intl", {
  get() {
    const value = intl().Intl;
    defineProperty(globalThis, "Intl", { value, writable: true, configurable: true, enumerable: false });
    return value;
  },
  set(value) {
    defineProperty(globalThis, "Intl", { value, writable: true, configurable: true, enumerable: false });
  },
  configurable: true,
});

const { valueOf: numberOf } = Number.prototype;
const { valueOf: bigintOf } = BigInt.prototype;
const { toUpperCase, toLowerCase, localeCompare } = String.prototype;
replace(Number.prototype, "toLocaleString", {
  toLocaleString(locales, options) {
    return intl().formatNumber(apply(numberOf, this, []), locales, options);
  },
}.toLocaleString);
replace(BigInt.prototype, "toLocaleString", {
  toLocaleString(locales, options) {
    return intl().formatNumber(apply(bigintOf, this, []), locales, options);
  },
}.toLocaleString);
replace(String.prototype, "localeCompare", {
  localeCompare(that, locales, options) {
    if (typeof that === "function" || typeof this === "function") return apply(localeCompare, this, [that]);
    if (this === undefined || this === null) return apply(localeCompare, this, [that]);
    return intl().compareText(`${this}`, `${that}`, locales, options);
  },
}.localeCompare);
for (const [name, native] of [["toLocaleUpperCase", toUpperCase], ["toLocaleLowerCase", toLowerCase]]) {
  const unknownLocale = String.prototype[name];
  replace(String.prototype, name, {
    call(locales) {
      if (typeof this === "function") return apply(unknownLocale, this, [locales]);
      if (locales !== undefined) intl().checkLocale(locales);
      return apply(native, this, []);
    },
  }.call);
}
