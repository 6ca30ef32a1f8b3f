import * as local from "stead/local";

export const here = new local.Data({ value: "a module with a dot, at the top" }, { id: "here" });
