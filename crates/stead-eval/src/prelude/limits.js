// Lists that are long without being large: the engine walks all their holes in one go, and nothing could end it.

import { NativeError, apply, defineProperty, ownProperty } from "stead:host";

// A list of values as long as this one takes more memory than there is.
const LONGEST = 2 ** 24;

function limit(method) {
  const { call } = {
    call(...args) {
      // What is no list, the method itself looks at.
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
