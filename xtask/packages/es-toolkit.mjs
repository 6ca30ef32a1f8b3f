import { groupBy, chunk, debounce, cloneDeep, isEqual, kebabCase, mapValues, retry, merge } from "es-toolkit";
import { get, set } from "es-toolkit/compat";
export const result = [groupBy([1, 2, 3], (x) => (x % 2 ? "odd" : "even")), chunk([1, 2, 3], 2), typeof debounce, cloneDeep({ a: [new Map([[1, 2]]).get(1)] }), isEqual({ a: [1] }, { a: [1] }), kebabCase("helloWorld Foo"), mapValues({ a: 1 }, (v) => v + 1), await retry(async () => 5, 2), merge({ a: { b: 1 } }, { a: { c: 2 } }), get({ a: [{ b: 1 }] }, "a[0].b"), set({}, "x.y[0]", 1)];
