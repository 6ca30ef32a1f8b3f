//! Pin settings in options, through `nodeOf` and in classes.

use crate::common::{program, show};

#[test]
fn node_of_overrides_the_option_and_the_option_overrides_the_class() {
    let graph = program(
        r#"import { Resource, nodeOf } from "stead";
import { Data } from "stead/local";
class Kept extends Resource {
  static pinned = true;
  inner = new Data({}, { id: "inner" });
}
class Loose extends Kept { static pinned = false; }
class Heir extends Kept {}
class KeptData extends Data { static pinned = true; }
new Kept("a");
new Loose("b");
new Heir("c");
new KeptData({}, { id: "d" });
new KeptData({}, { id: "e", pinned: false });
const f = new KeptData({}, { id: "f", pinned: false });
nodeOf(f).pinned = true;
const g = new Data({}, { id: "g", pinned: true });
nodeOf(g).pinned = true;
nodeOf(g).pinned = false;
new Data({}, { id: "h" });
"#,
    )
    .graph();
    insta::assert_snapshot!(show(&graph), @r#"
    dev:main:Kept#a @main.ts:10:1 {"pinned":true}
    dev:main/Kept#a:local.Data#inner @main.ts:5:11 in 0
    dev:main:Loose#b @main.ts:11:1 {"pinned":false}
    dev:main/Loose#b:local.Data#inner @main.ts:5:11 in 2
    dev:main:Heir#c @main.ts:12:1 {"pinned":true}
    dev:main/Heir#c:local.Data#inner @main.ts:5:11 in 4
    dev:main:local.Data#d @main.ts:13:1 {"pinned":true}
    dev:main:local.Data#e @main.ts:14:1 {"pinned":false}
    dev:main:local.Data#f @main.ts:15:11 {"pinned":true}
    dev:main:local.Data#g @main.ts:17:11 {"pinned":false}
    dev:main:local.Data#h @main.ts:20:1
    "#);
}

#[test]
fn pinned_group_pins_the_resources_inside_it() {
    let graph = program(
        r#"import { Resource, nodeOf } from "stead";
import { Data } from "stead/local";
class Shop extends Resource {
  data: Data;
  constructor(id: string) {
    super(id, { pinned: id === "first" });
    this.data = new Data({}, { id: "data" });
    nodeOf(this.data).pinned = false;
  }
}
const shop = new Shop("first");
const other = new Shop("second");
nodeOf(other).pinned = true;
const seen = [shop, shop.data, other, other.data].map((x) => nodeOf(x).pinned);
const nothing = nodeOf(new Data({}, { id: "free" })).pinned;
new Data({ value: `${seen} ${nothing}` }, { id: "seen" });
"#,
    )
    .graph();
    insta::assert_snapshot!(show(&graph), @r#"
    dev:main:Shop#first @main.ts:11:14 {"pinned":true}
    dev:main/Shop#first:local.Data#data @main.ts:7:17 in 0 {"pinned":false}
    dev:main:Shop#second @main.ts:12:15 {"pinned":true}
    dev:main/Shop#second:local.Data#data @main.ts:7:17 in 2 {"pinned":false}
    dev:main:local.Data#free @main.ts:15:24
    dev:main:local.Data#seen @main.ts:16:1 value="true,false,true,false undefined"
    "#);
}

#[test]
fn invalid_pin_settings_are_reported_with_their_position() {
    let wrong = |text: &str| {
        let head = "import { Resource, apply, nodeOf } from \"stead\";\nimport { Data } from \"stead/local\";\n\
                    const a = new Data({}, { id: \"a\" });\n";
        program(&format!("{head}{text}\n")).failure()
    };
    let told = [
        "nodeOf(a).pinned = 1 as any;",
        "nodeOf(a).pinned = a.echo as any;",
        "nodeOf({} as any).pinned = true;",
        "class K extends Resource { static pinned = \"yes\" as any }\nnew K();",
        "new Data({}, { id: \"b\", pinned: \"yes\" as any });",
        "new Data({ value: apply(\"x\", (e) => { nodeOf(a).pinned = true; return e; }) }, { id: \"b\" });",
    ]
    .map(wrong);
    insta::assert_snapshot!(told.join("\n"), @"
    ST0103 the program threw: TypeError: `pinned` must be true or false, known while planning
      @ main.ts:4:8 +1 thrown here

    ST0103 the program threw: TypeError: `pinned` must be true or false, known while planning
      @ main.ts:4:20 +1 thrown here

    ST0103 the program threw: TypeError: `nodeOf` takes a resource
      @ main.ts:4:1 +6 thrown here

    ST0103 the program threw: TypeError: `static pinned` of K must be true or false
      @ main.ts:5:5 +1 thrown here

    ST0109 `pinned` must be true or false
      @ main.ts:4:25 +6 here

    ST0110 a resource is pinned in a function or expression that is evaluated only after apply
      @ main.ts:4:46 +1 here
      help: pins must be known while planning: set `pinned` outside of it
    ");
}
