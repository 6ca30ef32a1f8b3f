// node:path, for POSIX and Windows paths. The current folder is the project folder.
"use strict";

const { host } = require("stead:internal");

function invalid(name, value) {
  const error = new TypeError(`The "${name}" argument must be of type string. Received ${value === null ? "null" : typeof value}`);
  error.code = "ERR_INVALID_ARG_TYPE";
  return error;
}
function text(value, name) {
  if (typeof value !== "string") throw invalid(name, value);
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

  const api = {
    sep,
    delimiter: windows ? ";" : ":",
    normalize(path) {
      text(path, "path");
      if (path.length === 0) return ".";
      const [device, root, rest] = split(path);
      let tail = tidy(rest, root !== "", sep, isSeparator);
      if (tail.length > 0 && endsWithSeparator.test(rest)) tail += sep;
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
      for (let i = parts.length - 1; i >= -1 && (root === "" || (windows && device === "")); i--) {
        const part = i >= 0 ? text(parts[i], `paths[${i}]`) : windows ? `C:${host.projectFolder.replaceAll("/", "\\")}` : host.projectFolder;
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
    toNamespacedPath: (path) => path,
    dirname(path) {
      text(path, "path");
      if (path.length === 0) return ".";
      const [device, root, rest] = split(path);
      const prefix = path.slice(0, path.length - rest.length);
      const trimmed = rest.replace(windows ? /[\\/]+$/ : /\/+$/, "");
      const at = windows ? Math.max(trimmed.lastIndexOf("\\"), trimmed.lastIndexOf("/")) : trimmed.lastIndexOf("/");
      if (at < 0) return prefix || (device + root) || ".";
      return prefix + (trimmed.slice(0, at).replace(windows ? /[\\/]+$/ : /\/+$/, "") || (root === "" ? "." : ""));
    },
    basename(path, suffix) {
      if (suffix !== undefined) text(suffix, "suffix");
      text(path, "path");
      const [device, , rest] = windows && /^[a-zA-Z]:/.test(path) ? split(path) : ["", "", path];
      void device;
      const trimmed = rest.replace(windows ? /[\\/]+$/ : /\/+$/, "");
      const at = windows ? Math.max(trimmed.lastIndexOf("\\"), trimmed.lastIndexOf("/")) : trimmed.lastIndexOf("/");
      const base = trimmed.slice(at + 1);
      return suffix !== undefined && base !== suffix && base.endsWith(suffix) ? base.slice(0, base.length - suffix.length) : base;
    },
    extname(path) {
      return extensionOf(api.basename(text(path, "path")));
    },
    format(parts) {
      if (typeof parts !== "object" || parts === null) throw invalid("pathObject", parts);
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
      const base = path.length > start.length ? api.basename(path.slice(start.length)) : "";
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
