import _ from "lodash";
import chunk from "lodash/chunk.js";
export const result = [
  _.groupBy([1.2, 1.8, 2.1], Math.floor), _.merge({ a: [{ b: 2 }] }, { a: [{ c: 3 }] }), _.camelCase("foo-bar baz"), chunk([1, 2, 3, 4, 5], 2),
  _.cloneDeep({ a: { b: [1, new Date(0).getTime()] } }), _.template("hello <%= user %>!")({ user: "fred" }),
  _.sortBy([{ n: 2 }, { n: 1 }], "n"), _.get({ a: [{ b: 3 }] }, "a[0].b"), _.isEqual({ a: new Set([1]) }, { a: new Set([1]) }),
  _.chain([3, 1, 2]).sort().map((n) => n * 2).value(), _.words("fred, barney & pebbles"), _.debounce.name, _.isPlainObject(Object.create(null)),
  _.unionBy([{ x: 1 }], [{ x: 2 }, { x: 1 }], "x"), _.padStart("7", 3, "0"), _.uniqueId("p"), _.isNative(Array.prototype.push), _.toPath("a[0].b.c"),
];
