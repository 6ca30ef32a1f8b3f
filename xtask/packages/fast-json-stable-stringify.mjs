import stringify from "fast-json-stable-stringify";
export const result = [stringify({ c: 8, b: [{ z: 6, y: 5 }], a: null }), stringify({ a: 1, b: 2 }, (x, y) => (x.key < y.key ? 1 : -1)), stringify({ d: new Date(0) })];
