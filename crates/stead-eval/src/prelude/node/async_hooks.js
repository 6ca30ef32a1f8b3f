// node:async_hooks: the storage follows synchronous code. The engine does not tell which call a job belongs to, so that a store
// that is asked for in a later job is refused: it would be another one than in Node.js.
"use strict";

const { refuse, refuseFinally } = require("node:internal/unavailable");

const HELP = "pass the value as an argument, or read the store before the first `await`";

// Stores of the code that runs now. `whole` is false in a job that an earlier job with a store may have started.
let stores = new Map();
let depth = 0;
let scattered = false;
const current = () => ({ stores, whole: depth > 0 ? whole : !scattered });
let whole = true;

// The mark precedes all jobs that the callback starts.
function mark() {
  if (!scattered) {
    queueMicrotask(() => {
      scattered = true;
    });
  }
}
function within(context, callback, self, args) {
  const outer = [stores, whole];
  mark();
  ({ stores, whole } = context);
  depth++;
  try {
    return callback.apply(self, args);
  } finally {
    depth--;
    [stores, whole] = outer;
  }
}
const lost = () => refuseFinally("`AsyncLocalStorage` after `await`", HELP);

class AsyncLocalStorage {
  static bind(callback) {
    return AsyncResource.bind(callback);
  }
  static snapshot() {
    const context = current();
    return (callback, ...args) => within(context, callback, undefined, args);
  }
  run(store, callback, ...args) {
    const { stores: known, whole: complete } = current();
    return within({ stores: new Map(known).set(this, store), whole: complete }, callback, undefined, args);
  }
  exit(callback, ...args) {
    return this.run(undefined, callback, ...args);
  }
  getStore() {
    const { stores: known, whole: complete } = current();
    if (complete || (depth > 0 && known.has(this))) return known.get(this);
    return lost();
  }
  enterWith(store) {
    if (!current().whole) lost();
    mark();
    stores = new Map(stores).set(this, store);
  }
  disable() {
    stores = new Map(stores);
    stores.delete(this);
  }
}

class AsyncResource {
  #context = current();
  static bind(callback, type, self) {
    return new AsyncResource(type).bind(callback, self);
  }
  runInAsyncScope(callback, self, ...args) {
    return within(this.#context, callback, self, args);
  }
  emitDestroy() {
    return this;
  }
  bind(callback, self) {
    const resource = this;
    return function (...args) {
      return resource.runInAsyncScope(callback, self ?? this, ...args);
    };
  }
}

module.exports = { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId, triggerAsyncId };
function createHook() {
  return refuse("`createHook` of `node:async_hooks`");
}
function executionAsyncId() {
  return refuse("`executionAsyncId` of `node:async_hooks`");
}
function triggerAsyncId() {
  return refuse("`triggerAsyncId` of `node:async_hooks`");
}
