//! CommonJS files: resolution, cycles, interoperation with ES modules, and errors.

use crate::common::{Run, program, show};

fn package(run: Run, name: &str, manifest: &str, files: &[(&str, &str)]) -> Run {
    let run = run.file(&format!("node_modules/{name}/package.json"), manifest);
    files.iter().fold(run, |run, (path, text)| run.file(&format!("node_modules/{name}/{path}"), text))
}

#[test]
fn default_is_module_exports_and_names_are_its_members() {
    let run = program(
        "import whole, { named, late } from 'a';\nimport * as all from 'a';\nimport fn from 'f';\nimport { helper } from 'f';\n\
         export const out = [whole, named, late, Object.keys(all), all.default === whole, fn(2), helper];\n",
    );
    let run = package(
        run,
        "a",
        "{}",
        &[("index.js", "exports.named = 1;\nexports['x-y'] = 2;\nmodule.exports[`la` + `te`] = 3;\n")],
    );
    let run = package(
        run,
        "f",
        r#"{ "main": "./lib/f" }"#,
        &[("lib/f.js", "module.exports = function (n) { return n * 2; };\nmodule.exports.helper = 'h';\n")],
    );
    insta::assert_snapshot!(show(&run.graph()), @r#"> out = [{"late":3,"named":1,"x-y":2},1,3,["default","late","named","x-y"],true,4,"h"]"#);
}

#[test]
fn es_module_flag_does_not_change_the_default_as_in_node() {
    let run = program("import d, { a } from 'a';\nexport const out = [d.default, a, d.__esModule];\n");
    let text = "Object.defineProperty(exports, '__esModule', { value: true });\nexports.a = 1;\nexports.default = 2;\n";
    assert_eq!(show(&package(run, "a", "{}", &[("index.js", text)]).graph()), "> out = [2,1,true]\n");
}

#[test]
fn require_finds_files_folders_json_and_packages() {
    let run = program("import out from 'a';\nexport { out };\n");
    let main = "module.exports = [require('./b'), require('./c.js'), require('./dir'), require('./other'), require('./data'), \
        require('./data.json').x, require('dep'), require('dep/sub'), require('#own'), require('a/deep'), require('node:path').sep, \
        require('path').join('a', 'b'), require('@s/p').x];\n";
    let run = package(
        run,
        "a",
        r##"{ "name": "a", "exports": { ".": "./main.js", "./deep": { "import": "./no.mjs", "require": "./deep.cjs" } }, "imports": { "#own": "./own.js" } }"##,
        &[
            ("main.js", main),
            ("b.js", "module.exports = 'b';"),
            ("c.js", "exports.c = __filename;"),
            ("dir/index.js", "module.exports = __dirname;"),
            ("other/package.json", r#"{ "main": "start" }"#),
            ("other/start.js", "module.exports = 'start';"),
            ("data.json", r#"{ "x": 5 }"#),
            ("own.js", "module.exports = 'own';"),
            ("deep.cjs", "module.exports = 'deep';"),
            ("node_modules/dep/package.json", r#"{ "main": "d.js" }"#),
            ("node_modules/dep/d.js", "module.exports = 'inner dep';"),
            ("node_modules/dep/sub.js", "module.exports = 'sub';"),
        ],
    );
    let run = package(run, "dep", "{}", &[("index.js", "module.exports = 'outer dep';")]);
    let run = package(run, "@s/p", "{}", &[("index.js", "exports.x = 'scoped';")]);
    insta::assert_snapshot!(show(&run.graph()), @r#"> out = ["b",{"c":"/project/node_modules/a/c.js"},"/project/node_modules/a/dir","start",{"x":5},5,"inner dep","sub","own","deep","/","a/b","scoped"]"#);
}

#[test]
fn cycles_see_the_exports_so_far_and_files_run_once() {
    let run = program("import out from 'a';\nexport { out };\n");
    let run = package(
        run,
        "a",
        "{}",
        &[
            (
                "index.js",
                "exports.early = 1;\nconst b = require('./b');\nexports.late = 2;\nmodule.exports = [b, exports, require('./count').n, require('./count').n];",
            ),
            (
                "b.js",
                "const a = require('./index');\nmodule.exports = { sawEarly: a.early, sawLate: a.late === undefined };",
            ),
            ("count.js", "globalThis.runs = (globalThis.runs || 0) + 1; exports.n = globalThis.runs;"),
        ],
    );
    insta::assert_snapshot!(show(&run.graph()), @r#"> out = [{"sawEarly":1,"sawLate":true},{"early":1,"late":2},1,1]"#);
}

#[test]
fn file_is_sloppy_code_in_a_function() {
    let run = program("import out from 'a';\nexport { out };\n");
    let text = "#!/usr/bin/env node\nvar top = this === module.exports;\nfunction f() { return this === globalThis; }\nimplicit = 4;\n\
        var octal = 010;\nwith ({ inside: 5 }) { var w = inside; }\nmodule.exports = [top, f(), implicit, octal, w, typeof require, arguments.length, \
        module.id === __filename, require.main === undefined];\nreturn;\n";
    let run = package(run, "a", "{}", &[("index.js", text)]);
    assert_eq!(show(&run.graph()), "> out = [true,true,4,8,5,\"function\",5,true,true]\n");
    let strict = package(
        program("import out from 'a';\nexport { out };\n"),
        "a",
        "{}",
        &[("index.js", "'use strict';\nmodule.exports = (function () { return this === undefined; })();\n")],
    );
    assert_eq!(show(&strict.graph()), "> out = true\n");
}

#[test]
fn syntax_decides_where_the_package_does_not() {
    let run = program("import { a } from 'a';\nimport b from 'b';\nimport c from 'c';\nimport own from './own.cjs';\nimport script from './script.js';\nexport const out = [a, b, c, own, script];\n")
        .file("own.cjs", "module.exports = 'own';")
        .file("script.js", "module.exports = 'script';");
    let run = package(run, "a", "{}", &[("index.js", "export const a = typeof module;\n")]);
    let run = package(
        run,
        "b",
        r#"{ "type": "module", "exports": "./b.cjs" }"#,
        &[("b.cjs", "module.exports = typeof module;\n")],
    );
    let run = package(
        run,
        "c",
        r#"{ "type": "module", "exports": "./c.js" }"#,
        &[("c.js", "const x = typeof module;\nexport { x as default };\n")],
    );
    assert_eq!(show(&run.graph()), "> out = [\"undefined\",\"object\",\"undefined\",\"own\",\"script\"]\n");
}

#[test]
fn names_follow_re_exports() {
    let run = program("import * as all from 'a';\nexport const out = Object.keys(all).sort();\n");
    let run = package(
        run,
        "a",
        "{}",
        &[
            (
                "index.js",
                "__exportStar(require('./b'), exports);\nexports.own = 1;\nfunction __exportStar(from, to) { Object.assign(to, from); }\n",
            ),
            ("b.js", "module.exports = require('./c');\n"),
            ("c.js", "module.exports = { x: x, y };\nvar x = 1, y = 2;\n"),
        ],
    );
    // `var` is hoisted, so the values are undefined; the names are known by the syntax.
    assert_eq!(show(&run.graph()), "> out = [\"default\",\"own\",\"x\",\"y\"]\n");
}

#[test]
fn missing_module_is_catchable_and_else_reported_with_the_callers_line() {
    let text = "let found;\ntry { found = require('gone'); } catch (error) { found = error.code; }\n\
        let again;\ntry { require('./nothing'); } catch (error) { again = error.message.split('\\n')[0]; }\nmodule.exports = [found, again];\n";
    let run = package(program("import out from 'a';\nexport { out };\n"), "a", "{}", &[("index.js", text)]);
    assert_eq!(show(&run.graph()), "> out = [\"MODULE_NOT_FOUND\",\"Cannot find module './nothing'\"]\n");
    let run = package(
        program("import f from 'a';\nf('./x');\n"),
        "a",
        "{}",
        &[("index.js", "module.exports = (name) => require(name);\n")],
    );
    insta::assert_snapshot!(run.failure(), @"
    ST0102 there is no module `./x`
      @ main.ts:2:1 +1 called here by the program
      @ node_modules/a/index.js:1:28 +7 here
      note: looked for node_modules/a/x, node_modules/a/x.js, node_modules/a/x.json, node_modules/a/x.ts, node_modules/a/x.mjs, node_modules/a/x.cjs, node_modules/a/x.mts, node_modules/a/x.cts, node_modules/a/x/index.js, node_modules/a/x/index.json, node_modules/a/x/index.ts
    ");
}

#[test]
fn dynamic_require_is_resolved_when_it_runs() {
    let run = program("import f from 'a';\nexport const out = [f('b'), f('c')];\n");
    let run = package(
        run,
        "a",
        "{}",
        &[
            ("index.js", "module.exports = (name) => require('./' + name);\n"),
            ("b.js", "module.exports = 1;"),
            ("c.json", "[2]"),
        ],
    );
    assert_eq!(show(&run.graph()), "> out = [1,[2]]\n");
}

#[test]
fn imported_name_that_is_not_there_is_reported_at_its_import() {
    let run = program("import { a, nothing } from 'a';\nexport const out = [a, nothing];\n");
    insta::assert_snapshot!(package(run, "a", "{}", &[("index.js", "exports.a = 1;\n")]).failure(), @r#"
    ST0102 `node_modules/a/index.js` has no export `nothing`
      @ main.ts:1:13 +7 imported here
      note: the file is CommonJS: its exports are the members of `module.exports` after it has run
      help: import the default, and look at its members: `import all from "…"`
    "#);
}

#[test]
fn error_in_a_commonjs_file_shows_its_line() {
    let run = program("import f from 'a';\nf(1);\n");
    insta::assert_snapshot!(package(run, "a", "{}", &[("index.js", "module.exports = function f(x) {\n  throw new TypeError('no ' + x);\n};\n")]).failure(), @"
    ST0103 the program threw: TypeError: no 1
      @ node_modules/a/index.js:2:9 +24 thrown here
      note: called by the module at main.ts:2:1
    ");
    let run = program("import f from 'a';\nf;\n");
    insta::assert_snapshot!(package(run, "a", "{}", &[("index.js", "require('./broken');\n"), ("broken.js", "\nvar x = ;\n")]).failure(), @"
    ST0101 Unexpected token
      @ node_modules/a/broken.js:2:9 +1
    ");
}

#[test]
fn unknown_in_a_commonjs_file_is_refused_with_the_callers_line_first() {
    let run = program(
        "import { RandomString } from 'stead/local';\nimport slug from 'slug';\nconst name = new RandomString().result;\nexport const out = slug(name);\n",
    );
    insta::assert_snapshot!(package(run, "slug", "{}", &[("index.js", "module.exports = function (text) {\n  if (typeof text !== 'string') throw new TypeError('text');\n  return text;\n};\n")]).failure(), @"
    ST0104 `typeof` inspects `result` of local.RandomString, which is known only after apply
      @ main.ts:4:25 +4 called here by the program
      @ node_modules/slug/index.js:2:14 +4 not known while planning
      @ main.ts:3:14 +3 local.RandomString is declared here
      note: the provider sets `result` when it creates the resource; the program must declare every resource before that
      help: use a value that is known while planning: `config`, `env`, or a property that the program sets
      help: call the package once the value is known: `stead.apply(value, v => …)` with the call in the function
    ");
}

#[test]
fn program_itself_may_be_commonjs() {
    let main = "const { Data } = require('stead/local');\nconst { project } = require('stead');\nconst path = require('path');\nnew Data({ value: path.join(project, 'x') });\n";
    insta::assert_snapshot!(show(&program(main).graph()), @r#"dev:main:local.Data @main.ts:4:1 value="shop/x""#);
}

#[test]
fn es_module_is_required_unless_it_waits() {
    let run = program("import out from 'a';\nimport { x } from 'a/m.mjs';\nexport { out, x };\n");
    let main = "const m = require('./m.mjs');\nconst late = (() => { try { return require('./late.mjs'); } catch (e) { return e.code; } })();\n\
        module.exports = [m.x, m.default, m.__esModule, require('./m.mjs') === m, require('./plain.mjs').y, late];\n";
    let run = package(
        run,
        "a",
        "{}",
        &[
            ("index.js", main),
            ("m.mjs", "import { y } from './plain.mjs';\nexport const x = 'x' + y;\nexport default 'd';\n"),
            ("plain.mjs", "export const y = 'y';\n"),
            ("late.mjs", "await null;\nexport const z = 1;\n"),
        ],
    );
    insta::assert_snapshot!(show(&run.graph()), @r#"
    > out = ["xy","d",true,true,"y","ERR_REQUIRE_ASYNC_MODULE"]
    > x = "xy"
    "#);
    // A module that imports the file, and so may be running, cannot be required.
    let run = program("import { out } from 'a';\nexport { out };\n");
    let run = package(
        run,
        "a",
        r#"{ "exports": "./a.mjs" }"#,
        &[
            ("a.mjs", "import c from './c.cjs';\nexport const own = 1;\nexport const out = c.code;\n"),
            ("c.cjs", "try { require('./b.mjs'); } catch (e) { exports.code = e.code; }\n"),
            ("b.mjs", "export { own } from './a.mjs';\n"),
        ],
    );
    assert_eq!(show(&run.graph()), "> out = \"ERR_REQUIRE_CYCLE_MODULE\"\n");
}

#[test]
fn dynamic_import_in_a_commonjs_file_works() {
    let run = program("import f from 'a';\nexport const out = await f();\n");
    let run = package(
        run,
        "a",
        "{}",
        &[
            (
                "index.js",
                "module.exports = async () => [(await import('./m.mjs')).x, (await import('./c.js')).default];\n",
            ),
            ("m.mjs", "export const x = 1;\n"),
            ("c.js", "module.exports = 2;\n"),
        ],
    );
    assert_eq!(show(&run.graph()), "> out = [1,2]\n");
}

#[test]
fn require_in_a_file_of_the_project_completes_the_names_of_json_files() {
    let run = program("import all from './a.cjs';\nexport const out = all;\n");
    let run =
        run.file("a.cjs", "module.exports = [require('./j'), require('./folder'), require('./both').x];\n");
    let run = run.file("j.json", "{\"a\":1}").file("folder/index.json", "[2]");
    let graph = run.file("both.js", "exports.x = 3;\n").file("both.json", "{}").graph();
    assert_eq!(graph.outputs["out"].as_known().unwrap().to_json(), "[{\"a\":1},[2],3]");
}
