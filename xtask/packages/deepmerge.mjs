import deepmerge from "deepmerge";
export const result = [deepmerge({ a: { b: [1] }, c: 1 }, { a: { b: [2], d: 3 } }), deepmerge.all([{ x: 1 }, { y: { z: 2 } }, { y: { w: 3 } }]), deepmerge([1], [2], { arrayMerge: (_, source) => source })];
