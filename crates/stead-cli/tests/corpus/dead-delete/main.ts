import * as local from "stead/local";

new local.Data({ value: 1 }, { id: "stays" });
