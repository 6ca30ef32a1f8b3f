import qs from "qs";
export const result = [qs.parse("a[b][c]=1&d[]=2&d[]=3&e=%20x"), qs.stringify({ a: { b: [1, { c: 2 }] }, d: null, e: "x y" }), qs.stringify({ a: [1, 2] }, { arrayFormat: "brackets", encode: false }), qs.parse("?x=1;y=2", { ignoreQueryPrefix: true, delimiter: ";" })];
