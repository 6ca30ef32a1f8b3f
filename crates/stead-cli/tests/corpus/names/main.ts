import { env, namespace } from "stead";
import * as local from "stead/local";
import { network } from "@acme/net";
import { greeting } from "plain";
import { zone } from "./lib/deep/zone.v2";
import { Page, Site } from "./lib/net";

// Each environment has a folder of its own.
const place = namespace === undefined ? env : `${env}.${namespace}`;

new local.File({ path: `out/${place}/v1.2.html`, content: "dots in an id" }, { id: "v1.2.index.html" });
new local.Data({ value: 1 }, { id: "a b/c#d%e:f" });
new local.Data({ value: 2 }, { id: "größe" });

// Without an id: told apart by a counter.
new local.Data({ value: "first" });
new local.Data({ value: "second" });
new local.Data({ value: "third" });

// Independent of where the code stands.
new local.Data({ value: "global" }, { gid: "the.global-one" });

const home = new Site("home.page", place);
new Site("blog", place);
const page = new Page();
const net = network(3);
const here = zone("eu.west-1");

export const title = home.title;
export const words = greeting;
export const nested = { net: net.map((data) => data.output), here: here.output, list: [1, 2.5, null, true, "text"] };
export const unnamed = page.note.output;
