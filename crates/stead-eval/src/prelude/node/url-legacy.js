// `parse`, `format` and `resolve` of node:url, which treat URLs as texts of parts. Their results are those of Node.js, odd ones too.
"use strict";

const querystring = require("node:querystring");
const { coded, invalidArgument } = require("node:internal/errors");

const PARTS = ["protocol", "slashes", "auth", "host", "port", "hostname", "hash", "search", "query", "pathname", "path", "href"];
function Url() {
  for (const key of PARTS) this[key] = null;
}
const SLASHED = new Set(["http", "https", "ftp", "gopher", "file", "ws", "wss"].flatMap((name) => [name, `${name}:`]));
const HOSTLESS = new Set(["javascript", "javascript:"]);
const isV6 = (name) => name.startsWith("[") && name.endsWith("]");
const SPACE = /[\0-\x20\xa0\ufeff]/;
const FORBIDDEN = /[\0\t\n\r #%/:<>?@[\\\]^|]/;

// Removes spaces around a text, and turns backslashes before `?` and `#` into slashes.
function tidy(text) {
  let [start, end] = [0, text.length];
  while (start < end && SPACE.test(text[start])) start++;
  while (end > start && SPACE.test(text[end - 1])) end--;
  const whole = text.slice(start, end);
  const split = whole.search(/[?#]/);
  const before = split < 0 ? whole : whole.slice(0, split);
  return before.replaceAll("\\", "/") + whole.slice(before.length);
}

const invalidUrl = (input) => Object.assign(coded(new TypeError("Invalid URL"), "ERR_INVALID_URL"), { input });

// Moves the host of a URL from the rest of its text to its parts, and returns what follows.
function takeHost(url, text, input) {
  let rest = text;
  let [at, other] = [-1, -1];
  for (let i = 0; i < rest.length; i++) {
    const character = rest[i];
    if ("\t\n\r".includes(character)) {
      rest = rest.slice(0, i) + rest.slice(i + 1);
      i--;
    } else if (character === "@") [at, other] = [i, -1];
    else if ("#/?".includes(character)) {
      if (other < 0) other = i;
      break;
    } else if (" \"%';<>\\^`{|}".includes(character) && other < 0) other = i;
  }
  if (at >= 0) url.auth = decodeURIComponent(rest.slice(0, at));
  let host = other < 0 ? rest.slice(at + 1) : rest.slice(at + 1, other);
  rest = other < 0 ? "" : rest.slice(other);
  const port = /:[0-9]*$/.exec(host);
  if (port !== null) {
    if (port[0] !== ":") url.port = port[0].slice(1);
    host = host.slice(0, port.index);
  }
  const v6 = isV6(host);
  if (!v6) {
    const wrong = host.search(/[#/:?\\]/);
    if (wrong >= 0) [host, rest] = [host.slice(0, wrong), `/${host.slice(wrong)}${rest}`];
  }
  host = host.length > 255 ? "" : host.toLowerCase();
  if (v6 ? /[\0\t\n\r #%/<>?@\\^|]/.test(host) : host !== "" && FORBIDDEN.test(host)) throw invalidUrl(input);
  if (/[^\0-\x7f]/.test(host)) require("node:internal/unavailable").refuse("a host with letters beyond ASCII", "write it in punycode (`xn--…`)");
  url.host = host + (url.port === null ? "" : `:${url.port}`);
  url.hostname = v6 ? host.slice(1, -1) : host;
  return v6 && rest[0] !== "/" ? `/${rest}` : rest;
}

const ESCAPED = /[\t\n\r "'<>\\^`{|}]/g;
const percent = (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

function parse(text, withQuery, slashesDenoteHost) {
  if (text instanceof Url) return text;
  const url = new Url();
  url.parse(text, withQuery, slashesDenoteHost);
  return url;
}
Url.prototype.parse = function (input, withQuery, slashesDenoteHost) {
  if (typeof input !== "string") throw invalidArgument("url", "of type string", input);
  let rest = tidy(input);
  const simple = slashesDenoteHost || /[#@]/.test(input) ? null : /^(\/\/?(?!\/)[^?\s]*)(\?[^\s]*)?$/.exec(rest);
  if (simple !== null) return simplePath(this, rest, simple, withQuery);
  const written = /^[a-z0-9.+-]+:/i.exec(rest)?.[0];
  const protocol = written?.toLowerCase();
  if (written !== undefined) {
    this.protocol = protocol;
    rest = rest.slice(written.length);
  }
  let slashes = false;
  if (slashesDenoteHost || written !== undefined || /^\/\/[^@/]+@[^@/]+/.test(rest)) {
    slashes = rest.startsWith("//");
    if (slashes && !HOSTLESS.has(protocol)) {
      rest = rest.slice(2);
      this.slashes = true;
    }
  }
  const hasHost = slashes || (written !== undefined && !SLASHED.has(written));
  if (hasHost && !HOSTLESS.has(protocol)) rest = takeHost(this, rest, input);
  if (!HOSTLESS.has(protocol)) rest = rest.replace(ESCAPED, percent);
  const [, name, search, hash] = /^([^?#]*)(\?[^#]*)?(#[^]*)?$/.exec(rest);
  if (hash !== undefined) this.hash = hash;
  if (search !== undefined) {
    this.search = search;
    this.query = withQuery ? querystring.parse(search.slice(1)) : search.slice(1);
  } else if (withQuery) this.query = { __proto__: null };
  if (name !== "") this.pathname = name;
  if (SLASHED.has(protocol) && this.hostname && !this.pathname) this.pathname = "/";
  if (this.pathname || this.search) this.path = (this.pathname ?? "") + (this.search ?? "");
  this.href = this.format();
  return this;
};
// A path without protocol and host is kept as it is written.
function simplePath(url, rest, [, name, search], withQuery) {
  url.path = url.href = rest;
  url.pathname = name;
  if (search !== undefined) {
    url.search = search;
    url.query = withQuery ? querystring.parse(search.slice(1)) : search.slice(1);
  } else if (withQuery) url.query = { __proto__: null };
  return url;
}

const AUTH = /[A-Za-z0-9\-_.!~*'():]/;
const encodeAuth = (text) => Array.from(text, (character) => (AUTH.test(character) && character.length === 1 ? character : encodeURIComponent(character))).join("");

/** Formats the parts of a URL. */
function formatUrl(url) {
  const auth = url.auth ? `${encodeAuth(url.auth)}@` : "";
  let protocol = url.protocol || "";
  let host = "";
  if (url.host) host = auth + url.host;
  else if (url.hostname) {
    host = auth + (url.hostname.includes(":") && !isV6(url.hostname) ? `[${url.hostname}]` : url.hostname);
    if (url.port) host += `:${url.port}`;
  }
  const query = url.query !== null && typeof url.query === "object" ? querystring.stringify(url.query) : "";
  let search = url.search || (query && `?${query}`) || "";
  if (protocol && !protocol.endsWith(":")) protocol += ":";
  let pathname = (url.pathname || "").replace(/[?#]/g, percent);
  if (url.slashes || SLASHED.has(protocol)) {
    if (url.slashes || host) {
      if (pathname && !pathname.startsWith("/")) pathname = `/${pathname}`;
      host = `//${host}`;
    } else if (protocol.startsWith("file")) host = "//";
  }
  let hash = url.hash || "";
  if (hash && !hash.startsWith("#")) hash = `#${hash}`;
  search = search.replaceAll("#", "%23");
  if (search && !search.startsWith("?")) search = `?${search}`;
  return protocol + host + pathname + search + hash;
}
Url.prototype.format = function () {
  return formatUrl(this);
};
Url.prototype.resolveObject = function (to) {
  const { resolve: seen } = require("node:internal/url-resolve");
  return seen(this, typeof to === "string" ? parse(to, false, true) : to, Url, SLASHED, HOSTLESS);
};
Url.prototype.resolve = function (to) {
  return this.resolveObject(parse(to, false, true)).format();
};
const resolve = (from, to) => parse(from, false, true).resolve(to);
const resolveObject = (from, to) => (from ? parse(from, false, true).resolveObject(to) : to);
module.exports = { Url, parse, formatUrl, resolve, resolveObject };
