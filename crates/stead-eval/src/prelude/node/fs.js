// node:fs: reads of files in the project, which the transcript records. Everything else is refused when it is used.
"use strict";

const { host, markReader } = require("stead:internal");
const { refuse } = require("node:internal/unavailable");
const { Buffer } = require("node:buffer");
const path = require("node:path");

const WRITE = "write the file with `new local.File(…)`; a program declares changes, it does not make them";

function locate(given) {
  if (given instanceof URL) return path.resolve(decodeURIComponent(given.pathname));
  if (Buffer.isBuffer(given)) return path.resolve(given.toString());
  return path.resolve(given);
}
function failed(code, message, syscall, file) {
  const error = new Error(`${code}: ${message}, ${syscall} '${file}'`);
  return Object.assign(error, { code, syscall, path: file, errno: code === "ENOENT" ? -2 : code === "EACCES" ? -13 : -21 });
}
function inside(file, syscall) {
  if (file !== host.projectFolder && !file.startsWith(`${host.projectFolder}/`)) {
    throw failed("EACCES", "permission denied: a program reads only files of its project", syscall, file);
  }
  return file;
}
function entriesOf(file, syscall) {
  const found = host.listFolder(inside(file, syscall));
  if (found.problem !== undefined) throw failed("EACCES", found.problem, syscall, file);
  return found.entries;
}
function bytesOf(file, syscall) {
  const found = host.readBytes(inside(file, syscall));
  if (found.problem !== undefined) throw failed("EACCES", found.problem, syscall, file);
  return found.bytes;
}

class Stats {
  constructor(kind, size) {
    this.kind = kind;
    this.size = size;
    this.mode = kind === "d" ? 0o40755 : 0o100644;
    Object.defineProperty(this, "kind", { enumerable: false });
    for (const name of ["mtime", "atime", "ctime", "birthtime", "mtimeMs", "atimeMs", "ctimeMs", "birthtimeMs"]) {
      Object.defineProperty(this, name, { get: () => refuse(`\`${name}\` of a file`, "a program must give the same graph on every machine; use a digest of the content") });
    }
  }
  isFile() {
    return this.kind === "f";
  }
  isDirectory() {
    return this.kind === "d";
  }
  isSymbolicLink() {
    return false;
  }
}
class Dirent {
  constructor(name, kind, folder) {
    this.name = name;
    this.parentPath = folder;
    this.path = folder;
    Object.defineProperty(this, "kind", { value: kind });
  }
  isFile() {
    return this.kind === "f";
  }
  isDirectory() {
    return this.kind === "d";
  }
  isSymbolicLink() {
    return false;
  }
}

function readFileSync(given, options) {
  const file = locate(given);
  const bytes = bytesOf(file, "open");
  if (bytes === undefined) {
    if (entriesOf(file, "open") !== undefined) throw failed("EISDIR", "illegal operation on a directory", "read", file);
    throw failed("ENOENT", "no such file or directory", "open", file);
  }
  const encoding = typeof options === "string" ? options : options?.encoding;
  const made = Buffer.from(bytes.buffer);
  return encoding ? made.toString(encoding) : made;
}
function statSync(given, options) {
  const file = locate(given);
  const bytes = bytesOf(file, "stat");
  if (bytes !== undefined) return new Stats("f", bytes.length);
  if (entriesOf(file, "stat") !== undefined) return new Stats("d", 4096);
  if (options?.throwIfNoEntry === false) return undefined;
  throw failed("ENOENT", "no such file or directory", "stat", file);
}
function existsSync(given) {
  try {
    statSync(given);
    return true;
  } catch (error) {
    if (error.code === undefined) throw error;
    return false;
  }
}
function readdirSync(given, options) {
  const file = locate(given);
  const entries = entriesOf(file, "scandir");
  if (entries === undefined) {
    if (bytesOf(file, "scandir") !== undefined) throw failed("ENOTDIR", "not a directory", "scandir", file);
    throw failed("ENOENT", "no such file or directory", "scandir", file);
  }
  const found = [];
  for (const entry of entries) {
    const name = entry.slice(1);
    found.push(options?.withFileTypes ? new Dirent(name, entry[0], file) : name);
    if (options?.recursive && entry[0] === "d") {
      for (const inner of readdirSync(path.join(file, name), options)) found.push(options.withFileTypes ? inner : path.join(name, inner));
    }
  }
  return found;
}
function accessSync(given) {
  statSync(given);
}
function realpathSync(given) {
  statSync(given);
  return locate(given);
}
realpathSync.native = realpathSync;

const later = (read) => {
  const promised = async (...args) => read(...args);
  return promised;
};
const withCallback = (read) =>
  function (...args) {
    const callback = args.pop();
    let result;
    try {
      result = read(...args);
    } catch (error) {
      queueMicrotask(() => callback(error));
      return;
    }
    queueMicrotask(() => callback(null, result));
  };

const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2 };
const made = { readFileSync, statSync, existsSync, readdirSync, accessSync, realpathSync, lstatSync: statSync, Stats, Dirent, constants, ...constants };
made.promises = { constants };
for (const name of ["readFile", "stat", "readdir", "access", "realpath", "lstat"]) {
  made[name] = withCallback(made[`${name}Sync`]);
  made.promises[name] = later(made[`${name}Sync`]);
}
made.exists = (given, callback) => queueMicrotask(() => callback(existsSync(given)));
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
