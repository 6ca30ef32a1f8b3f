// node:async_hooks: the storage follows synchronous code only; a program has no other tasks.
"use strict";

const { refuse } = require("node:internal/unavailable");

class AsyncLocalStorage {
  #store;
  run(store, callback, ...args) {
    const outer = this.#store;
    this.#store = store;
    try {
      return callback(...args);
    } finally {
      this.#store = outer;
    }
  }
  exit(callback, ...args) {
    return this.run(undefined, callback, ...args);
  }
  getStore() {
    return this.#store;
  }
  enterWith(store) {
    this.#store = store;
  }
  disable() {
    this.#store = undefined;
  }
}

class AsyncResource {
  runInAsyncScope(callback, self, ...args) {
    return callback.apply(self, args);
  }
  emitDestroy() {
    return this;
  }
  bind(callback) {
    return callback.bind(null);
  }
}

module.exports = { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId, triggerAsyncId };
function createHook() {
  return refuse("`createHook` of `node:async_hooks`");
}
function executionAsyncId() {
  return 0;
}
function triggerAsyncId() {
  return 0;
}
