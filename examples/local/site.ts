// A class that derives from Resource groups what it allocates.
import { Resource } from "stead";
import * as local from "stead/local";

export class Site extends Resource {
  readonly index: local.File;

  constructor(id: string, title: string, owner: string) {
    super(id);
    const folder = new local.Directory({ path: `out/${id}` });
    this.index = new local.File(
      {
        path: `${folder.path}/index.html`,
        content: `<h1>${title}</h1>\n<p>kept by ${owner}</p>\n`,
      },
      { dependsOn: folder },
    );
  }
}
