// Everything here is made on this machine, below `out/`: no account, no network.
import { config } from "stead";
import * as local from "stead/local";
import { Site } from "./site";

// A name that is drawn once and then stays.
const owner = new local.RandomPet({ words: 2 }, { id: "owner" });

// `owner.result` exists only after the pet does; it is used like any string, and stead orders the work.
const home = new Site("home", `${config.get("greeting")}, world`, owner.result);
const about = new Site("about", "About", owner.result);

const checked = new local.Command(
  {
    create: "cat out/*/index.html | wc -l | tr -d ' \\n'",
    triggers: [home.index.sha256, about.index.sha256],
    idempotent: true,
  },
  { id: "count" },
);

export const keptBy = owner.result;
export const index = home.index.path;
export const lines = checked.stdout;
