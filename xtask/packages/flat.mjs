import { flatten, unflatten } from "flat";
export const result = [flatten({ a: { b: [1, { c: 2 }] }, d: {} }), unflatten({ "a.b.0": 1, "a.b.1.c": 2 }), flatten({ x: { y: 1 } }, { delimiter: "/" })];
