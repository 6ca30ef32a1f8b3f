// Counts the work of built-ins that visit a whole list or text in one call, which the engine cannot interrupt.
//
// Sparse lists that are too long are refused: the engine would visit all their holes.

import { host, LONGEST, NativeError, apply, getPrototypeOf, isArray, ownMethod, ownProperty, replace } from "stead:host";

// Items of a list, or characters of a text, that take about as long as the steps between two interrupts.
const ITEMS = 2 ** 14;
const CHARACTERS = 2 ** 18;
const JSON_CHARACTERS = 2 ** 15;
const { floor, log2 } = Math;
const NativeObject = Object;
// Shorter ones are counted as the steps of the call.
const SHORT = 512;

let pending = 0;
function count(length, unit) {
  pending += length / unit;
  if (pending < 1) return;
  const exceeded = host.work(pending);
  pending = 0;
  if (exceeded) throw new NativeError("interrupted");
}

function replaceMethods(object, names, make) {
  for (const name of names) {
    const native = ownMethod(object, name);
    if (native !== undefined) replace(object, name, make(native));
  }
}

const walking = [
  "concat", "copyWithin", "every", "fill", "filter", "find", "findIndex", "findLast", "findLastIndex", "flatMap", "forEach",
  "map", "reduce", "reduceRight", "reverse",
  "shift", "slice", "some", "splice", "toReversed", "toSpliced", "unshift", "with",
];
// `weight` is the cost of one item.
const ofList = (weight) => (method) => {
  const { call } = {
    call(...args) {
      // The method itself checks receivers that are not lists.
      const length = this === undefined || this === null ? 0 : this.length;
      if (length > SHORT) {
        if (length > LONGEST) throw new NativeError("out of memory");
        count(length * weight(length), ITEMS);
      }
      return apply(method, this, args);
    },
  };
  return call;
};
replaceMethods(Array.prototype, walking, ofList(() => 1));
// The others that join or search are loops of the prelude, whose steps the engine counts.
replaceMethods(Array.prototype, ["toLocaleString"], ofList(() => 4));
replaceMethods(Array.prototype, ["sort", "toSorted"], ofList((length) => 4 * log2(length)));

// The order that a contradicting comparison gives depends on the algorithm; ours is that of Node.
let sorting;
const withComparison = (sort) => (method) => {
  const { call } = {
    call(compare) {
      // The method itself refuses receivers and comparisons that are none.
      if (typeof compare !== "function" || this === undefined || this === null) return apply(method, this, [compare]);
      return sort((sorting ??= host.lazy("stead:sort")), this, compare, method);
    },
  };
  return call;
};
const listLength = (object) => {
  const length = +object.length;
  if (length > LONGEST) throw new NativeError("out of memory");
  return length > 0 ? floor(length) : 0;
};
replaceMethods(Array.prototype, ["sort"], withComparison(({ sortList }, self, compare) => {
  const object = NativeObject(self);
  return sortList(object, listLength(object), compare);
}));
replaceMethods(Array.prototype, ["toSorted"], withComparison(({ sortedList }, self, compare) => {
  const object = NativeObject(self);
  return sortedList(object, listLength(object), compare, []);
}));

