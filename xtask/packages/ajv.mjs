import { Ajv } from "ajv";
const ajv = new Ajv({ allErrors: true, useDefaults: true });
const validate = ajv.compile({
  type: "object", required: ["name", "port"], additionalProperties: false,
  properties: { name: { type: "string", minLength: 2 }, port: { type: "integer", minimum: 1, maximum: 65535 }, mode: { enum: ["a", "b"], default: "a" }, tags: { type: "array", items: { type: "string" }, uniqueItems: true } },
});
const data = { name: "db", port: 5432 };
const first = validate(data);
const second = validate({ name: "x", port: 70000, extra: 1, tags: ["a", "a", 3] });
export const result = [first, data, second, ajv.errorsText(validate.errors), validate.errors.map((error) => error.keyword).sort(), ajv.validate({ $ref: "#/$defs/p", $defs: { p: { type: "string", pattern: "^a+$" } } }, "aaa")];
