// Limits the length of sparse lists: the engine visits all their holes in one call that cannot be interrupted.

import { NativeError, apply, defineProperty, ownProperty } from "stead:host";

// A list of this length with values exceeds the memory limit.
const LONGEST = 2 ** 24;

function limit(method) {
  const { call } = {
    call(...args) {
      // The method itself checks receivers that are not lists.
      if (this !== undefined && this !== null && this.length > LONGEST) throw new NativeError("out of memory");
      return apply(method, this, args);
    },
  };
  defineProperty(call, "name", ownProperty(method, "name"));
  defineProperty(call, "length", ownProperty(method, "length"));
  return call;
}

const walking = [
  "concat", "copyWithin", "every", "fill", "filter", "find", "findIndex", "findLast", "findLastIndex", "flat",
  "flatMap", "forEach", "includes", "indexOf", "join", "lastIndexOf", "map", "reduce", "reduceRight", "reverse",
  "shift", "slice", "some", "sort", "splice", "toReversed", "toSorted", "toSpliced", "unshift", "with",
];
for (const name of walking) {
  const property = ownProperty(Array.prototype, name);
  if (property === undefined) continue;
  property.value = limit(property.value);
  defineProperty(Array.prototype, name, property);
}
