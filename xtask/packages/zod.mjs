import { z } from "zod";
const User = z.object({
  name: z.string().min(2), age: z.number().int().positive().optional(), tags: z.array(z.string()).default(["x"]), role: z.enum(["admin", "user"]),
  address: z.object({ zip: z.string().regex(/^\d{5}$/) }).strict(), kind: z.discriminatedUnion("type", [z.object({ type: z.literal("a"), n: z.number() }), z.object({ type: z.literal("b"), s: z.string() })]),
});
const good = { name: "Joe", role: "admin", address: { zip: "12345" }, kind: { type: "a", n: 1 } };
const bad = User.safeParse({ name: "J", age: -1, role: "x", address: { zip: "1", more: 1 }, kind: { type: "c" } });
export const result = [
  User.parse(good), bad.success, bad.error.issues.map((issue) => [issue.code, issue.path.join("."), issue.message]), z.string().transform((s) => s.length).pipe(z.number().max(3)).safeParse("four").success,
  z.coerce.number().parse("12.5"), z.record(z.string(), z.number()).parse({ a: 1 }), z.string().email().safeParse("a@b.co").success, z.tuple([z.string(), z.number()]).parse(["x", 1]), z.string().uuid().safeParse("x").success,
];
