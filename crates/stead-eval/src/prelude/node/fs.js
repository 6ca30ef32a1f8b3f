// node:fs: reads of files in the project, which the transcript records. Everything else is refused when it is used.
"use strict";

const { host, markReader } = require("stead:internal");
const { refuse } = require("node:internal/unavailable");
const { Buffer } = require("node:buffer");
const path = require("node:path");
const { fileURLToPath } = require("node:url");
const { answer } = require("node:internal/tasks");
const { invalidArgument, invalidValue } = require("node:internal/errors");

const WRITE = "write the file with `new local.File(…)`; a program declares changes, it does not make them";

const MACHINE = "a program must give the same graph on every machine; use a digest of the content";
const OUTSIDE = "a program reads only files of its project";

// Returns the text of a path as a program gives it.
function textOf(given) {
  let text = given;
  if (given instanceof URL) text = fileURLToPath(given);
  else if (given instanceof Uint8Array) text = Buffer.from(given).toString();
  else if (typeof given === "number" && Number.isInteger(given)) refuse("a file descriptor", "name the file by its path");
  else if (typeof given !== "string") throw invalidArgument("path", "of type string or an instance of Buffer or URL", given);
  if (text.includes("\0")) throw invalidValue("path", given, "must be a string, Uint8Array, or URL without null bytes");
  return text;
}
const ERRNO = { ENOENT: -2, EACCES: -13, ENOTDIR: -20, EISDIR: -21 };
const MESSAGES = { ENOENT: "no such file or directory", ENOTDIR: "not a directory", EISDIR: "illegal operation on a directory" };
function failed(code, syscall, given, message = MESSAGES[code]) {
  const error = new Error(`${code}: ${message}, ${syscall}${given === undefined ? "" : ` '${given}'`}`);
  return Object.assign(error, { errno: ERRNO[code], code, syscall }, given === undefined ? {} : { path: given });
}

// Returns the path of a file from the root. `..` leads out of the folder behind a symbolic link, not back to the link.
function locate(text, syscall) {
  const start = path.isAbsolute(text) ? text : `${host.projectFolder}/${text}`;
  let at = "/";
  for (const part of start.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") at = path.join(at, part);
    else at = path.dirname(at.startsWith(`${host.projectFolder}/`) ? realOf(at, syscall, text) : at);
  }
  if (at !== host.projectFolder && !at.startsWith(`${host.projectFolder}/`)) throw failed("EACCES", syscall, text, `permission denied: ${OUTSIDE}`);
  return at;
}
function realOf(file, syscall, given) {
  const real = host.realPath(file);
  if (real.problem === undefined) return real.path;
  if (/no such file/i.test(real.problem)) throw failed(kindOf(path.dirname(file)) === "f" ? "ENOTDIR" : "ENOENT", syscall, given);
  throw failed("EACCES", syscall, given, real.problem);
}
function kindOf(file) {
  if (host.listFolder(file).entries !== undefined) return "d";
  return host.readBytes(file).bytes === undefined ? undefined : "f";
}
// Asks about a file, or about the file behind its symbolic links.
function through(given, syscall, ask) {
  const file = locate(given, syscall);
  const found = ask(file);
  if (found.problem === undefined) return found;
  const there = ask(realOf(file, syscall, given));
  if (there.problem !== undefined) throw failed("EACCES", syscall, given, there.problem);
  return there;
}
const entriesOf = (given, syscall) => through(given, syscall, host.listFolder).entries;
function bytesOf(given, syscall) {
  const { bytes } = through(given, syscall, host.readBytes);
  if (bytes !== undefined && given.endsWith("/")) throw failed("ENOTDIR", syscall, given);
  return bytes;
}
// Returns the error of a path without a file: a part of it may be a file.
function missing(given, syscall) {
  for (let at = path.dirname(locate(given, syscall)); at.startsWith(`${host.projectFolder}/`); at = path.dirname(at)) {
    const kind = kindOf(at);
    if (kind !== undefined) return failed(kind === "f" ? "ENOTDIR" : "ENOENT", syscall, given);
  }
  return failed("ENOENT", syscall, given);
}

// `kind` is "f", "d" or, for a symbolic link, "?".
class Kind {
  constructor(kind) {
    Object.defineProperty(this, "kind", { value: kind });
  }
  isFile() {
    return this.kind === "f";
  }
  isDirectory() {
    return this.kind === "d";
  }
  isSymbolicLink() {
    return this.kind === "?";
  }
}
for (const name of ["isFIFO", "isSocket", "isBlockDevice", "isCharacterDevice"]) {
  Object.defineProperty(Kind.prototype, name, { value: () => false, configurable: true, writable: true });
}
class Stats extends Kind {
  constructor(kind, size) {
    super(kind);
    if (kind === "f") this.size = size;
    const hidden = ["mtime", "atime", "ctime", "birthtime", "mtimeMs", "atimeMs", "ctimeMs", "birthtimeMs", "mode", "dev", "ino", "nlink", "uid", "gid", "rdev", "blksize", "blocks"];
    for (const name of kind === "f" ? hidden : ["size", ...hidden]) {
      Object.defineProperty(this, name, { get: () => refuse(`\`${name}\` of a file`, MACHINE) });
    }
  }
}
class Dirent extends Kind {
  constructor(name, kind, folder) {
    super(kind);
    this.name = name;
    this.parentPath = folder;
    this.path = folder;
  }
}

