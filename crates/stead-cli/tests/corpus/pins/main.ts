import { nodeOf } from "stead";
import * as local from "stead/local";

// Pinned by its type, by an option and through its node; the last is not pinned.
new local.KeyPair({ path: "keys/deploy", comment: "deploy" }, { id: "deploy" });
new local.File({ path: "out/ledger.txt", content: "one\n" }, { id: "ledger", pinned: true });
const data = new local.Directory({ path: "out/data" }, { id: "data" });
nodeOf(data).pinned = true;
new local.RandomString({ length: 12 }, { id: "to.ken", pinned: true });
new local.File({ path: "out/data/scratch.txt", content: "free\n" }, { id: "scratch", dependsOn: data });
