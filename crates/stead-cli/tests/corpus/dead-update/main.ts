import * as local from "stead/local";

new local.Command(
  { create: "echo made", update: "test -e out/killed || { mkdir -p out; touch out/killed; kill -9 $PPID; }; echo changed", triggers: [2] },
  { id: "migrate" },
);
