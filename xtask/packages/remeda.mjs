import * as R from "remeda";
import { pipe, map, filter, groupBy, take } from "remeda";
export const result = [pipe([1, 2, 3, 4], filter((x) => x % 2 === 0), map((x) => x * 10), take(1)), groupBy([{ k: "a" }, { k: "b" }, { k: "a" }], (x) => x.k), R.mergeDeep({ a: { b: 1 } }, { a: { c: 2 } }), R.chunk([1, 2, 3], 2), R.isDeepEqual({ a: 1 }, { a: 1 }), R.sortBy([3, 1, 2], (x) => x), R.omit({ a: 1, b: 2 }, ["a"]), R.toCamelCase("a b-c")];
