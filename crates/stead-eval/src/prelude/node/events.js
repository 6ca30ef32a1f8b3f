// node:events: EventEmitter, `once` and `on` of promises excepted for streams.
"use strict";

const { coded, invalidArgument, outOfRange } = require("node:internal/errors");

const invalidListener = (listener) => invalidArgument("listener", "of type function", listener);
const errorMonitor = Symbol("events.errorMonitor");

function listenersOf(emitter) {
  if (emitter._events === undefined || emitter._events === Object.getPrototypeOf(emitter)._events) {
    emitter._events = Object.create(null);
    emitter._eventsCount = 0;
  }
  return emitter._events;
}

function add(emitter, type, listener, first) {
  if (typeof listener !== "function") throw invalidListener(listener);
  const events = listenersOf(emitter);
  if (events.newListener !== undefined) emitter.emit("newListener", type, listener.listener ?? listener);
  const list = events[type];
  if (list === undefined) {
    events[type] = [listener];
    emitter._eventsCount++;
  } else {
    events[type] = first ? [listener, ...list] : [...list, listener];
  }
  return emitter;
}

function EventEmitter(options) {
  EventEmitter.init.call(this, options);
}
EventEmitter.init = function () {
  listenersOf(this);
  this._maxListeners = this._maxListeners ?? undefined;
};
EventEmitter.prototype._events = undefined;
EventEmitter.prototype._eventsCount = 0;
EventEmitter.prototype._maxListeners = undefined;

Object.assign(EventEmitter.prototype, {
  setMaxListeners(count) {
    if (typeof count !== "number") throw invalidArgument("setMaxListeners", "of type number", count);
    if (!(count >= 0)) throw outOfRange("setMaxListeners", ">= 0", count);
    this._maxListeners = count;
    return this;
  },
  getMaxListeners() {
    return this._maxListeners ?? EventEmitter.defaultMaxListeners;
  },
  emit(type, ...args) {
    if (type === "error" && listenersOf(this)[errorMonitor] !== undefined) this.emit(errorMonitor, ...args);
    const list = listenersOf(this)[type];
    if (list === undefined) {
      if (type !== "error") return false;
      if (args[0] instanceof Error) throw args[0];
      const shown = require("node:internal/inspect").inspect(args[0]);
      throw Object.assign(coded(new Error(`Unhandled error. (${shown})`), "ERR_UNHANDLED_ERROR"), { context: args[0] });
    }
    for (const listener of list) listener.apply(this, args);
    return true;
  },
  on(type, listener) {
    return add(this, type, listener, false);
  },
  prependListener(type, listener) {
    return add(this, type, listener, true);
  },
  once(type, listener) {
    if (typeof listener !== "function") throw invalidListener(listener);
    return this.on(type, onceOf(this, type, listener));
  },
  prependOnceListener(type, listener) {
    if (typeof listener !== "function") throw invalidListener(listener);
    return this.prependListener(type, onceOf(this, type, listener));
  },
  removeListener(type, listener) {
    if (typeof listener !== "function") throw invalidListener(listener);
    const events = listenersOf(this);
    const list = events[type] ?? [];
    for (let i = list.length - 1; i >= 0; i--) {
      if (list[i] !== listener && list[i].listener !== listener) continue;
      const rest = [...list.slice(0, i), ...list.slice(i + 1)];
      if (rest.length > 0) events[type] = rest;
      else {
        delete events[type];
        this._eventsCount--;
      }
      if (events.removeListener !== undefined) this.emit("removeListener", type, listener.listener ?? listener);
      break;
    }
    return this;
  },
  removeAllListeners(type) {
    const events = listenersOf(this);
    if (events.removeListener !== undefined) {
      // Each listener is removed by itself, the last one first, so that the removal is announced.
      const names = arguments.length > 0 ? [type] : Reflect.ownKeys(events).filter((name) => name !== "removeListener");
      for (const name of names) for (const listener of [...(events[name] ?? [])].reverse()) this.removeListener(name, listener);
      if (arguments.length > 0) return this;
    }
    if (arguments.length === 0) {
      this._events = Object.create(null);
      this._eventsCount = 0;
    } else if (events[type] !== undefined) {
      delete events[type];
      this._eventsCount--;
    }
    return this;
  },
  listeners(type) {
    return (listenersOf(this)[type] ?? []).map((listener) => listener.listener ?? listener);
  },
  rawListeners(type) {
    return [...(listenersOf(this)[type] ?? [])];
  },
  listenerCount(type, listener) {
    const list = listenersOf(this)[type] ?? [];
    if (listener === undefined || listener === null) return list.length;
    return list.filter((known) => known === listener || known.listener === listener).length;
  },
  eventNames() {
    return Reflect.ownKeys(listenersOf(this));
  },
});
EventEmitter.prototype.addListener = EventEmitter.prototype.on;
EventEmitter.prototype.off = EventEmitter.prototype.removeListener;

function onceOf(emitter, type, listener) {
  const wrapped = function (...args) {
    emitter.removeListener(type, wrapped);
    return listener.apply(emitter, args);
  };
  wrapped.listener = listener;
  return wrapped;
}

EventEmitter.once = (emitter, type) =>
  new Promise((resolve, reject) => {
    const failed = (error) => {
      emitter.removeListener(type, done);
      reject(error);
    };
    const done = (...args) => {
      emitter.removeListener("error", failed);
      resolve(args);
    };
    emitter.once(type, done);
    if (type !== "error") emitter.once("error", failed);
  });
EventEmitter.on = () => require("node:internal/unavailable").refuse("`events.on`", "use `emitter.on` with a function");
EventEmitter.listenerCount = (emitter, type) => emitter.listenerCount(type);
EventEmitter.getEventListeners = (emitter, type) => emitter.listeners(type);
EventEmitter.setMaxListeners = (count, ...emitters) => emitters.forEach((emitter) => emitter.setMaxListeners(count));
EventEmitter.errorMonitor = errorMonitor;
EventEmitter.captureRejectionSymbol = Symbol.for("nodejs.rejection");
EventEmitter.captureRejections = false;
EventEmitter.defaultMaxListeners = 10;
EventEmitter.usingDomains = false;
EventEmitter.EventEmitter = EventEmitter;
module.exports = EventEmitter;
0 && (module.exports = { EventEmitter, on, once, listenerCount, getEventListeners, setMaxListeners, errorMonitor, captureRejectionSymbol, captureRejections, defaultMaxListeners, usingDomains });
