// node:url: the classes of the web, file URLs, and the older functions `parse`, `format` and `resolve`.
"use strict";

const path = require("node:path");
const { coded, invalidArgument } = require("node:internal/errors");
const { Url, parse, formatUrl, resolve, resolveObject } = require("node:internal/url-legacy");

const { URL, URLSearchParams } = globalThis;

const notAFile = (text) => coded(new TypeError(text), "ERR_INVALID_FILE_URL_PATH");
function fileURLToPath(given) {
  if (typeof given !== "string" && !(typeof given?.href === "string" && given.protocol)) {
    throw invalidArgument("path", "of type string or an instance of URL", given);
  }
  const url = typeof given === "string" ? new URL(given) : given;
  if (url.protocol !== "file:") throw coded(new TypeError("The URL must be of scheme file"), "ERR_INVALID_URL_SCHEME");
  if (url.hostname !== "") {
    throw coded(new TypeError('File URL host must be "localhost" or empty on linux'), "ERR_INVALID_FILE_URL_HOST");
  }
  if (/%2f/i.test(url.pathname)) throw notAFile("File URL path must not include encoded / characters");
  return decodeURIComponent(url.pathname);
}
const UNSAFE = { "%": "%25", "\\": "%5C", "\n": "%0A", "\r": "%0D", "\t": "%09", "?": "%3F", "#": "%23" };
function pathToFileURL(given) {
  let resolved = path.resolve(given);
  if (given.endsWith("/") && !resolved.endsWith("/")) resolved += "/";
  const url = new URL("file:///");
  url.pathname = resolved.replace(/[%\\\n\r\t?#]/g, (character) => UNSAFE[character]);
  return url;
}
function urlToHttpOptions(url) {
  const options = {
    __proto__: null, ...url, protocol: url.protocol, hostname: url.hostname.replace(/^\[|\]$/g, ""), hash: url.hash,
    search: url.search, pathname: url.pathname, path: `${url.pathname}${url.search}`, href: url.href,
  };
  if (url.port !== "") options.port = Number(url.port);
  if (url.username || url.password) options.auth = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return options;
}

function format(url, options) {
  if (typeof url === "string") return parse(url).format();
  if (typeof url !== "object" || url === null) throw invalidArgument("urlObject", "one of type object or string", url);
  if (!(url instanceof URL)) return formatUrl(url);
  if (options !== undefined && options !== null && typeof options !== "object") throw invalidArgument("options", "of type object", options);
  if (options?.unicode) return domainToUnicode();
  const hidden = (name) => options?.[name] !== undefined && options[name] !== null && !options[name];
  const copy = new URL(url.href);
  if (hidden("fragment")) copy.hash = "";
  if (hidden("search")) copy.search = "";
  if (hidden("auth")) copy.username = copy.password = "";
  return copy.href;
}
const domainToASCII = (name) => {
  try {
    return new URL(`ws://${name}`).hostname;
  } catch (error) {
    if (error instanceof TypeError) return "";
    throw error;
  }
};
const domainToUnicode = () => require("node:internal/unavailable").refuse("`url.domainToUnicode`", "write the name in Unicode");
module.exports = { Url, URL, URLSearchParams, parse, format, resolve, resolveObject, fileURLToPath, pathToFileURL, urlToHttpOptions, domainToASCII, domainToUnicode };
