import * as local from "stead/local";

new local.Data({ value: 2 }, { id: "number" });
