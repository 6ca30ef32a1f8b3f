// node:url: the classes of the web, file URLs, and the older functions `parse`, `format` and `resolve`.
"use strict";

const querystring = require("node:querystring");
const path = require("node:path");

const { URL, URLSearchParams } = globalThis;

function fileURLToPath(given) {
  const url = typeof given === "string" ? new URL(given) : given;
  if (url.protocol !== "file:") {
    const error = new TypeError("The URL must be of scheme file");
    error.code = "ERR_INVALID_URL_SCHEME";
    throw error;
  }
  return decodeURIComponent(url.pathname);
}
function pathToFileURL(given) {
  let resolved = path.resolve(given);
  if (given.endsWith("/") && !resolved.endsWith("/")) resolved += "/";
  const url = new URL("file:///");
  url.pathname = resolved.replaceAll("%", "%25").replaceAll("\\", "%5C").replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll("\t", "%09").replaceAll("?", "%3F").replaceAll("#", "%23");
  return url;
}
function urlToHttpOptions(url) {
  const options = {
    protocol: url.protocol, hostname: url.hostname.replace(/^\[|\]$/g, ""), hash: url.hash, search: url.search,
    pathname: url.pathname, path: `${url.pathname}${url.search}`, href: url.href,
  };
  if (url.port !== "") options.port = Number(url.port);
  if (url.username || url.password) options.auth = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return options;
}

function Url() {
  for (const key of ["protocol", "slashes", "auth", "host", "port", "hostname", "hash", "search", "query", "pathname", "path", "href"]) this[key] = null;
}
const SLASHED = ["http:", "https:", "ftp:", "gopher:", "file:", "ws:", "wss:"];

function parse(text, withQuery, slashesDenoteHost) {
  if (text instanceof Url) return text;
  if (typeof text !== "string") {
    const error = new TypeError(`The "url" argument must be of type string. Received ${text === null ? "null" : typeof text}`);
    error.code = "ERR_INVALID_ARG_TYPE";
    throw error;
  }
  const url = new Url();
  let rest = text.trim();
  const hash = rest.indexOf("#");
  if (hash >= 0) [url.hash, rest] = [rest.slice(hash), rest.slice(0, hash)];
  const question = rest.indexOf("?");
  if (question >= 0) [url.search, rest] = [rest.slice(question), rest.slice(0, question)];
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*:/.exec(rest)?.[0].toLowerCase();
  if (scheme !== undefined) {
    url.protocol = scheme;
    rest = rest.slice(scheme.length);
  }
  if (rest.startsWith("//") && (scheme !== undefined || slashesDenoteHost) && scheme !== "javascript:") {
    url.slashes = true;
    const end = rest.slice(2).search(/[/\\]/);
    let authority = end < 0 ? rest.slice(2) : rest.slice(2, end + 2);
    rest = end < 0 ? "" : rest.slice(end + 2);
    const at = authority.lastIndexOf("@");
    if (at >= 0) {
      url.auth = decodeURIComponent(authority.slice(0, at));
      authority = authority.slice(at + 1);
    }
    const port = /:(\d*)$/.exec(authority);
    if (port !== null) {
      if (port[1] !== "") url.port = port[1];
      authority = authority.slice(0, port.index);
    }
    url.hostname = authority.replace(/^\[|\]$/g, "").toLowerCase();
    url.host = authority.toLowerCase() + (url.port === null ? "" : `:${url.port}`);
    if (rest === "" && SLASHED.includes(scheme)) rest = "/";
  }
  url.pathname = rest === "" ? null : rest.replace(/[ "<>\\^`{|}]/g, (character) => encodeURIComponent(character));
  if (withQuery) url.query = querystring.parse(url.search === null ? "" : url.search.slice(1));
  else if (url.search !== null) url.query = url.search.slice(1);
  if (withQuery && url.search === null) url.search = "";
  if (url.pathname !== null || url.search) url.path = (url.pathname ?? "") + (url.search ?? "");
  url.href = format(url);
  return url;
}

function format(url, options) {
  if (typeof url === "string") return parse(url).href;
  if (url instanceof URL) {
    const copy = new URL(url.href);
    if (options?.fragment === false) copy.hash = "";
    if (options?.search === false) copy.search = "";
    if (options?.auth === false) copy.username = copy.password = "";
    return copy.href;
  }
  let protocol = url.protocol || "";
  if (protocol && !protocol.endsWith(":")) protocol += ":";
  const auth = url.auth ? `${encodeURIComponent(url.auth).replace(/%3A/i, ":")}@` : "";
  const name = url.hostname ? (url.hostname.includes(":") && !url.hostname.startsWith("[") ? `[${url.hostname}]` : url.hostname) : "";
  const host = url.host ? auth + url.host : url.hostname ? `${auth}${name}${url.port ? `:${url.port}` : ""}` : null;
  const query = url.query !== null && typeof url.query === "object" ? querystring.stringify(url.query) : "";
  let search = url.search || (query && `?${query}`) || "";
  let pathname = (url.pathname || "").replace(/[?#]/g, (character) => encodeURIComponent(character));
  let slashes = "";
  if (host !== null || url.slashes || SLASHED.includes(protocol)) {
    if (url.slashes || host !== null) {
      slashes = "//";
      if (pathname && !pathname.startsWith("/")) pathname = `/${pathname}`;
    } else if (protocol === "file:") slashes = "//";
  }
  let hash = url.hash || "";
  if (hash && !hash.startsWith("#")) hash = `#${hash}`;
  if (search && !search.startsWith("?")) search = `?${search}`;
  return `${protocol}${slashes}${host ?? ""}${pathname}${search.replaceAll("#", "%23")}${hash}`;
}
Url.prototype.format = function () {
  return format(this);
};

function resolve(from, to) {
  const base = new URL(from, "resolve:///");
  const url = new URL(to, base);
  if (url.protocol !== "resolve:") return url.href;
  return `${from.startsWith("/") || to.startsWith("/") ? url.pathname : url.pathname.replace(/^\//, "")}${url.search}${url.hash}`;
}
function resolveObject(from, to) {
  return parse(resolve(from, to));
}
const domainToASCII = (name) => {
  try {
    return new URL(`ws://${name}`).hostname;
  } catch {
    return "";
  }
};
const domainToUnicode = () => require("node:internal/unavailable").refuse("`url.domainToUnicode`", "write the name in Unicode");
module.exports = { Url, URL, URLSearchParams, parse, format, resolve, resolveObject, fileURLToPath, pathToFileURL, urlToHttpOptions, domainToASCII, domainToUnicode };
