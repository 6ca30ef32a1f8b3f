// node:events: EventEmitter, `once` and `on` of promises excepted for streams.
"use strict";

function invalidListener(listener) {
  const error = new TypeError(`The "listener" argument must be of type function. Received ${listener === null ? "null" : typeof listener}`);
  error.code = "ERR_INVALID_ARG_TYPE";
  return error;
}

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
    this._maxListeners = count;
    return this;
  },
  getMaxListeners() {
    return this._maxListeners ?? EventEmitter.defaultMaxListeners;
  },
  emit(type, ...args) {
    const list = listenersOf(this)[type];
    if (list === undefined) {
      if (type !== "error") return false;
      if (args[0] instanceof Error) throw args[0];
      const error = new Error(`Unhandled error. (${String(args[0])})`);
      error.code = "ERR_UNHANDLED_ERROR";
      error.context = args[0];
      throw error;
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
      if (events.removeListener !== undefined) this.emit("removeListener", type, listener);
      break;
    }
    return this;
  },
  removeAllListeners(type) {
    const events = listenersOf(this);
    if (type === undefined) {
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
  listenerCount(type) {
    return (listenersOf(this)[type] ?? []).length;
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
EventEmitter.listenerCount = (emitter, type) => emitter.listenerCount(type);
EventEmitter.getEventListeners = (emitter, type) => emitter.listeners(type);
EventEmitter.setMaxListeners = (count, ...emitters) => emitters.forEach((emitter) => emitter.setMaxListeners(count));
EventEmitter.errorMonitor = Symbol("events.errorMonitor");
EventEmitter.captureRejectionSymbol = Symbol.for("nodejs.rejection");
EventEmitter.captureRejections = false;
EventEmitter.defaultMaxListeners = 10;
EventEmitter.usingDomains = false;
EventEmitter.EventEmitter = EventEmitter;
module.exports = EventEmitter;
0 && (module.exports = { EventEmitter, once, listenerCount, getEventListeners, setMaxListeners, errorMonitor, captureRejectionSymbol, captureRejections, defaultMaxListeners, usingDomains });
