import * as local from "stead/local";

const a = new local.Data({ value: 1 }, { id: "a" });
new local.Data({ value: a.output }, { id: "b" });
