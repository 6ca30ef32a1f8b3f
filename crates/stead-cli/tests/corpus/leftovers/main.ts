import * as local from "stead/local";

new local.Data({ value: 1 }, { id: "fine" });
const stays = new local.File({ path: "out/second/a.txt", content: "a" }, { id: "stays" });
new local.Command({ create: "test -e out/allowed", triggers: [2], idempotent: true }, { id: "again" });
