import { match, P, isMatching } from "ts-pattern";
const f = (value) => match(value).with({ type: "a", n: P.number.gt(5) }, ({ n }) => `big ${n}`).with({ type: "a", n: P.select() }, (n) => `small ${n}`).with({ list: P.array(P.string) }, ({ list }) => list.join()).with(P.union("x", "y"), () => "xy").otherwise(() => "other");
export const result = [f({ type: "a", n: 7 }), f({ type: "a", n: 1 }), f({ list: ["p", "q"] }), f("x"), f(null), isMatching({ a: P.optional(P.string) }, {})];
