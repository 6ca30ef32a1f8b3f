import { Resource } from "stead";
import * as local from "stead/local";

new local.File(
  { path: "out/a.txt", content: "a" },
  { id: "index", aliases: ["dev:main:local.File#home", "main:local.File#never"] },
);
new local.File({ path: "out/b.txt", content: "b" }, { id: "b2" });
new local.File({ path: "out/c.txt", content: "c" }, { id: "c.3" });
class Web extends Resource {
  constructor() {
    super();
    new local.Data({ value: 1 }, { id: "one" });
    new local.Data({ value: 2 });
    new local.Data({ value: 3 });
  }
}
new Web();
