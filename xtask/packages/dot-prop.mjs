import { getProperty, setProperty, hasProperty, deepKeys, deleteProperty } from "dot-prop";
const object = { a: { b: [{ c: 1 }] } };
export const result = [getProperty(object, "a.b[0].c"), setProperty({}, "x.y", 1), hasProperty(object, "a.q"), deepKeys(object), deleteProperty(object, "a.b"), object];
