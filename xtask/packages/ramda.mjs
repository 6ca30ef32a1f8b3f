import * as R from "ramda";
export const result = [
  R.pipe(R.filter((x) => x > 1), R.map(R.multiply(2)), R.sum)([1, 2, 3]), R.assocPath(["a", "b"], 1, {}), R.groupBy(R.prop("t"), [{ t: "x", v: 1 }, { t: "y", v: 2 }]), R.equals({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }),
  R.curry((a, b, c) => a + b + c)(1)(2)(3), R.mergeDeepRight({ a: { b: 1 } }, { a: { c: 2 } }), R.view(R.lensPath(["x", 0]), { x: [5] }), R.transpose([[1, 2], [3, 4]]), R.toString({ a: [1, "x"] }), R.uniq([1, 1, 2]),
];
