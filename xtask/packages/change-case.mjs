import * as changeCase from "change-case";
export const result = Object.entries(changeCase).filter(([name, f]) => typeof f === "function" && name.endsWith("Case")).map(([name, f]) => [name, f("Hello big-world fooBAR 2x")]);
