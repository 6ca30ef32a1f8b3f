//! The second argument of resources: what it may be, and what is said when it is not.

mod common;

use common::{program, show};

#[test]
fn options_are_recorded() {
    let graph = program(
        r#"import { Resource } from "stead";
import { Data } from "stead/local";
class G extends Resource { constructor() { super("g", { preventDelete: true }); new Data(); } }
const g = new G();
const a = new Data({}, { id: "a", dependsOn: g });
new Data({}, { id: "b", dependsOn: [a, g, a], deleteBeforeReplace: false, preventDelete: true, gid: undefined });
"#,
    )
    .graph();
    insta::assert_snapshot!(show(&graph), @r#"
    dev:main:G#g @main.ts:4:11 {"preventDelete":true}
    dev:main/G#g:local.Data @main.ts:3:81 in 0
    dev:main:local.Data#a @main.ts:5:11 {"dependsOn":[0]}
    dev:main:local.Data#b @main.ts:6:1 {"dependsOn":[0,2],"preventDelete":true,"deleteBeforeReplace":false}
    "#);
}

#[test]
fn every_option_of_a_resource_is_recorded() {
    let graph = program(
        r#"import { Resource } from "stead";
import { Data } from "stead/local";
const a = new Data({}, { id: "a", deletionPolicy: "retain", aliases: "main:local.Data#old" });
const b = new Data({}, { id: "b", deletedWith: a, replaceWith: [a], deletionPolicy: "delete" });
new Data({}, { id: "c", replaceWith: [b, a, b], aliases: ['dev:lib:local.Data', '#was'], import: "x-1" });
new Data({}, { id: "d", ignoreChanges: "value.tags[*]", replaceOnChanges: ["value", "*"] });
new Data({}, { id: "e", timeouts: { create: 90, update: "10m", delete: "1h30m" } });
class G extends Resource { constructor() { super("g", { deletionPolicy: "Retain" as any, dependsOn: a }); } }
new G();
class H extends Resource { constructor() { super("h", { protect: true, annotations: { "s3/prevent-delete": "false" } }); } }
new H();
new Data({}, { id: "f", retainOnDelete: false, annotations: { "prevent-delete": true, "deletion-policy": undefined } });
"#,
    )
    .graph();
    insta::assert_snapshot!(show(&graph), @r#"
    dev:main:local.Data#a @main.ts:3:11 {"deletionPolicy":"retain","aliases":["dev:main:local.Data#old"]}
    dev:main:local.Data#b @main.ts:4:11 {"deletionPolicy":"delete","deletedWith":0,"replaceWith":[0]}
    dev:main:local.Data#c @main.ts:5:1 {"replaceWith":[0,1],"aliases":["dev:lib:local.Data","dev#was"],"import":"x-1"}
    dev:main:local.Data#d @main.ts:6:1 {"ignoreChanges":["value.tags[*]"],"replaceOnChanges":["value","*"]}
    dev:main:local.Data#e @main.ts:7:1 {"timeouts":{"create":90,"update":600,"delete":5400}}
    dev:main:G#g @main.ts:9:1 {"dependsOn":[0],"deletionPolicy":"retain"}
    dev:main:H#h @main.ts:11:1 {"annotations":{"s3/prevent-delete":"false"},"protect":true}
    dev:main:local.Data#f @main.ts:12:1 {"annotations":{"prevent-delete":true},"retainOnDelete":false}
    "#);
}

#[test]
fn options_that_do_not_exist_or_have_the_wrong_type_are_refused() {
    let text = "import { Data } from \"stead/local\";\nimport { Resource } from \"stead\";\nnew Data({}, { idd: \"a\" } as any);\n\
        new Data({}, { id: 5, preventDelete: \"yes\" } as any);\nnew Data({}, { id: \"12\" });\nnew Data({}, { gid: \"\" });\n\
        new Data({}, { dependsOn: [\"a\"] } as any);\nconst d = new Data({}, { id: \"x\", gid: \"y\" });\n\
        new Data({}, { id: d.echo });\nnew Data({}, \"id\" as any);\nnew Data({}, { color: true } as any);\n\
        class G extends Resource {}\nnew (G as any)(7);\n";
    insta::assert_snapshot!(program(text).failure(), @r#"
    ST0109 there is no resource option `idd`
      @ main.ts:3:16 +3 here
      help: did you mean `id`?
    ST0109 `id` must be a string that the program knows
      @ main.ts:4:16 +2 here
    ST0109 `preventDelete` must be true or false
      @ main.ts:4:23 +13 here
    ST0109 `id`: the id "12" is a bare number; numbers are the counters of unnamed resources
      @ main.ts:5:16 +2 here
    ST0109 `gid`: a part of the name "" is empty
      @ main.ts:6:16 +3 here
    ST0109 `dependsOn` takes a resource, or a list of resources
      @ main.ts:7:16 +9 here
      help: a property that comes from a resource orders the two by itself
    ST0109 a resource has an `id` or a `gid`, not both
      @ main.ts:8:35 +3 here
      help: a `gid` is the whole name; leave `id` out
    ST0109 `id` must be a string that the program knows
      @ main.ts:9:16 +2 here
    ST0109 the options of a resource are a plain object
      @ main.ts:10:1 +25 here
    ST0109 there is no resource option `color`
      @ main.ts:11:16 +5 here
      help: there are: id, gid, dependsOn, preventDelete, deletionPolicy, pinned, annotations, protect, retainOnDelete, deleteBeforeReplace, aliases, ignoreChanges, replaceOnChanges, deletedWith, replaceWith, provider, import, timeouts
    ST0109 `id` must be a string that the program knows
      @ main.ts:13:1 +17 here
    "#);
}

#[test]
fn policies_names_and_places_that_cannot_be_read_are_refused() {
    let text = r#"import { Resource } from "stead";
import { Data } from "stead/local";
class G extends Resource { constructor(options?: any) { super("g", options); } }
const g = new G();
const d = new Data({}, { id: "d" });
new Data({}, { deletionPolicy: "retian" as any });
new Data({}, { deletionPolicy: true as any });
new Data({}, { aliases: ["main", 5 as any] });
new Data({}, { aliases: d.echo });
new Data({}, { ignoreChanges: ["valeu", "value[x]", ""] });
new Data({}, { replaceOnChanges: 7 as any });
new Data({}, { deletionPolicy: "Snapshot" as any, annotations: "x" as any });
new Data({}, { annotations: { "prevent-delete": 1 as any, "deletion-policy": d.echo as any } });
"#;
    insta::assert_snapshot!(program(text).failure(), @r#"
    ST0109 there is no deletion policy `retian`
      @ main.ts:6:16 +14 here
      help: did you mean `retain`?
    ST0109 `deletionPolicy` must be "delete" or "retain"
      @ main.ts:7:16 +14 here
    ST0109 `aliases` takes a string that the program knows, or a list of strings
      @ main.ts:8:16 +7 here
    ST0109 `aliases`: "main" is not a name: it needs `env:module:type`, or `env#gid`
      @ main.ts:8:16 +7 here
      help: write the name as `stead state ls` shows it, with or without the environment: `main:local.File#old`
    ST0109 `aliases` takes a string that the program knows, or a list of strings
      @ main.ts:9:16 +7 here
    ST0109 `ignoreChanges`: there is no property `valeu`
      @ main.ts:10:16 +13 here
      help: did you mean `value`?
    ST0109 `ignoreChanges`: `value[x]` is not a property path: only a number, a quoted name or `*` stands in brackets
      @ main.ts:10:16 +13 here
      help: write a property, or a place in one: `tags`, `rules[0].port`, `rules[*].port`
    ST0109 `ignoreChanges`: `` is not a property path: it is empty
      @ main.ts:10:16 +13 here
      help: write a property, or a place in one: `tags`, `rules[0].port`, `rules[*].port`
    ST0109 `replaceOnChanges` takes a string that the program knows, or a list of strings
      @ main.ts:11:16 +16 here
    ST0109 the deletion policy `snapshot` is not supported yet
      @ main.ts:12:16 +14 here
      help: there are: delete, retain
    ST0109 `annotations` must be an object
      @ main.ts:12:51 +11 here
      help: write `annotations: { "s3/deletion-policy": "retain" }`
    ST0109 `annotations`: `prevent-delete` must be text, true or false
      @ main.ts:13:16 +11 here
      help: write `annotations: { "s3/deletion-policy": "retain" }`
    ST0109 `annotations`: `deletion-policy` must be text, true or false
      @ main.ts:13:16 +11 here
      help: write `annotations: { "s3/deletion-policy": "retain" }`
    "#);
}

#[test]
fn what_is_no_resource_is_refused_where_one_is_wanted() {
    let text = r#"import { Resource } from "stead";
import { Data } from "stead/local";
class G extends Resource { constructor(options?: any) { super("g", options); } }
const g = new G();
const d = new Data({}, { id: "d" });
new Data({}, { deletedWith: g });
new Data({}, { deletedWith: [d] as any });
new Data({}, { replaceWith: [d, g, "d" as any] });
new Data({}, { provider: d });
new Data({}, { provider: g });
new Data({}, { provider: "aws" as any });
"#;
    insta::assert_snapshot!(program(text).failure(), @"
    ST0109 `deletedWith` takes resources, and this is a group
      @ main.ts:6:16 +11 here
      help: a group is never deleted or replaced itself: name the resources in it
    ST0109 `deletedWith` takes one resource, not a list
      @ main.ts:7:16 +11 here
    ST0109 `replaceWith` takes a resource, or a list of resources
      @ main.ts:8:16 +11 here
    ST0109 `replaceWith` takes resources, and this is a group
      @ main.ts:8:16 +11 here
      help: a group is never deleted or replaced itself: name the resources in it
    ST0109 `provider` takes a resource of a type `….Provider`, and this is a local.Data
      @ main.ts:9:16 +8 here
      help: without `provider`, the target's own provider serves it
    ST0109 `provider` takes resources, and this is a group
      @ main.ts:10:16 +8 here
      help: without `provider`, the target's own provider serves it
    ST0109 `provider` takes a resource
      @ main.ts:11:16 +8 here
    ");
}

#[test]
fn ids_and_lengths_of_time_that_cannot_be_read_are_refused() {
    let text = r#"import { Resource } from "stead";
import { Data } from "stead/local";
class G extends Resource { constructor(options?: any) { super("g", options); } }
const g = new G();
const d = new Data({}, { id: "d" });
new Data({}, { import: "" });
new Data({}, { import: d.echo });
new Data({}, { timeouts: "10m" as any });
new Data({}, { timeouts: { create: "10 minutes", updat: 5, delete: 0 } as any });
new G({ import: "x" });
"#;
    insta::assert_snapshot!(program(text).failure(), @r#"
    ST0109 `import` must be a string that the program knows, and not empty
      @ main.ts:6:16 +6 here
    ST0109 `import` must be a string that the program knows, and not empty
      @ main.ts:7:16 +6 here
    ST0109 `timeouts` must be an object
      @ main.ts:8:16 +8 here
      help: write `timeouts: { create: 90, update: "10m", delete: "1h" }`
    ST0109 `timeouts.create` must be a number of seconds, or text with a unit
      @ main.ts:9:16 +8 here
      help: write `timeouts: { create: 90, update: "10m", delete: "1h" }`
    ST0109 `timeouts`: there is no step `updat`
      @ main.ts:9:16 +8 here
      help: did you mean `update`?
    ST0109 `timeouts.delete` must be a number of seconds, or text with a unit
      @ main.ts:9:16 +8 here
      help: write `timeouts: { create: 90, update: "10m", delete: "1h" }`
    ST0109 `import` says nothing about a group
      @ main.ts:10:9 +6 here
      help: give it to the resources in the group
    "#);
}
