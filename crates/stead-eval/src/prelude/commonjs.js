// CommonJS files: runs each of them once, and gives them `require`, `module` and `exports` as Node.js does.
//
// This module is loaded only by programs that need it.

import { host, NativeError, NativeTypeError, apply, create, defineProperty, freeze, hasOwn, ownKeys, toText } from "stead:host";
import { idOf, refusal, refuse } from "stead:unknown";
import { provide } from "stead:resource";
import { catchable, unwrap } from "stead:code";
import { markReader } from "stead:apply";
import * as stead from "stead";

const { parse } = JSON;
const { lastIndexOf, slice } = String.prototype;
const NativeSyntaxError = SyntaxError;

// Modules by path.
const cache = create(null);
// Values of modules that are not CommonJS, by kind and name.
const others = create(null);

const absolute = (path) => (path.startsWith("node:") ? path : `${host.projectFolder}/${path}`);
const folderOf = (path) => {
  const end = apply(lastIndexOf, path, ["/"]);
  return end <= 0 ? "/" : apply(slice, path, [0, end]);
};

function moduleNotFound(specifier, found, parent) {
  const error = new NativeError(`Cannot find module '${specifier}'\nRequire stack:\n- ${parent.filename}`);
  error.code = "MODULE_NOT_FOUND";
  error.requireStack = [parent.filename];
  return catchable(error, found.number);
}

function waitingModule(path) {
  const error = new NativeError(`require() cannot be used on an ES module with a top-level await: ${absolute(path)}`);
  error.code = "ERR_REQUIRE_ASYNC_MODULE";
  return error;
}

// Namespaces of the ES modules that were required.
const namespaces = create(null);
/** Receives the namespace of an ES module that `host.requireModule` evaluates. */
export const provideModule = (path, namespace) => {
  namespaces[path] = namespace;
};

// Returns the value of `require` for an ES module: its namespace, marked for compilers if it has a default export.
function requireModule(path, root) {
  // The module that imports `root` may be running, and the engine cannot enter it twice.
  if (host.reachesFile(path, root)) {
    const error = new NativeError(`Cannot require() ES Module ${absolute(path)} in a cycle`);
    error.code = "ERR_REQUIRE_CYCLE_MODULE";
    throw error;
  }
  host.requireModule(path);
  const namespace = namespaces[path];
  if (namespace === undefined) throw waitingModule(path);
  if ("module.exports" in namespace) return namespace["module.exports"];
  if (!("default" in namespace) || "__esModule" in namespace) return namespace;
  const marked = create(null);
  const keys = ownKeys(namespace);
  for (let i = 0; i < keys.length; i++) {
    if (typeof keys[i] === "symbol") continue;
    defineProperty(marked, keys[i], { get: () => namespace[keys[i]], enumerable: true });
  }
  defineProperty(marked, "__esModule", { value: true });
  return marked;
}

function other(found, root) {
  const key = `${found.kind} ${found.name}`;
  if (key in others) return others[key];
  if (found.kind === "json") {
    try {
      return (others[key] = parse(found.text));
    } catch (error) {
      throw new NativeSyntaxError(`${absolute(found.name)}: ${error.message}`);
    }
  }
  if (found.kind === "stead") return (others[key] = stead);
  if (found.kind === "provider") return (others[key] = provide(found.name));
  return (others[key] = requireModule(found.name, root));
}

// Path of the file that led to a file and that no other file required.
const ROOT = Symbol("root");

class Module {
  constructor(path, parent) {
    defineProperty(this, ROOT, { value: parent === undefined ? path : parent[ROOT] });
    this.id = absolute(path);
    this.path = folderOf(this.id);
    this.exports = {};
    this.filename = this.id;
    this.loaded = false;
    this.children = [];
    this.paths = [];
    defineProperty(this, "parent", { value: parent, writable: true, configurable: true });
    defineProperty(this, "require", { value: requireOf(this, path), writable: true, configurable: true });
  }
}

function requireOf(module, path) {
  const links = create(null);
  const find = (specifier) => {
    const id = idOf(specifier);
    if (id !== undefined) refuse("takes", id, "require");
    if (typeof specifier !== "string") {
      const error = new NativeTypeError(`The "id" argument must be of type string. Received ${typeof specifier}`);
      error.code = "ERR_INVALID_ARG_TYPE";
      throw error;
    }
    const found = (links[specifier] ??= host.require(path, specifier));
    if (found.kind === "problem") throw moduleNotFound(specifier, found, module);
    return found;
  };
  const require = (specifier) => {
    if (path.startsWith("node:") && specifier === "stead:internal") return internal;
    const found = find(specifier);
    return found.kind === "commonjs" ? load(found.name, module) : other(found, module[ROOT]);
  };
  defineProperty(require, "name", { value: "require", configurable: true });
  require.resolve = (specifier) => absolute(find(specifier).name);
  require.resolve.paths = () => [];
  require.cache = create(null);
  require.extensions = create(null);
  require.main = undefined;
  return require;
}

// Rust finds the name of this function in a stack trace: the frames inside it belong to the file that is loaded.
function runCommonJsFile(code, module) {
  const { exports, filename } = module;
  apply(code, exports, [exports, module.require, module, filename, folderOf(filename)]);
}

/** Runs a CommonJS file unless it has run, and returns its `module.exports`. */
export function load(path, parent) {
  const known = cache[path];
  if (known !== undefined) return known.exports;
  const module = new Module(path, parent);
  cache[path] = module;
  try {
    runCommonJsFile(unwrap(host.commonjs(path)), module);
  } catch (error) {
    // The next `require` tries again, as in Node.js.
    delete cache[path];
    throw error;
  }
  module.loaded = true;
  return module.exports;
}

const isObject = (value) => (typeof value === "object" && value !== null) || (typeof value === "function" && idOf(value) === undefined);

/** Returns a member of `module.exports` that the syntax of the file shows. */
export const member = (exports, name) => (isObject(exports) && hasOwn(exports, name) ? exports[name] : undefined);

/** Returns a member of `module.exports` that the program imports by name. */
export function imported(exports, name, path, file, line, column) {
  if (isObject(exports) ? name in exports : exports !== undefined && exports !== null && exports[name] !== undefined) return exports[name];
  throw refusal(host.noExport(name, path, file, line, column));
}

// Functions for the modules of Node.js.
const internal = freeze({
  host: freeze({
    digest: host.digest, hmac: host.hmac, environment: host.environment, readBytes: host.nodeReadBytes, listFolder: host.nodeListFolder,
    encodeText: host.encodeText, decodeText: host.decodeText, base64Encode: host.base64Encode, base64Decode: host.base64Decode,
    projectFolder: host.projectFolder, whenIdle: host.whenIdle, promiseState: host.promiseState, proxyTarget: host.proxyTarget, realPath: host.nodeRealPath,
  }),
  isUnknown: (value) => idOf(value) !== undefined,
  describe: (value) => host.describe(idOf(value)),
  refuse: (what, value, detail) => refuse(what, idOf(value), detail),
  /** Throws an error that names the use of something that a program does not have. */
  unavailable(name, help) {
    const error = new NativeError(`a program cannot use ${name}: ${help}`);
    throw catchable(error, host.refuseBuiltin(name, help, error.stack));
  },
  /** Marks a function that reads a file, which a deferred function must not call. */
  markReader,
  /** Refuses clock and randomness, which a package cannot catch. */
  unavailableFinally(name, help) {
    throw refusal(host.refuseFinally(name, help, new NativeError().stack));
  },
});

const start = new Module("", undefined);
host.provideNode((name) => start.require(`node:${toText(name)}`));
