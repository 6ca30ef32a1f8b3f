import { groupBy, merge, kebabCase, template, cloneDeep, flow, curry } from "lodash-es";
import _ from "lodash-es";
export const result = [
  groupBy(["one", "two", "three"], "length"), merge({ a: { b: 1 } }, { a: { c: 2 } }), kebabCase("FooBar"), template("a<%- x %>b")({ x: "<" }),
  cloneDeep(new Map([["k", { v: 1 }]])).get("k"), flow([(x) => x + 1, (x) => x * 2])(3), curry((a, b, c) => [a, b, c])(1)(2, 3), _.range(0, 10, 3), _.invert({ a: 1, b: 2 }),
];
