import * as v from "valibot";
const Schema = v.object({ name: v.pipe(v.string(), v.minLength(2)), n: v.optional(v.number(), 5), list: v.array(v.union([v.string(), v.number()])) });
const bad = v.safeParse(Schema, { name: "x", list: [true] });
export const result = [v.parse(Schema, { name: "ab", list: [1, "x"] }), bad.success, bad.issues.map((issue) => [issue.type, issue.message]), v.is(v.pipe(v.string(), v.email()), "a@b.co"), v.flatten(bad.issues)];
