//! Resolution of package imports, and its errors.

use crate::common::{Run, names, program, show};

fn with_acme(main: &str) -> Run {
    program(main)
        .file(
            "node_modules/@acme/net/package.json",
            r#"{ "name": "@acme/net", "type": "module", "exports": {
                ".": { "types": "./dist/index.d.ts", "import": "./src/index.ts", "require": "./dist/index.cjs" },
                "./zones/*": "./src/zones/*.js", "./data.json": "./data.json", "./old": { "require": "./old.cjs" } } }"#,
        )
        .file(
            "node_modules/@acme/net/src/index.ts",
            "import { File } from 'stead/local';\nimport { Resource } from 'stead';\nimport { prefix } from '#prefix';\n\
             export class Net extends Resource {\n  constructor(id: string) { super(id); new File({ path: prefix + id }); }\n}\n\
             export const file = () => new File({ path: 'lone' });\n",
        )
        .file("node_modules/@acme/net/src/zones/eu.js", "export const zones = ['eu-1', 'eu-2'];\n")
        .file("node_modules/@acme/net/data.json", "{ \"size\": 3 }")
}

#[test]
fn package_is_resolved_by_exports_and_prefixes_its_modules() {
    let manifest = r##"{ "name": "@acme/net", "exports": { ".": { "default": "./src/index.ts" },
        "./zones/*": "./src/zones/*.js", "./data.json": "./data.json" }, "imports": { "#prefix": "./prefix.js" } }"##;
    let run = with_acme(
        "import { Net, file } from '@acme/net';\nimport { zones } from '@acme/net/zones/eu';\nimport data from '@acme/net/data.json';\n\
         new Net('a');\nfile();\nexport const found = [zones, data.size];\n",
    )
    .file("node_modules/@acme/net/package.json", manifest)
    .file("node_modules/@acme/net/prefix.js", "export const prefix = '/net/';\n");
    insta::assert_snapshot!(show(&run.graph()), @r#"
    dev:main:Net#a @main.ts:4:1
    dev:@acme.net.src.index/Net#a:local.File @node_modules/@acme/net/src/index.ts:5:40 in 0 path="/net/a"
    dev:@acme.net.src.index:local.File @node_modules/@acme/net/src/index.ts:7:27 path="lone"
    > found = [["eu-1","eu-2"],3]
    "#);
}

