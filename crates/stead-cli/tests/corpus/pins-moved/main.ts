import { Resource } from "stead";
import * as local from "stead/local";

class Store extends Resource {
  // The program says another path by now: the frozen value of the pinfile holds.
  readonly ledger = new local.File({ path: "out/store.txt", content: "one\n" }, { pinned: true });
  readonly token = new local.RandomString({ length: 12 }, { id: "token", pinned: true });
}
new Store();
