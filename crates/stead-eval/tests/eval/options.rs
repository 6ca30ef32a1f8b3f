//! Resource options, and the errors of invalid ones.

use crate::common::{program, show};

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
    ST0109 `id` must be a string, known while planning
      @ main.ts:4:16 +2 here
    ST0109 `preventDelete` must be true or false
      @ main.ts:4:23 +13 here
    ST0109 `id`: the id "12" is a bare number; numbers are the counters of unnamed resources
      @ main.ts:5:16 +2 here
    ST0109 `gid`: a part of the name "" is empty
      @ main.ts:6:16 +3 here
    ST0109 `dependsOn` must be a resource or a list of resources
      @ main.ts:7:16 +9 here
      help: a property that uses a value of another resource already creates the dependency
    ST0109 a resource has an `id` or a `gid`, not both
      @ main.ts:8:35 +3 here
      help: a `gid` is the whole name; remove `id`
    ST0109 `id` must be a string, known while planning
      @ main.ts:9:16 +2 here
    ST0109 the options of a resource must be a plain object
      @ main.ts:10:1 +25 here
      help: write `{ id: "id" }`
    ST0109 there is no resource option `color`
      @ main.ts:11:16 +5 here
      help: expected one of: id, gid, dependsOn, preventDelete, deletionPolicy, pinned, annotations, protect, retainOnDelete, deleteBeforeReplace, aliases, ignoreChanges, replaceOnChanges, sensitive, deletedWith, replaceWith, provider, import, timeouts
    ST0109 `id` must be a string, known while planning
      @ main.ts:13:1 +17 here
    "#);
}

#[test]
fn invalid_policies_names_and_property_paths_are_refused() {
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
    ST0109 `aliases` must be a string or a list of strings, known while planning
      @ main.ts:8:16 +7 here
    ST0109 `aliases`: "main" is not a name: it needs `env:module:type`, or `env#gid`
      @ main.ts:8:16 +7 here
      help: write the recorded name, with or without the environment, such as `main:local.File#old`; to see the names: list the recorded resources
    ST0109 `aliases` must be a string or a list of strings, known while planning
      @ main.ts:9:16 +7 here
    ST0109 `ignoreChanges`: there is no property `valeu`
      @ main.ts:10:16 +13 here
      help: did you mean `value`?
    ST0109 `ignoreChanges`: `value[x]` is not a property path: only a number, a quoted name or `*` stands in brackets
      @ main.ts:10:16 +13 here
      help: write a property or a path inside one: `tags`, `rules[0].port`, `rules[*].port`
    ST0109 `ignoreChanges`: `` is not a property path: it is empty
      @ main.ts:10:16 +13 here
      help: write a property or a path inside one: `tags`, `rules[0].port`, `rules[*].port`
    ST0109 `replaceOnChanges` must be a string or a list of strings, known while planning
      @ main.ts:11:16 +16 here
    ST0109 the deletion policy `snapshot` is not supported yet
      @ main.ts:12:16 +14 here
      help: expected one of: delete, retain
    ST0109 `annotations` must be an object
      @ main.ts:12:51 +11 here
      help: write `annotations: { "s3/deletion-policy": "retain" }`
    ST0109 `annotations`: `prevent-delete` must be a string, true or false
      @ main.ts:13:16 +11 here
      help: write `annotations: { "s3/deletion-policy": "retain" }`
    ST0109 `annotations`: `deletion-policy` must be a string, true or false
      @ main.ts:13:16 +11 here
      help: write `annotations: { "s3/deletion-policy": "retain" }`
    "#);
}

#[test]
fn options_that_need_a_resource_refuse_other_values() {
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
    ST0109 `deletedWith` must be a resource, not a group
      @ main.ts:6:16 +11 here
      help: a group itself is never deleted or replaced: name the resources in it
    ST0109 `deletedWith` must be one resource, not a list
      @ main.ts:7:16 +11 here
    ST0109 `replaceWith` must be a resource or a list of resources
      @ main.ts:8:16 +11 here
    ST0109 `replaceWith` must be a resource, not a group
      @ main.ts:8:16 +11 here
      help: a group itself is never deleted or replaced: name the resources in it
    ST0109 `provider` must be a resource of a type `….Provider`, not local.Data
      @ main.ts:9:16 +8 here
      help: without `provider`, the target's default provider manages the resource
    ST0109 `provider` must be a resource, not a group
      @ main.ts:10:16 +8 here
      help: without `provider`, the target's default provider manages the resource
    ST0109 `provider` must be a resource
      @ main.ts:11:16 +8 here
    ");
}

#[test]
fn invalid_ids_and_durations_are_refused() {
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
    ST0109 `import` must be a string that is not empty and is known while planning
      @ main.ts:6:16 +6 here
    ST0109 `import` must be a string that is not empty and is known while planning
      @ main.ts:7:16 +6 here
    ST0109 `timeouts` must be an object
      @ main.ts:8:16 +8 here
      help: write `timeouts: { create: 90, update: "10m", delete: "1h" }`
    ST0109 `timeouts.create` must be a number of seconds, or a string with units
      @ main.ts:9:16 +8 here
      help: write `timeouts: { create: 90, update: "10m", delete: "1h" }`
    ST0109 `timeouts`: there is no operation `updat`
      @ main.ts:9:16 +8 here
      help: did you mean `update`?
    ST0109 `timeouts.delete` must be a number of seconds, or a string with units
      @ main.ts:9:16 +8 here
      help: write `timeouts: { create: 90, update: "10m", delete: "1h" }`
    ST0109 `import` does not apply to a group
      @ main.ts:10:9 +6 here
      help: set it on the resources in the group
    "#);
}
