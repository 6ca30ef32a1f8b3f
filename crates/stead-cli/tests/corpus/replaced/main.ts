import * as local from "stead/local";

// Replaced twice, the new copy first.
const page = new local.File({ path: "out/page-3.txt", content: "page" }, { id: "page" });
// Follows the value, in place; and is replaced with it.
new local.Data({ value: page.sha256, }, { id: "digest" });
new local.Data({ value: "along" }, { id: "along", replaceWith: [page] });
new local.RandomPet({ words: 2, keepers: { generation: 3 } }, { id: "pet" });
new local.Data({ value: 3 }, { id: "number", replaceOnChanges: ["value"] });
new local.Data({ value: { tags: ["y"], size: 1 } }, { id: "ignored", ignoreChanges: ["value.tags"] });
// The old copy goes first.
new local.File(
  { path: "out/first-3.txt", content: "first" },
  { id: "first", deleteBeforeReplace: true },
);
// With an update line, it stays the same copy.
new local.Command({ create: "echo made", update: "echo changed", triggers: [3] }, { id: "command" });
