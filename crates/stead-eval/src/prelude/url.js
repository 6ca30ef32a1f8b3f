// URL and URLSearchParams as in browsers. Arguments are converted to text first, which unknowns refuse.

import { NativeTypeError, defineProperty, setMember, toText } from "stead:host";
import {
  FRAGMENT, PORTS, QUERY, USERINFO, decode, encode, parse, pathOf, percent, segments, special,
} from "stead:url-parse";

export class URL {
  #url;
  #params;
  constructor(url, base) {
    this.#url = parse(toText(url), base === undefined ? undefined : parse(toText(base)));
    this.#params = new URLSearchParams(this.#url.query ?? "");
    watch(this.#params, () => {
      const text = toText(this.#params);
      this.#url.query = text === "" ? undefined : text;
    });
  }
  static canParse(url, base) {
    return URL.parse(url, base) !== null;
  }
  static parse(url, base) {
    const texts = [toText(url), base === undefined ? undefined : toText(base)];
    try {
      return new URL(...texts);
    } catch {
      return null;
    }
  }
  // Sets a part by parsing a URL that contains it.
  #set(text, part) {
    let changed;
    try {
      changed = parse(text);
    } catch {
      return; // A setter ignores invalid values, as in browsers.
    }
    if (special(changed.protocol) === special(this.#url.protocol)) part(changed);
  }
  get href() {
    const { protocol, host, port, query, hash } = this.#url;
    const before = host === null ? (this.#url.path[0] === "" && this.#url.path.length > 1 ? "/." : "") : `//${this.#userinfo()}${host}${port && `:${port}`}`;
    return `${protocol}${before}${pathOf(this.#url)}${query === undefined ? "" : `?${query}`}${hash === undefined ? "" : `#${hash}`}`;
  }
  set href(text) {
    this.#url = parse(toText(text));
    renew(this.#params, this.#url.query ?? "");
  }
  #userinfo() {
    const { username, password } = this.#url;
    return username === "" && password === "" ? "" : `${username}${password && `:${password}`}@`;
  }
  get origin() {
    const { protocol, opaque } = this.#url;
    if (protocol === "blob:") {
      const inner = URL.parse(opaque ?? "");
      return inner?.protocol === "http:" || inner?.protocol === "https:" ? inner.origin : "null";
    }
    return special(protocol) && protocol !== "file:" ? `${protocol}//${this.host}` : "null";
  }
  get protocol() {
    return this.#url.protocol;
  }
  set protocol(text) {
    const { protocol: before, host, port, username, password } = this.#url;
    if (before === "file:" && host === "") return;
    this.#set(`${toText(text).replace(/:[^]*$/, "")}://host`, ({ protocol }) => {
      if (protocol === "file:" && (username !== "" || password !== "" || port !== "")) return;
      this.#url.protocol = protocol;
      if (this.#url.port === PORTS[protocol]) this.#url.port = "";
    });
  }
  get username() {
    return this.#url.username;
  }
  set username(text) {
    if (this.#url.host) this.#url.username = encode(text, USERINFO);
  }
  get password() {
    return this.#url.password;
  }
  set password(text) {
    if (this.#url.host) this.#url.password = encode(text, USERINFO);
  }
  get host() {
    const { host, port } = this.#url;
    return `${host ?? ""}${port && `:${port}`}`;
  }
  set host(text) {
    if (this.#url.opaque !== null) return;
    const [, name, , digits = ""] = /^(\[[^\]]*\]|[^:]*)(:(\d*))?/.exec(before(toText(text)));
    const file = this.#url.protocol === "file:";
    if (name.includes("@") || (digits !== "" && file)) return;
    this.#set(`${this.#url.protocol}//${name}${digits && `:${digits}`}`, ({ host, port }) => {
      this.#url.host = host;
      if (digits !== "") this.#url.port = port;
    });
  }
  get hostname() {
    return this.#url.host ?? "";
  }
  set hostname(text) {
    const name = before(toText(text));
    if (this.#url.opaque !== null || name.includes("@") || /:/.test(name.replace(/^\[.*\]/, ""))) return;
    this.#set(`${this.#url.protocol}//${name}`, ({ host }) => (this.#url.host = host));
  }
  get port() {
    return this.#url.port;
  }
  set port(value) {
    const [digits] = /^\d*/.exec(toText(value));
    if (!this.#url.host || (digits === "" && toText(value) !== "") || +digits > 65535) return;
    this.#url.port = digits === "" || toText(+digits) === PORTS[this.#url.protocol] ? "" : toText(+digits);
  }
  get pathname() {
    return pathOf(this.#url);
  }
  set pathname(text) {
    if (this.#url.opaque !== null) return;
    const path = special(this.#url.protocol) ? toText(text).replaceAll("\\", "/") : toText(text);
    this.#url.path = segments(path, []);
  }
  get search() {
    return this.#url.query ? `?${this.#url.query}` : "";
  }
  set search(text) {
    const given = toText(text);
    this.#url.query = given === "" ? undefined : encode(given.replace(/^\?/, ""), special(this.#url.protocol) ? `${QUERY}'` : QUERY);
    this.#shorten();
    renew(this.#params, this.#url.query ?? "");
  }
  get searchParams() {
    return this.#params;
  }
  get hash() {
    return this.#url.hash ? `#${this.#url.hash}` : "";
  }
  set hash(text) {
    const given = toText(text);
    this.#url.hash = given === "" ? undefined : encode(given.replace(/^#/, ""), FRAGMENT);
    this.#shorten();
  }
  // Spaces at the end of an opaque path are kept only before another part.
  #shorten() {
    const { opaque, query, hash } = this.#url;
    if (opaque !== null && query === undefined && hash === undefined) this.#url.opaque = opaque.replace(/ +$/, "");
  }
  toString() {
    return this.href;
  }
  toJSON() {
    return this.href;
  }
}

// Returns the part of a text that a host can have.
const before = (text) => text.replace(/[\t\n\r]/g, "").replace(/[/?#\\][^]*$/, "");

// Links a URL and its parameters, so that a change of one updates the other.
let watch;
let renew;

export class URLSearchParams {
  #pairs = [];
  #changed = () => {};
  static {
    watch = (params, changed) => (params.#changed = changed);
    renew = (params, text) => (params.#pairs = pairsOf(text));
  }
  constructor(init = "") {
    if (typeof init === "object" && init !== null) {
      if (typeof init[Symbol.iterator] !== "function") {
        // A record has each name once: unpaired surrogates make different keys equal.
        for (const [name, value] of Object.entries(init)) this.set(name, value);
        return;
      }
      this.#pairs = [...init].map((given) => {
        const pair = [...given];
        if (pair.length !== 2) throw tuple();
        return [textOf(pair[0]), textOf(pair[1])];
      });
    } else if (init !== null) this.#pairs = pairsOf(toText(init).replace(/^\?/, ""));
  }
  get size() {
    return this.#pairs.length;
  }
  append(name, value) {
    this.#pairs.push([textOf(name), textOf(value)]);
    this.#changed();
  }
  delete(name, value) {
    const matches = matcher(name, value);
    this.#pairs = this.#pairs.filter((pair) => !matches(pair));
    this.#changed();
  }
  get(name) {
    return this.#pairs.find(matcher(name))?.[1] ?? null;
  }
  getAll(name) {
    return this.#pairs.filter(matcher(name)).map(([, value]) => value);
  }
  has(name, value) {
    return this.#pairs.some(matcher(name, value));
  }
  set(name, value) {
    const [key, text] = [textOf(name), textOf(value)];
    const at = this.#pairs.findIndex(matcher(key));
    if (at < 0) this.#pairs.push([key, text]);
    else {
      this.#pairs[at] = [key, text];
      this.#pairs = this.#pairs.filter(([other], i) => i <= at || other !== key);
    }
    this.#changed();
  }
  sort() {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#changed();
  }
  forEach(callback, self) {
    for (const [name, value] of this.#pairs) callback.call(self, value, name, this);
  }
  *entries() {
    for (const [name, value] of this.#pairs) yield [name, value];
  }
  *keys() {
    for (const [name] of this.#pairs) yield name;
  }
  *values() {
    for (const [, value] of this.#pairs) yield value;
  }
  // One function with two names, as in the standard.
  static {
    setMember(this.prototype, Symbol.iterator, this.prototype.entries);
  }
  toString() {
    return this.#pairs.map((pair) => pair.map(formEncode).join("=")).join("&");
  }
}

// Unpaired surrogates become the replacement character.
const textOf = (value) => toText(value).toWellFormed();
function tuple() {
  const error = new NativeTypeError("Each query pair must be an iterable [name, value] tuple");
  error.code = "ERR_INVALID_TUPLE";
  return error;
}

function matcher(name, value) {
  const [key, text] = [textOf(name), value === undefined ? undefined : textOf(value)];
  return (pair) => pair[0] === key && (text === undefined || pair[1] === text);
}

function pairsOf(text) {
  const parts = text.split("&").filter((part) => part !== "");
  return parts.map((part) => {
    const [, name, , value = ""] = /^([^=]*)(=([^]*))?$/.exec(part);
    return [name, value].map((piece) => decode(piece.replaceAll("+", " ")));
  });
}

function formEncode(text) {
  let out = "";
  for (const character of text.toWellFormed()) {
    if (character === " ") out += "+";
    else out += /[\w*.-]/.test(character) ? character : percent(character);
  }
  return out;
}
