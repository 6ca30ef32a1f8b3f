// Parses URLs like browsers. Hosts must be ASCII; other names must be given in punycode (`xn--…`).

import { host as stead, NativeError, NativeTypeError, toText } from "stead:host";
import { refusal } from "stead:unknown";

export const PORTS = { __proto__: null, "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21", "file:": "" };
export const special = (scheme) => scheme in PORTS;

// Characters to percent-encode in each part, besides control and non-ASCII characters.
export const FRAGMENT = ' "<>`';
export const QUERY = ' "#<>';
const PATH = `${QUERY}?\`{}`;
export const USERINFO = `${PATH}/:;=@[\\]^|`;

export function encode(text, set) {
  let out = "";
  for (const character of toText(text).toWellFormed()) {
    const code = character.codePointAt(0);
    if (code > 0x7e || code < 0x20 || set.includes(character)) out += percent(character);
    else out += character;
  }
  return out;
}

export const percent = (character) =>
  character.codePointAt(0) < 0x80
    ? `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`
    : encodeURIComponent(character);

export function decode(text) {
  const bytes = new TextEncoder().encode(text);
  const out = [];
  for (let i = 0; i < bytes.length; i++) {
    const digits = bytes[i] === 0x25 ? text8(bytes, i + 1) : "";
    if (/^[0-9a-f]{2}$/i.test(digits)) {
      out.push(parseInt(digits, 16));
      i += 2;
    } else out.push(bytes[i]);
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array(out));
}

const text8 = (bytes, at) => String.fromCharCode(bytes[at] ?? 0, bytes[at + 1] ?? 0);

function invalid(input) {
  const error = new NativeTypeError(`\`${input}\` is not a valid URL`);
  error.code = "ERR_INVALID_URL";
  error.input = input;
  return error;
}

