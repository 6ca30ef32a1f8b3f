import { env } from "stead";
import * as local from "stead/local";

new local.File({ path: `out/${env}/stays.txt`, content: "stays" }, { id: "stays" });
new local.File({ path: `out/${env}/goes.txt`, content: "goes" }, { id: "goes" });
new local.File({ path: `out/${env}/old.txt`, content: "moves" }, { id: "old" });
new local.RandomString({ length: 8 }, { id: "token", pinned: true });
new local.Data({ value: 1 }, { id: "number" });
