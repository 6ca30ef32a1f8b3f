import * as local from "stead/local";

new local.Data({ value: 1 }, { id: "number" });
new local.Command(
  { create: "test -e out/killed || { mkdir -p out; touch out/killed; kill -9 $PPID; }; echo made" },
  { id: "migrate" },
);
