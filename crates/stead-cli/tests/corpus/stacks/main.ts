import { env } from "stead";
import * as local from "stead/local";

if (env !== "source") {
  const a = new local.Data({ value: 1 }, { id: "a" });
  new local.Data({ value: a.output }, { id: "b" });
}
export const one = 1;
