import { Resource } from "stead";
import * as local from "stead/local";

// Marked and pinned as a whole: the marks of the records name the class, and the paths of the pins have digests.
export class Vault extends Resource {
  constructor(id: string) {
    super(id, { pinned: true, annotations: { "prevent-delete": "true" } });
    new local.Data({ value: id });
    new local.Data({ value: [id] }, { id: "box", aliases: ["main:local.Data#old-box"] });
  }
}

export class Page extends Resource {
  constructor(id: string) {
    super(id);
    new local.Data({ value: id }, { id: "note" });
  }
}