const ofBytes = (weight, unit) => (method) => {
  const { call } = {
    call(...args) {
      const length = this === undefined || this === null ? 0 : this.length;
      if (length > SHORT) count(length * weight(length), unit);
      return apply(method, this, args);
    },
  };
  return call;
};
const inPlace = [
  "copyWithin", "every", "fill", "find", "findIndex", "findLast", "findLastIndex", "forEach", "includes", "indexOf",
  "join", "lastIndexOf", "reduce", "reduceRight", "reverse", "set", "some",
];
const bytes = getPrototypeOf(Uint8Array.prototype);
replaceMethods(bytes, inPlace, ofBytes(() => 1, CHARACTERS));
replaceMethods(bytes, ["sort", "toSorted"], ofBytes(log2, ITEMS));
// Returns undefined for what is no typed array.
const kindOf = ownProperty(bytes, Symbol.toStringTag).get;
const lengthOf = ownProperty(bytes, "length").get;
const { toReversed: reversed } = bytes;
replaceMethods(bytes, ["sort"], withComparison(({ sortBytes }, self, compare, method) => {
  if (apply(kindOf, self, []) === undefined) return apply(method, self, [compare]);
  return sortBytes(self, apply(lengthOf, self, []), compare);
}));
// The engine cannot interrupt its own sort, which takes seconds for an array of this length.
const LONG_SORT = 2 ** 20;
const ofLongSort = (method) => {
  const { call } = {
    call(compare) {
      if (compare === undefined && this !== undefined && this !== null && this.length > LONG_SORT && apply(kindOf, this, []) !== undefined) {
        return apply(method, this, [(sorting ??= host.lazy("stead:sort")).numericOrder]);
      }
      return apply(method, this, [compare]);
    },
  };
  return call;
};
replaceMethods(bytes, ["toSorted"], withComparison(({ sortBytes }, self, compare, method) => {
  if (apply(kindOf, self, []) === undefined) return apply(method, self, [compare]);
  // The native method makes the array of the right kind.
  const sorted = apply(reversed, self, []);
  const length = apply(lengthOf, self, []);
  for (let i = 0; i < length; i++) sorted[i] = self[i];
  return sortBytes(sorted, length, compare);
}));
replaceMethods(bytes, ["sort", "toSorted"], ofLongSort);

// Searches allocate nothing; other methods of texts are counted by the memory of their results.
const ofText = (method) => {
  const { call } = {
    call(text, from) {
      const { length } = this ?? "";
      // The engine compares the wanted text at each position.
      const wanted = typeof text === "string" ? text.length : 1;
      if (length > SHORT) count(length * (1 + (wanted < 64 ? wanted : 64) / 8), CHARACTERS);
      return apply(method, this, from === undefined ? [text] : [text, from]);
    },
  };
  return call;
};
replaceMethods(String.prototype, ["includes", "indexOf", "lastIndexOf", "search", "isWellFormed"], ofText);

// Functions that read all keys of an object or all items of a collection.
const ofKeys = (method) => {
  const { call } = {
    call(...args) {
      const all = apply(method, this, args);
      if (typeof all === "object" && all !== null && all.length > SHORT) count(all.length, ITEMS);
      return all;
    },
  };
  return call;
};
replaceMethods(Object, ["keys", "values", "entries", "getOwnPropertyNames"], ofKeys);
replaceMethods(Reflect, ["ownKeys"], ofKeys);

// Texts of JSON.
const ofJson = (method) => {
  const { call } = {
    call(...args) {
      if (typeof args[0] === "string" && args[0].length > SHORT) count(args[0].length, JSON_CHARACTERS);
      if (isArray(args[0]) && args[0].length > LONGEST) throw new NativeError("out of memory");
      const made = apply(method, this, args);
      if (typeof made === "string" && made.length > SHORT) count(made.length, JSON_CHARACTERS);
      return made;
    },
  };
  return call;
};
replaceMethods(JSON, ["parse", "stringify"], ofJson);

// The engine has no buffers of this size. Its error can be caught, and Node makes the buffer.
const LONGEST_BUFFER = 2 ** 31 - 1;
const Bytes = getPrototypeOf(Uint8Array);
/** Returns the number of bytes that `new target(...args)` asks for, if no buffer here can have so many. */
export function tooManyBytes(target, length) {
  const isList = typeof length === "object" && length !== null;
  const count = isList ? ownProperty(length, "length")?.value : length;
  if (typeof count !== "number" && typeof count !== "string") return undefined;
  // Below this length, no kind of item exceeds the limit.
  if (!(+count > LONGEST_BUFFER / 8)) return undefined;
  for (let at = target; typeof at === "function"; at = getPrototypeOf(at)) {
    if (at !== ArrayBuffer && at !== Bytes) continue;
    const size = at === Bytes ? target.BYTES_PER_ELEMENT : 1;
    return +count * size > LONGEST_BUFFER ? +count * size : undefined;
  }
  return undefined;
}
