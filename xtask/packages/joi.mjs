import Joi from "joi";
const schema = Joi.object({ a: Joi.string().alphanum().min(3).max(5).required(), b: Joi.number().integer().default(7), c: Joi.array().items(Joi.string().valid("x", "y")), d: Joi.when("b", { is: 7, then: Joi.forbidden() }) });
const bad = schema.validate({ a: "a!", c: ["z"], d: 1, e: 2 }, { abortEarly: false });
export const result = [schema.validate({ a: "abc" }).value, bad.error.details.map((detail) => detail.message), Joi.attempt("12", Joi.number()), Joi.string().email({ tlds: false }).validate("a@b.c").error === undefined, Joi.isSchema(schema)];
