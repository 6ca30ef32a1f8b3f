import equal from "fast-deep-equal";
export const result = [equal({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }), equal([1], [2]), equal(new Date(0), new Date(0)), equal(/a/g, /a/g), equal(NaN, NaN)];
