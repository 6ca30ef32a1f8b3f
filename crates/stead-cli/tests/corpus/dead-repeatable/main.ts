import * as local from "stead/local";

const before = new local.File({ path: "out/before.txt", content: "made before the run died" }, { id: "before" });
const killed = new local.Command(
  { create: "test -e out/killed || { touch out/killed; kill -9 $PPID; }; echo again", idempotent: true },
  { id: "killed", dependsOn: before },
);
new local.File({ path: "out/after.txt", content: killed.stdout }, { id: "after" });
export const said = killed.stdout;