function readFileSync(given, options) {
  const text = textOf(given);
  const encoding = typeof options === "string" ? options : options?.encoding;
  if (encoding && encoding !== "buffer" && !Buffer.isEncoding(encoding)) throw invalidValue("encoding", encoding, "is invalid encoding");
  const bytes = bytesOf(text, "open");
  if (bytes === undefined) {
    if (entriesOf(text, "open") !== undefined) throw failed("EISDIR", "read");
    throw missing(text, "open");
  }
  const made = Buffer.from(bytes.buffer);
  return encoding && encoding !== "buffer" ? made.toString(encoding) : made;
}
function statOf(given, options, syscall) {
  const text = textOf(given);
  try {
    const bytes = bytesOf(text, syscall);
    if (bytes !== undefined) return new Stats("f", bytes.length);
    if (entriesOf(text, syscall) !== undefined) return new Stats("d");
    throw missing(text, syscall);
  } catch (error) {
    if (options?.throwIfNoEntry === false && (error.code === "ENOENT" || error.code === "ENOTDIR")) return undefined;
    throw error;
  }
}
const statSync = (given, options) => statOf(given, options, "stat");
function lstatSync(given, options) {
  const text = textOf(given);
  if (!text.endsWith("/")) {
    const file = locate(text, "lstat");
    const beside = file === host.projectFolder ? undefined : host.listFolder(path.dirname(file)).entries;
    if (beside?.includes(`?${path.basename(file)}`)) return new Stats("?");
  }
  return statOf(given, options, "lstat");
}
function existsSync(given) {
  let text;
  try {
    text = textOf(given);
  } catch {
    return false;
  }
  try {
    statOf(text, undefined, "access");
    return true;
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return false;
    if (error.code === "EACCES") refuse("`existsSync` for a path outside the project", OUTSIDE);
    throw error;
  }
}
function readdirSync(given, options) {
  const text = textOf(given);
  const encoding = typeof options === "string" ? options : options?.encoding;
  if (encoding && encoding !== "utf8" && encoding !== "utf-8") refuse("`encoding` of `fs.readdir`", "names are texts");
  const found = [];
  const folders = [""];
  for (const folder of folders) {
    const whole = folder === "" ? text : path.join(text, folder);
    const entries = entriesOf(whole, "scandir");
    if (entries === undefined) throw bytesOf(whole, "scandir") === undefined ? missing(whole, "scandir") : failed("ENOTDIR", "scandir", whole);
    for (const entry of entries) {
      const name = entry.slice(1);
      found.push(options?.withFileTypes ? new Dirent(name, entry[0], whole) : path.join(folder, name));
      if (options?.recursive && entry[0] === "d") folders.push(path.join(folder, name));
    }
  }
  return found;
}
function accessSync(given, mode = 0) {
  if (mode & 3) refuse("`fs.access` for writing or executing", "a program only reads files");
  statOf(given, undefined, "access");
}
function realpathSync(given) {
  const text = textOf(given);
  if (statOf(text, { throwIfNoEntry: false }, "lstat") === undefined) throw missing(path.resolve(text), "lstat");
  return realOf(locate(text, "lstat"), "lstat", text);
}
realpathSync.native = realpathSync;

const later = (read) => {
  const promised = async (...args) => {
    await new Promise(answer);
    return read(...args);
  };
  return promised;
};
const withCallback = (read) =>
  function (...args) {
    const callback = args.pop();
    let result;
    try {
      result = read(...args);
    } catch (error) {
      answer(() => callback(error));
      return;
    }
    answer(() => callback(null, result));
  };

const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2 };
const made = { readFileSync, statSync, existsSync, readdirSync, accessSync, realpathSync, lstatSync, Stats, Dirent, constants, ...constants };
made.promises = { constants };
for (const name of ["readFile", "stat", "readdir", "access", "realpath", "lstat"]) {
  made[name] = withCallback(made[`${name}Sync`]);
  made.promises[name] = later(made[`${name}Sync`]);
}
made.exists = (given, callback) => answer(() => callback(existsSync(given)));
for (const name of [
  "appendFile", "chmod", "chown", "close", "copyFile", "cp", "fsync", "ftruncate", "futimes", "lchown", "link", "mkdir", "mkdtemp",
  "open", "opendir", "read", "readlink", "readv", "rename", "rm", "rmdir", "statfs", "symlink", "truncate", "unlink", "utimes",
  "write", "writeFile", "writev",
]) {
  const refused = () => refuse(`\`fs.${name}\``, WRITE);
  made[name] = made[`${name}Sync`] = made.promises[name] = refused;
}
for (const name of ["createReadStream", "createWriteStream", "watch", "watchFile", "unwatchFile", "ReadStream", "WriteStream"]) {
  made[name] = function () {
    refuse(`\`fs.${name}\``, WRITE);
  };
}
for (const read of [...Object.values(made), ...Object.values(made.promises)]) if (typeof read === "function") markReader(read);
module.exports = made;
0 && (module.exports = { readFileSync, statSync, lstatSync, existsSync, readdirSync, accessSync, realpathSync, readFile, stat, lstat, readdir, access, realpath, exists, Stats, Dirent, constants, promises, appendFile, appendFileSync, chmod, chmodSync, close, closeSync, copyFile, copyFileSync, cp, cpSync, mkdir, mkdirSync, mkdtemp, mkdtempSync, open, openSync, opendir, opendirSync, read, readSync, readlink, readlinkSync, rename, renameSync, rm, rmSync, rmdir, rmdirSync, symlink, symlinkSync, truncate, truncateSync, unlink, unlinkSync, utimes, utimesSync, write, writeSync, writeFile, writeFileSync, createReadStream, createWriteStream, watch, watchFile, unwatchFile, ReadStream, WriteStream, F_OK, R_OK, W_OK, X_OK });
