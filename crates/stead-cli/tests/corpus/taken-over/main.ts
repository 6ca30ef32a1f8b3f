import * as local from "stead/local";

new local.Data({ value: 1 }, { id: "number" });
new local.Command(
  { create: "mkdir -p out; touch out/started; while [ ! -e out/go ]; do sleep 0.02; done; echo made", idempotent: true },
  { id: "slow" },
);
