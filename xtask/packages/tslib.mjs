import * as tslib from "tslib";
import { __rest, __spreadArray } from "tslib";
export const result = [tslib.__assign({ a: 1 }, { b: 2 }), __rest({ a: 1, b: 2, c: 3 }, ["a"]), __spreadArray([1], [2, 3], false), await tslib.__awaiter(undefined, undefined, Promise, function* () { return (yield Promise.resolve(1)) + 1; }), tslib.__importDefault({ __esModule: true, default: 3 }).default, [...tslib.__values([1, 2])]];
