import { Resource } from "stead";
import * as local from "stead/local";

class Shelf extends Resource {
  constructor(id: string, name: string) {
    super(id);
    new local.File({ path: `out/${name}-${id}.txt`, content: `${name} ${id}` }, { id: "box" });
    new local.Data({ value: id }, { id: "label" });
    // Free, although all around it is pinned.
    new local.Data({ value: "free" }, { id: "free", pinned: false });
  }
}

export class Vault extends Resource {
  constructor(id: string) {
    super(id, { pinned: true });
    new Shelf("top", id);
    new Shelf("bottom", id);
  }
}
