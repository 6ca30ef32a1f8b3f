//! Imports whose bindings are not used as values: the module still runs.

use crate::common::{Run, names, program, show};

fn with_network(main: &str) -> Run {
    let network = "import { Data } from 'stead/local';\nexport const vpc = new Data({ value: 1 });\nexport type Vpc = Data;\nexport default 7;\n";
    program(main).file("network.ts", network)
}

#[test]
fn imported_module_runs_without_a_use_of_its_bindings() {
    let unused = [
        "import { vpc } from './network';",
        "import * as network from './network';",
        "import seven from './network';",
        "import seven, { vpc } from './network';",
        "import { type Vpc, vpc } from './network';",
        "import { Vpc } from './network';\nexport function f(vpc: Vpc) {}",
        "import {} from './network';",
        "import './network';",
    ];
    for main in unused {
        assert_eq!(names(&with_network(main).graph()), ["dev:network:local.Data"], "{main}");
    }
}

#[test]
fn import_of_types_alone_does_not_run_the_module() {
    let types = [
        "import type { vpc } from './network';",
        "import type * as network from './network';",
        "import { type Vpc } from './network';",
        "import { type Vpc, type vpc } from './network';",
        "export type { Vpc } from './network';",
    ];
    for main in types {
        assert_eq!(names(&with_network(main).graph()), [] as [&str; 0], "{main}");
    }
}

#[test]
fn modules_run_in_the_order_of_their_imports() {
    let module =
        |id: &str| format!("import {{ Data }} from 'stead/local';\nexport const {id} = new Data();\n");
    let run = program("import { a } from './a';\nimport { b } from './b';\nimport { c } from './c';\nexport const out = b.value;\n")
        .file("a.ts", &module("a"))
        .file("b.ts", &module("b"))
        .file("c.ts", &module("c"));
    assert_eq!(names(&run.graph()), ["dev:a:local.Data", "dev:b:local.Data", "dev:c:local.Data"]);
}

