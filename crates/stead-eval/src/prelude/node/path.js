// node:path, for POSIX and Windows paths. The current folder is the project folder.
"use strict";

const { host } = require("stead:internal");

const { invalidArgument } = require("node:internal/errors");

function text(value, name) {
  if (typeof value !== "string") throw invalidArgument(name, "of type string", value);
  return value;
}

// Resolves `.` and `..` in the part of a path after its root.
function tidy(path, absolute, separator, isSeparator) {
  const parts = [];
  for (const part of path.split(isSeparator)) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts[parts.length - 1] !== "..") parts.pop();
    else if (!absolute) parts.push("..");
  }
  return parts.join(separator);
}

// The extension starts at the last dot that is neither the first nor the last of leading dots.
function extensionOf(base) {
  const dot = base.lastIndexOf(".");
  if (dot <= 0 || base === "..") return "";
  return base.slice(dot);
}

function make(windows) {
  const sep = windows ? "\\" : "/";
  const isSeparator = windows ? /[\\/]/ : /\//;
  const endsWithSeparator = windows ? /[\\/]$/ : /\/$/;

  // Splits a path into device, root and rest: `C:`, `\`, `a\b`.
  function split(path) {
    if (!windows) return ["", path.startsWith("/") ? "/" : "", path.startsWith("/") ? path.slice(1) : path];
    const unc = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)(?:[\\/]+|$)/.exec(path);
    if (unc !== null) return [`\\\\${unc[1]}\\${unc[2]}`, "\\", path.slice(unc[0].length)];
    const drive = /^[a-zA-Z]:/.exec(path);
    const rest = drive === null ? path : path.slice(2);
    const rooted = /^[\\/]/.test(rest);
    return [drive === null ? "" : drive[0], rooted ? "\\" : "", rooted ? rest.slice(1) : rest];
  }

  const separates = (character) => character === "/" || (windows && character === "\\");
  // Returns the length of the root of a path, or -1 for a Windows share without a path in it.
  function rootLength(path) {
    if (!windows) return path[0] === "/" ? 1 : 0;
    const share = /^[\\/]{2}[^\\/]+[\\/]+[^\\/]+/.exec(path);
    if (share !== null) return share[0].length === path.length ? -1 : share[0].length + 1;
    const drive = /^[a-zA-Z]:[\\/]?/.exec(path);
    return drive !== null ? drive[0].length : separates(path[0]) ? 1 : 0;
  }

  function lastPart(path) {
    const trimmed = path.replace(windows ? /[\\/]+$/ : /\/+$/, "");
    return trimmed.slice((windows ? Math.max(trimmed.lastIndexOf("\\"), trimmed.lastIndexOf("/")) : trimmed.lastIndexOf("/")) + 1);
  }

  const api = {
    sep,
    delimiter: windows ? ";" : ":",
    normalize(path) {
      text(path, "path");
      if (path.length === 0) return ".";
      const [device, root, rest] = split(path);
      let tail = tidy(rest, root !== "", sep, isSeparator);
      if (tail.length > 0 && endsWithSeparator.test(rest)) tail += sep;
      // A relative path must not become one that starts with a drive.
      if (windows && device === "" && root === "" && (/^[a-zA-Z]:/.test(tail) || /:(?:[\\/]|$)/.test(path))) return `.\\${tail}`;
      if (tail === "" && root === "") tail = endsWithSeparator.test(rest) ? `.${sep}` : ".";
      return device + root + tail;
    },
    isAbsolute(path) {
      text(path, "path");
      return windows ? /^(?:[\\/]|[a-zA-Z]:[\\/])/.test(path) : path.startsWith("/");
    },
    join(...parts) {
      const given = parts.map((part) => text(part, "path")).filter((part) => part !== "");
      if (given.length === 0) return ".";
      if (!windows) return api.normalize(given.join("/"));
      // Two separators at the start mean a share only if the first part has them.
      let joined = given.join("\\");
      if (!/^[\\/]{2}[^\\/]/.test(given[0])) joined = joined.replace(/^[\\/]{2,}/, "\\");
      return api.normalize(joined);
    },
    resolve(...parts) {
      let device = "";
      let root = "";
      let tail = "";
      for (let i = parts.length - 1; i >= -1 && (root === "" || (windows && device === "" && i >= 0)); i--) {
        const part = i >= 0 ? text(parts[i], `paths[${i}]`) : host.projectFolder;
        if (part === "") continue;
        const [ownDevice, ownRoot, rest] = split(part);
        if (ownDevice !== "" && device !== "" && ownDevice.toLowerCase() !== device.toLowerCase()) continue;
        if (device === "") device = ownDevice;
        if (root === "") {
          tail = tail === "" ? rest : `${rest}${sep}${tail}`;
          root = ownRoot;
        }
      }
      return device + root + tidy(tail, root !== "", sep, isSeparator) || ".";
    },
    relative(from, to) {
      text(from, "from");
      text(to, "to");
      if (from === to) return "";
      const fold = (path) => (windows ? path.toLowerCase() : path);
      const start = api.resolve(from);
      const end = api.resolve(to);
      if (fold(start) === fold(end)) return "";
      const [startDevice, , startRest] = split(start);
      const [endDevice, , endRest] = split(end);
      if (fold(startDevice) !== fold(endDevice)) return end;
      const a = startRest.split(sep).filter((part) => part !== "");
      const b = endRest.split(sep).filter((part) => part !== "");
      let same = 0;
      while (same < a.length && same < b.length && fold(a[same]) === fold(b[same])) same++;
      return [...a.slice(same).map(() => ".."), ...b.slice(same)].join(sep);
    },
    toNamespacedPath(path) {
      if (!windows || typeof path !== "string" || path === "") return path;
      const resolved = api.resolve(path);
      if (resolved.length <= 2) return path;
      if (/^\\\\[^?.]/.test(resolved)) return `\\\\?\\UNC\\${resolved.slice(2)}`;
      return /^[a-zA-Z]:\\/.test(resolved) ? `\\\\?\\${resolved}` : resolved;
    },
    dirname(path) {
      text(path, "path");
      if (path === "") return ".";
      const start = rootLength(path);
      if (start < 0) return path;
      let end = path.length;
      while (end > start && separates(path[end - 1])) end--;
      while (end > start && !separates(path[end - 1])) end--;
      if (end <= start) return start === 0 ? "." : path.slice(0, start);
      return !windows && start === 1 && end === 2 ? "//" : path.slice(0, end - 1);
    },
    basename(path, suffix) {
      if (suffix !== undefined) text(suffix, "suffix");
      text(path, "path");
      if (suffix !== undefined && suffix === path) return "";
      const rest = windows && /^[a-zA-Z]:/.test(path) ? path.slice(2) : path;
      const base = lastPart(rest);
      // Node.js returns separators as they are if it looks for an end.
      if (base === "" && suffix && suffix.length <= path.length) return rest;
      return suffix !== undefined && base !== suffix && base.endsWith(suffix) ? base.slice(0, base.length - suffix.length) : base;
    },
    extname(path) {
      return extensionOf(api.basename(text(path, "path")));
    },
    format(parts) {
      if (typeof parts !== "object" || parts === null) throw invalidArgument("pathObject", "of type object", parts);
      const folder = parts.dir || parts.root;
      const extension = parts.ext ? (parts.ext[0] === "." ? parts.ext : `.${parts.ext}`) : "";
      const base = parts.base || `${parts.name || ""}${extension}`;
      if (!folder) return base;
      return folder === parts.root ? `${folder}${base}` : `${folder}${sep}${base}`;
    },
    parse(path) {
      text(path, "path");
      const [device, root] = split(path);
      const start = device === "" && root === "" ? "" : path.slice(0, path.length - split(path)[2].length);
      const base = path.length > start.length ? lastPart(path.slice(start.length)) : "";
      const ext = extensionOf(base);
      const trimmed = path.replace(windows ? /[\\/]+$/ : /\/+$/, "");
      const before = trimmed.slice(0, Math.max(trimmed.length - base.length, 0));
      const dir = before.length <= start.length ? start : before.replace(windows ? /[\\/]$/ : /\/$/, "");
      return { root: start, dir: base === "" ? start : dir, base, ext, name: base.slice(0, base.length - ext.length) };
    },
    matchesGlob() {
      require("node:internal/unavailable").refuse("path.matchesGlob()", "use the package `minimatch` or `picomatch`");
    },
  };
  return api;
}

const posix = make(false);
const win32 = make(true);
posix.posix = win32.posix = posix;
posix.win32 = win32.win32 = win32;
module.exports = posix;
0 && (module.exports = { sep, delimiter, normalize, isAbsolute, join, resolve, relative, toNamespacedPath, dirname, basename, extname, format, parse, matchesGlob, posix, win32 });
