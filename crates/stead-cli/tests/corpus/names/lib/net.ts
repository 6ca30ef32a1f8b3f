import { Resource } from "stead";
import * as local from "stead/local";

export class Page extends Resource {
  readonly note: local.Data;
  constructor(id?: string) {
    super(id);
    this.note = new local.Data({ value: { of: id ?? "nothing" } });
    new local.Data({ value: ["again", id ?? null] });
  }
}

export class Site extends Resource {
  readonly title: string;
  constructor(id: string, place: string) {
    super(id);
    this.title = id.toUpperCase();
    new local.File({ path: `out/${place}/${id}.txt`, content: this.title });
    new Page("start");
    new Page();
    new Page();
    new Inner(this);
  }
}

class Inner extends Resource {
  constructor(readonly site: Site) {
    super();
    new local.RandomString({ length: 6, special: false }, { id: "token" });
  }
}