#[test]
fn module_that_only_declares_types_is_skipped() {
    let main = "import { A } from './types';\nimport { B } from './types.js';\nimport { C } from './deep';\nimport { D } from 'types-only';\n\
        import { E } from 'lib';\nimport { F } from '@s/lib';\nimport { Stats } from 'node:fs';\nimport { G } from './types.d.ts';\nexport * from './types';\n\
        import { H } from 'conditional';\nexport const out = (a: A, b: B, c: C, d: D, e: E, f: F, g: G, h: H, s: Stats) => 1;\n";
    let run = program(main)
        .file("types.d.ts", "export interface A {}\nexport const x: number;\n")
        .file("deep/index.d.ts", "export interface C {}\n")
        .file("node_modules/types-only/package.json", r#"{ "types": "lib/t.d.ts" }"#)
        .file("node_modules/types-only/lib/t.d.ts", "export interface D {}\n")
        .file("node_modules/@types/lib/package.json", "{}")
        .file("node_modules/@types/lib/index.d.ts", "export interface E {}\n")
        .file("node_modules/@types/s__lib/package.json", "{}")
        .file("node_modules/@types/s__lib/index.d.ts", "export interface F {}\n")
        .file("node_modules/@types/node/package.json", "{}")
        .file("node_modules/@types/node/fs.d.ts", "export class Stats {}\n")
        .file("node_modules/conditional/package.json", r#"{ "exports": { ".": { "types": "./c.d.ts" } } }"#)
        .file("node_modules/conditional/c.d.ts", "export interface H {}\n");
    assert_eq!(show(&run.graph()), "");
}

#[test]
fn value_from_a_module_that_only_declares_types_is_refused() {
    let run = program("import { A, x } from './types';\nexport const out = (a: A) => x;\n")
        .file("types.d.ts", "export interface A {}\nexport const x: number;\n");
    insta::assert_snapshot!(run.failure(), @"
    ST0102 there is no module `./types`
      @ main.ts:1:22 +9 imported here
      note: looked for types.ts, types.mts, types.js, types.mjs, types/index.ts, types/index.js
      note: `types.d.ts` declares its types, but there is no code to run
      help: modules in the project folder: `main`
    ");
    let both =
        "import { A } from './types';\nimport { x } from './types';\nexport const out = (a: A) => x;\n";
    let run = program(both).file("types.d.ts", "export interface A {}\nexport const x: number;\n");
    insta::assert_snapshot!(run.failure(), @"
    ST0102 there is no module `./types`
      @ main.ts:2:19 +9 imported here
      note: looked for types.ts, types.mts, types.js, types.mjs, types/index.ts, types/index.js
      note: `types.d.ts` declares its types, but there is no code to run
      help: modules in the project folder: `main`
    ");
}

#[test]
fn unused_import_of_a_missing_file_shows_the_place_and_the_nearest_file() {
    let main = "import { vpc } from './netwrok';\nimport { a } from './lib/zones.js';\nimport { b } from './nowhere/x';\n";
    let run = with_network(main).file("lib/regions.ts", "").file("lib/data.json", "{}");
    insta::assert_snapshot!(run.failure(), @r#"
    ST0102 there is no module `./netwrok`
      @ main.ts:1:21 +11 imported here
      note: looked for netwrok.ts, netwrok.mts, netwrok.js, netwrok.mjs, netwrok/index.ts, netwrok/index.js
      note: an imported module runs even if no imported value is used
      help: did you mean `./network`?
      help: if you need only types of it, write `import type { … } from "./netwrok"`; else remove the import
    ST0102 there is no module `./lib/zones.js`
      @ main.ts:2:19 +16 imported here
      note: looked for lib/zones.ts, lib/zones.js
      note: an imported module runs even if no imported value is used
      help: modules in lib: `data.json`, `regions`
      help: if you need only types of it, write `import type { … } from "./lib/zones.js"`; else remove the import
    ST0102 there is no module `./nowhere/x`
      @ main.ts:3:19 +13 imported here
      note: looked for nowhere/x.ts, nowhere/x.mts, nowhere/x.js, nowhere/x.mjs, nowhere/x/index.ts, nowhere/x/index.js
      note: an imported module runs even if no imported value is used
      help: there is no folder `nowhere`
      help: if you need only types of it, write `import type { … } from "./nowhere/x"`; else remove the import
    "#);
}

#[test]
fn unused_import_that_cannot_run_names_import_type() {
    let main = "import { Options } from 'old';\nimport { Stats } from 'fss';\nimport { x } from 'absent';\nexport const f = (o: Options, s: Stats) => 1;\n";
    let run = program(main)
        .file("node_modules/old/package.json", "{}")
        .file("node_modules/old/index.js", "module.exports = ;\n");
    insta::assert_snapshot!(run.failure(), @r#"
    ST0102 there is no module `fss`
      @ main.ts:2:23 +5 imported here
      note: looked for node_modules/fss, and for a workspace of that name
      note: an imported module runs even if no imported value is used
      help: for a file of the project, write `./fss`
      help: for a package, install it into the project
      help: stead's own modules are `stead` and `stead/<provider>`, such as `stead/local`
      help: if you need only types of it, write `import type { … } from "fss"`; else remove the import
    ST0102 there is no module `absent`
      @ main.ts:3:19 +8 imported here
      note: looked for node_modules/absent, and for a workspace of that name
      note: an imported module runs even if no imported value is used
      help: for a file of the project, write `./absent`
      help: for a package, install it into the project
      help: stead's own modules are `stead` and `stead/<provider>`, such as `stead/local`
      help: if you need only types of it, write `import type { … } from "absent"`; else remove the import
    ST0101 Unexpected token
      @ node_modules/old/index.js:1:18 +1 
      note: an imported module runs even if no imported value is used
      note: the file belongs to the package `old`
      note: the program imports `old` at main.ts:1:25
      help: if you need only types of it, write `import type { … } from "old"`; else remove the import
    "#);
}

#[test]
fn cycle_of_modules_names_import_type() {
    let main = "import { A } from './a';\nexport const out = new A().x;\n";
    let a = "import { B } from './b';\nexport class A { x = 1; b?: B; }\n";
    let b = "import { A } from './a';\nexport class B extends A {}\n";
    insta::assert_snapshot!(program(main).file("a.ts", a).file("b.ts", b).failure(), @"
    ST0103 the program threw: ReferenceError: A is not initialized
      @ b.ts:2:24 +1 thrown here
      help: if two modules import each other, the one that is imported first runs last; write `import type` where only types are needed
    ");
    let types = a.replace("import {", "import type {");
    assert_eq!(show(&program(main).file("a.ts", &types).file("b.ts", b).graph()), "> out = 1\n");
}
