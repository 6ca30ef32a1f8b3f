// Iterates over objects of the program on behalf of the engine, which would take an unknown `done` for true.
//
// The engine gets the results of the program itself: a promise is the same promise, so that jobs run in the same order. This module
// is loaded when a program first iterates over an object that is no array.

import { apply, asyncGenerators, generators, getPrototypeOf, hasOwn, listItems, mapItems, ownProperty, setItems } from "stead:host";
import { idOf } from "stead:unknown";

const { iterator, asyncIterator } = Symbol;
const promises = getPrototypeOf((async () => {})());
const { then } = promises;

// Iterators of the engine, whose `done` is always known.
function isNative(value) {
  const prototype = getPrototypeOf(value);
  if (prototype === null || hasOwn(value, "next")) return false;
  if (prototype === listItems || prototype === mapItems || prototype === setItems) return true;
  const parent = getPrototypeOf(prototype);
  return (parent === generators || parent === asyncGenerators) && !hasOwn(prototype, "next");
}

const isFunction = (value) => typeof value === "function" && idOf(value) === undefined;
const ignore = () => {};

// Refuses an unknown `done`. The engine reads a getter once.
function checkedResult(result, test) {
  test(result);
  if (typeof result !== "object" || result === null) return result;
  for (let at = result; at !== null; at = getPrototypeOf(at)) {
    const done = ownProperty(at, "done");
    if (done === undefined) continue;
    if (done.get === undefined) {
      test(done.value);
      return result;
    }
    return {
      get done() {
        return test(result.done);
      },
      get value() {
        return result.value;
      },
    };
  }
  return result;
}

// Looks at the result of an asynchronous iterator before the loop does, which waits for the same promise.
function awaitedResult(result, test) {
  if (typeof result !== "object" || result === null || getPrototypeOf(result) !== promises) return checkedResult(result, test);
  const look = (found) => {
    try {
      checkedResult(found, test);
    } catch {
      // The error is recorded.
    }
  };
  apply(then, result, [look, ignore]);
  return result;
}

function checkedIterator(of, test, check) {
  test(of);
  if (typeof of !== "object" || of === null || isNative(of)) return of;
  const { next } = of;
  const called = (method) => (isFunction(method) ? (...args) => check(apply(method, of, args), test) : method);
  return {
    next: called(next),
    get return() {
      return called(of.return);
    },
    get throw() {
      return called(of.throw);
    },
  };
}

/** Returns an object that the engine iterates over instead of `value`. `test` returns its argument, and refuses an unknown. */
export function checked(value, test) {
  const method = (key, check) => {
    const found = value[key];
    return isFunction(found) ? () => checkedIterator(apply(found, value, []), test, check) : found;
  };
  return {
    get [iterator]() {
      return method(iterator, checkedResult);
    },
    get [asyncIterator]() {
      return method(asyncIterator, awaitedResult);
    },
  };
}