#[test]
fn main_module_and_index_are_found_without_exports() {
    let main = "import a from 'a';\nimport b from 'b';\nimport c from 'c';\nimport d from 'a/lib/deep';\nimport { e } from 'e';\nexport const all = [a, b, c, d, e];\n";
    let run = program(main)
        .file("node_modules/a/package.json", r#"{ "main": "./lib/main" }"#)
        .file("node_modules/a/lib/main.js", "export default 'main';")
        .file("node_modules/a/lib/deep.js", "export { default } from './../lib/main.js';")
        .file("node_modules/b/package.json", r#"{ "main": "./cjs.js", "module": "./esm.mjs" }"#)
        .file("node_modules/b/esm.mjs", "export default 'module';")
        .file("node_modules/b/cjs.js", "module.exports = 1;")
        .file("node_modules/c/package.json", "{}")
        .file("node_modules/c/index.ts", "const text: string = 'index'; export default text;")
        .file("node_modules/e/package.json", r#"{ "main": "lib" }"#)
        .file("node_modules/e/lib/index.js", "export * from 'inner';")
        .file("node_modules/e/node_modules/inner/package.json", "{}")
        .file("node_modules/e/node_modules/inner/index.js", "export const e = 'nested';");
    insta::assert_snapshot!(show(&run.graph()), @r#"> all = ["main",1,"index","main","nested"]"#);
}

#[test]
fn nearest_node_modules_folder_has_precedence() {
    let run = program("import x from 'x';\nimport y from './apps/web/y';\nexport const all = [x, y];\n")
        .file("apps/web/y.ts", "import x from 'x';\nexport default x;\n")
        .file("apps/node_modules/x/package.json", r#"{ "exports": "./x.js" }"#)
        .file("apps/node_modules/x/x.js", "export default 'near';")
        .file("node_modules/x/package.json", r#"{ "exports": "./x.js" }"#)
        .file("node_modules/x/x.js", "export default 'far';");
    insta::assert_snapshot!(show(&run.graph()), @r#"> all = ["far","near"]"#);
}

#[test]
fn workspaces_are_found_by_name_without_node_modules() {
    let package = "import { Resource } from 'stead';\nimport { Data } from 'stead/local';\nimport { tag } from '@acme/tags';\n\
        export class Net extends Resource { constructor() { super(tag); new Data(); } }\nexport const lone = () => new Data();\n";
    let run = program("import { Net, lone } from '@acme/net';\nimport { deep } from './tools/tags/deep';\nnew Net();\nlone();\ndeep();\n")
        .file("package.json", r#"{ "name": "shop", "workspaces": ["packages/*", "tools/tags"] }"#)
        .file("packages/net/package.json", r#"{ "name": "@acme/net", "main": "src/index.ts" }"#)
        .file("packages/net/src/index.ts", package)
        .file("packages/README.md", "")
        .file("tools/tags/package.json", r#"{ "name": "@acme/tags", "exports": { ".": "./tags.ts" } }"#)
        .file("tools/tags/tags.ts", "export const tag = 'blue';\n")
        .file("tools/tags/deep.ts", "import { Data } from 'stead/local';\nexport const deep = () => new Data();\n");
    insta::assert_snapshot!(names(&run.graph()).join("\n"), @"
    dev:main:Net#blue
    dev:@acme.net.src.index/Net#blue:local.Data
    dev:@acme.net.src.index:local.Data
    dev:@acme.tags.deep:local.Data
    ");
}

#[test]
fn package_of_the_entry_point_belongs_to_the_program() {
    let run = program(
        "import { Data } from 'stead/local';\nimport { x } from 'shop/x';\nnew Data({ value: x });\n",
    )
    .file("package.json", r#"{ "name": "shop", "workspaces": { "packages": ["."] } }"#)
    .file("x.ts", "export const x = 1;\n");
    assert_eq!(names(&run.graph()), ["dev:main:local.Data"]);
}

#[test]
fn missing_package_exports_are_reported() {
    let run = with_acme(
        "import a from '@acme/net/nothing';\nimport b from '@acme/net/zones/mars';\nimport c from '@acme/net/old';\n\
         import d from '@acme/gone';\nimport e from 'broken';\nimport f from 'out';\nexport default [a, b, c, d, e, f];\n",
    )
    .file("node_modules/broken/package.json", "{ \"name\": }")
    .file("node_modules/out/package.json", r#"{ "exports": "./../../../etc/passwd" }"#);
    insta::assert_snapshot!(run.failure(), @"
    ST0102 the package `@acme/net` has no export `./nothing`
      @ main.ts:1:15 +19 imported here
      note: `exports` in node_modules/@acme/net/package.json lists: ., ./zones/*, ./data.json, ./old
    ST0102 there is no module `@acme/net/zones/mars`
      @ main.ts:2:15 +22 imported here
      note: looked for node_modules/@acme/net/src/zones/mars.js, node_modules/@acme/net/src/zones/mars.ts, node_modules/@acme/net/src/zones/mars.js.js, node_modules/@acme/net/src/zones/mars.js/index.js
      help: modules in node_modules/@acme/net/src/zones: `eu`
    ST0102 there is no module `@acme/net/old`
      @ main.ts:3:15 +15 imported here
      note: looked for node_modules/@acme/net/old.cjs, node_modules/@acme/net/old.cjs.js, node_modules/@acme/net/old.cjs/index.js
      help: modules in node_modules/@acme/net: `data.json`, `package.json`, `src`
    ST0102 there is no module `@acme/gone`
      @ main.ts:4:15 +12 imported here
      note: looked for node_modules/@acme/gone, and for a workspace of that name
      help: for a file of the project, write `./@acme/gone`
      help: for a package, install it into the project
      help: stead's own modules are `stead` and `stead/<provider>`, such as `stead/local`
    ST0102 `node_modules/broken/package.json` cannot be read: expected value at line 1 column 11
      @ main.ts:5:15 +8 imported here
    ST0102 the package `out` points outside its folder: `./../../../etc/passwd`
      @ main.ts:6:15 +5 imported here
    ");
}

#[test]
fn error_inside_a_package_is_reported_in_the_package() {
    let run = program("import { check } from 'check';\ncheck(0);\n")
        .file("node_modules/check/package.json", r#"{ "exports": "./check.js" }"#)
        .file(
            "node_modules/check/check.js",
            "export function check(x) {\n  if (!x) throw new TypeError('no x');\n}\n",
        );
    insta::assert_snapshot!(run.failure(), @"
    ST0103 the program threw: TypeError: no x
      @ node_modules/check/check.js:2:17 +21 thrown here
      note: called by the module at main.ts:2:1
    ");
    let syntax = program("import 'check';\n")
        .file("node_modules/check/package.json", "{}")
        .file("node_modules/check/index.js", "export const = 1;\n");
    insta::assert_snapshot!(syntax.failure(), @"
    ST0101 Unexpected token
      @ node_modules/check/index.js:1:14 +1 
      note: the file belongs to the package `check`
      note: the program imports `check` at main.ts:1:8
    ");
}

#[test]
fn module_behind_a_link_is_the_module_itself() {
    let main = "import { counter as a } from './real/c';\nimport { counter as b } from './linked/c';\nimport { counter as c } from './again';\n\
        import { made } from './linked/r';\na.n++;\nb.n++;\nexport const out = [a === b, b === c, c.n];\nexport { made };\n";
    let run = program(main)
        .file("real/c.ts", "export const counter = { n: 0 };\n")
        .file("real/r.ts", "import { File } from 'stead/local';\nimport { counter } from './c';\nexport const made = counter.n;\nnew File({ path: 'a' });\n")
        .file("linked", "-> real")
        .file("again.ts", "-> real/c.ts");
    let text = show(&run.graph());
    assert!(text.contains("> out = [true,true,2]") && text.contains("real.r:local.File"), "{text}");
}

#[test]
fn root_package_imports_itself_by_name_and_only_the_nearest_package_does() {
    let main = "import { a } from 'shop/lib';\nexport const out = a;\n";
    let manifest = "{ \"name\": \"shop\", \"exports\": { \"./lib\": \"./lib/a.js\" } }";
    let run = program(main).file("package.json", manifest).file("lib/a.ts", "export const a = 'own';\n");
    assert_eq!(show(&run.graph()), "> out = \"own\"\n");
    let nested = program("import { out } from './inner/b';\nexport { out };\n")
        .file("package.json", manifest)
        .file("lib/a.ts", "export const a = 'own';\n")
        .file("inner/package.json", "{ \"name\": \"inner\" }")
        .file("inner/b.ts", "import { a } from 'shop/lib';\nexport const out = a;\n");
    assert!(nested.failure().contains("there is no module `shop/lib`"));
}