// Parses a URL. `host` is null if missing; `opaque` is a path that is not a list of segments.
export function parse(input, base) {
  const text = input.replace(/^[\u0000-\u0020]+|[\u0000-\u0020]+$/g, "").replace(/[\t\n\r]/g, "");
  const [, scheme = "", rest] = /^(?:([a-z][a-z0-9+.-]*:))?([^]*)$/i.exec(text);
  const protocol = scheme.toLowerCase();
  const [, before, query, hash] = /^([^?#]*)(\?[^#]*)?(#[^]*)?$/.exec(rest);
  const url = { protocol, username: "", password: "", host: null, port: "", path: [], opaque: null, query, hash };
  const sameKind = base !== undefined && special(protocol) && protocol === base.protocol && !/^[\\/]{2}/.test(before);
  if (protocol === "" || sameKind) relative(url, before, base, input);
  else absolute(url, before, input);
  if (url.query !== undefined) url.query = encode(url.query.slice(1), special(url.protocol) ? `${QUERY}'` : QUERY);
  if (url.hash !== undefined) url.hash = encode(url.hash.slice(1), FRAGMENT);
  return url;
}

function absolute(url, before, input) {
  const text = special(url.protocol) ? before.replaceAll("\\", "/") : before;
  if (special(url.protocol) && url.protocol !== "file:") {
    authority(url, text.replace(/^\/*/, ""), input);
  } else if (text.startsWith("//")) authority(url, text.slice(2), input);
  else if (text.startsWith("/") || url.protocol === "file:") {
    url.host = url.protocol === "file:" ? "" : null;
    url.path = segments(text, []);
  } else url.opaque = encode(text, "");
}

function relative(url, before, base, input) {
  if (base === undefined) throw invalid(input);
  if (base.opaque !== null && (before !== "" || url.query !== undefined || url.hash === undefined)) throw invalid(input);
  url.protocol = base.protocol;
  const text = special(url.protocol) ? before.replaceAll("\\", "/") : before;
  if (text.startsWith("//")) {
    return authority(url, special(url.protocol) && url.protocol !== "file:" ? text.replace(/^\/+/, "") : text.slice(2), input);
  }
  const { username, password, host, port, opaque } = base;
  Object.assign(url, { username, password, host, port, opaque });
  if (text === "") {
    url.path = [...base.path];
    if (url.query === undefined && base.query !== undefined) url.query = `?${base.query}`;
  } else url.path = segments(text, text.startsWith("/") ? [] : base.path.slice(0, -1));
}

function authority(url, text, input) {
  const end = text.indexOf("/");
  const whole = end < 0 ? text : text.slice(0, end);
  if (url.protocol === "file:") return fileHost(url, whole, text, input);
  const at = whole.lastIndexOf("@");
  if (at >= 0) {
    const [, username, , password = ""] = /^([^:]*)(:([^]*))?$/.exec(whole.slice(0, at));
    url.username = encode(username, USERINFO);
    url.password = encode(password, USERINFO);
  }
  const [, host, , port = ""] = /^(\[[^\]]*\]|[^:]*)(:(\d*))?$/.exec(whole.slice(at + 1)) ?? invalidHost(input);
  if (+port > 65535 || (host === "" && (url.protocol !== "file:" && (special(url.protocol) || at >= 0 || port !== "")))) {
    throw invalid(input);
  }
  url.host = hostOf(host, url.protocol, input);
  url.port = port === "" || toText(+port) === PORTS[url.protocol] ? "" : toText(+port);
  url.path = end < 0 ? (special(url.protocol) ? [""] : []) : segments(text.slice(end), []);
}

// A file URL has neither user nor port. A drive letter starts the path.
function fileHost(url, whole, text, input) {
  const drive = /^[a-z][:|]$/i.test(whole);
  url.host = drive || whole === "" ? "" : hostOf(whole, url.protocol, input);
  const path = drive ? `/${whole[0]}:${text.slice(2)}` : text.slice(whole.length);
  url.path = path === "" ? [""] : segments(path, []);
}

function invalidHost(input) {
  throw invalid(input);
}

function hostOf(text, protocol, input) {
  if (text.startsWith("[")) return `[${ipv6(text.slice(1, -1)) ?? invalidHost(input)}]`;
  if (!special(protocol)) {
    if (/[\u0000\t\n\r #/<>?@[\\\]^|]/.test(text)) throw invalid(input);
    return encode(text, "");
  }
  const host = decode(text).toLowerCase();
  if (/[\u0000-\u0020\u007f#%/:<>?@[\\\]^|]/.test(host)) throw invalid(input);
  if (/[^\u0021-\u007e]/.test(host)) refuseInternational(host);
  if (protocol === "file:" && host === "localhost") return "";
  if (!/(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/.test(host)) return host;
  return ipv4(host.replace(/\.$/, "").split(".")) ?? invalidHost(input);
}

// Node converts such a name. The program cannot catch the refusal: it would go on with another value.
function refuseInternational(name) {
  const help = "write the name in punycode, such as `xn--mnchen-3ya.de` for `m\u00fcnchen.de`";
  throw refusal(stead.refuseFinally(`the host \`${name}\` in a URL`, help, new NativeError().stack));
}

function ipv4(parts) {
  if (parts.length > 4 || parts.includes("")) return undefined;
  const numbers = parts.map((part) => {
    if (/^0x[0-9a-f]*$/.test(part)) return parseInt(part.slice(2) || "0", 16);
    if (/^0[0-7]+$/.test(part)) return parseInt(part, 8);
    return /^(?:0|[1-9]\d*)$/.test(part) ? +part : NaN;
  });
  const last = numbers.pop();
  if (!(last < 256 ** (4 - numbers.length)) || numbers.some((number) => !(number < 256))) return undefined;
  let address = last;
  numbers.forEach((number, i) => (address += number * 256 ** (3 - i)));
  return [24, 16, 8, 0].map((bits) => Math.floor(address / 2 ** bits) % 256).join(".");
}

function ipv6(text) {
  const dotted = /^(.*:)(\d+(?:\.\d+){3})$/.exec(text);
  if (dotted !== null) {
    const bytes = dotted[2].split(".").map(Number);
    if (bytes.some((byte) => byte > 255)) return undefined;
    const pair = (high, low) => (high * 256 + low).toString(16);
    text = `${dotted[1]}${pair(bytes[0], bytes[1])}:${pair(bytes[2], bytes[3])}`;
  }
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const pieces = halves.map((half) => (half === "" ? [] : half.split(":")));
  if (!pieces.flat().every((piece) => /^[0-9a-f]{1,4}$/i.test(piece))) return undefined;
  const missing = 8 - pieces.flat().length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const all = [...pieces[0], ...Array(halves.length === 1 ? 0 : missing).fill("0"), ...(pieces[1] ?? [])];
  const numbers = all.map((piece) => parseInt(piece, 16).toString(16)).join(":");
  let longest = "";
  for (const [run] of numbers.matchAll(/\b0(?::0)+\b/g)) if (run.length > longest.length) longest = run;
  if (longest === "") return numbers;
  const at = numbers.indexOf(longest);
  return `${numbers.slice(0, at).replace(/:$/, "")}::${numbers.slice(at + longest.length).replace(/^:/, "")}`;
}

// Resolves `.` and `..`.
export function segments(text, before) {
  const path = [...before];
  const parts = text.replace(/^\//, "").split("/");
  parts.forEach((part, i) => {
    const name = part.replace(/%2e/gi, ".");
    const last = i === parts.length - 1;
    if (name === "..") path.pop();
    else if (name !== ".") path.push(encode(part, PATH));
    if (last && (name === "." || name === "..")) path.push("");
  });
  return path;
}

export function pathOf(url) {
  if (url.opaque !== null) return url.opaque;
  return url.path.length === 0 ? "" : `/${url.path.join("/")}`;
}
