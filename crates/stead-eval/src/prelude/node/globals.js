// Global names of Node.js besides `process` and `Buffer`: pure ones work, the others refuse when they are used.
"use strict";

const { refuse, refuseFinally } = require("node:internal/unavailable");

const CLOCK = "a program must give the same graph on every run; take the time from `config`";
const performance = {
  now: () => refuseFinally("performance.now()", CLOCK),
  mark: () => undefined,
  measure: () => undefined,
  clearMarks: () => undefined,
  clearMeasures: () => undefined,
  getEntries: () => [],
  getEntriesByName: () => [],
  getEntriesByType: () => [],
  get timeOrigin() {
    return refuseFinally("performance.timeOrigin", CLOCK);
  },
};

class Event {
  constructor(type, options = {}) {
    this.type = `${type}`;
    this.cancelable = options.cancelable === true;
    this.defaultPrevented = false;
    this.target = null;
  }
  preventDefault() {
    if (this.cancelable) this.defaultPrevented = true;
  }
}

class EventTarget {
  #listeners = new Map();
  addEventListener(type, listener, options) {
    const list = this.#listeners.get(type) ?? [];
    if (!list.some((known) => known.listener === listener)) list.push({ listener, once: options?.once === true });
    this.#listeners.set(type, list);
  }
  removeEventListener(type, listener) {
    const list = this.#listeners.get(type) ?? [];
    this.#listeners.set(type, list.filter((known) => known.listener !== listener));
  }
  dispatchEvent(event) {
    event.target = this;
    for (const { listener, once } of [...(this.#listeners.get(event.type) ?? [])]) {
      if (once) this.removeEventListener(event.type, listener);
      if (typeof listener === "function") listener.call(this, event);
      else listener.handleEvent(event);
    }
    return !event.defaultPrevented;
  }
}

class AbortSignal extends EventTarget {
  aborted = false;
  reason = undefined;
  onabort = null;
  throwIfAborted() {
    if (this.aborted) throw this.reason;
  }
  static abort(reason) {
    const controller = new AbortController();
    controller.abort(reason);
    return controller.signal;
  }
  static timeout() {
    return refuse("AbortSignal.timeout()", "a program runs once, before anything is applied, and has no timers");
  }
}

class AbortController {
  signal = new AbortSignal();
  abort(reason) {
    const { signal } = this;
    if (signal.aborted) return;
    const error = new Error("This operation was aborted");
    error.name = "AbortError";
    signal.aborted = true;
    signal.reason = reason === undefined ? error : reason;
    const event = new Event("abort");
    if (typeof signal.onabort === "function") signal.onabort(event);
    signal.dispatchEvent(event);
  }
}

const missing = (name) => {
  const refused = function () {
    refuse(name);
  };
  Object.defineProperty(refused, "name", { value: name });
  return refused;
};

const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;
module.exports = {
  performance, Event, EventTarget, AbortSignal, AbortController,
  MessageChannel: missing("MessageChannel"),
  Blob: missing("Blob"),
  timers: {
    setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate,
    promises: { setTimeout, setInterval, setImmediate },
  },
  perfHooks: {
    performance,
    PerformanceObserver: missing("PerformanceObserver"),
    monitorEventLoopDelay: missing("monitorEventLoopDelay"),
    createHistogram: missing("createHistogram"),
    constants: {},
  },
};
