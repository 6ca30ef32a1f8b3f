import { Resource, env, namespace } from "stead";
import * as local from "stead/local";

const place = namespace === undefined ? env : `${env}-${namespace}`;
const file = (name: string) => ({ path: `out/${place}/${name}.txt`, content: name });

class Web extends Resource {
  constructor() {
    super("web", { preventDelete: true });
    new local.File(file("page"), { id: "page" });
    new local.File(file("cache"), { id: "cache", preventDelete: false, deletionPolicy: "delete" });
  }
}
new Web();
new local.File(file("db"), { id: "db", protect: true });
new local.File(file("log"), { id: "log", annotations: { "local/deletion-policy": "retain" } });
new local.File(file("by-hand"), { id: "by.hand", deletionPolicy: "delete" });
if (env !== "dev") {
  new local.File(file("tmp"), { id: "tmp", deletionPolicy: "delete", annotations: { "prevent-delete": false } });
  new local.File(file("old"), { id: "old" });
  new local.File(file("kept"), { id: "kept", retainOnDelete: true });
}
