//! Arguments of a `new` in the wrong place: one error with the corrected line.

use crate::common::program;

const HEAD: &str = "import * as local from 'stead/local';\nimport { sqs } from 'stead/aws';\n";

fn failure(code: &str) -> String {
    program(&format!("{HEAD}{code}\n")).failure()
}

#[test]
fn id_before_the_properties_gives_one_error() {
    insta::assert_snapshot!(failure("const a = new local.File('a', { path: 'a.txt', content: 'x' });\nexport const size = a.size;"), @"
    ST0111 the properties of local.File come first, and its `id` is an option
      @ main.ts:3:11 +52 declared here
      help: write `new local.File({ path: 'a.txt', content: 'x' }, { id: 'a' })`
    ");
    insta::assert_snapshot!(failure("new local.File(`a`, {\n  path: 'a.txt',\n  content: 'x',\n}, { pinned: true });"), @"
    ST0111 the properties of local.File come first, and its `id` is an option
      @ main.ts:3:1 +21 declared here
      help: write `new local.File({ path: 'a.txt', content: 'x', }, { id: `a`, pinned: true })`
    ");
    insta::assert_snapshot!(failure("const [id, options] = ['q', {}];\nnew sqs.Queue(id, undefined, options);"), @"
    ST0111 the properties of aws.sqs.Queue come first, and its `id` is an option
      @ main.ts:4:1 +37 declared here
      help: write `new sqs.Queue(undefined, { id: id, ...options })`
    ");
    insta::assert_snapshot!(failure("class Own extends local.File { constructor(name: string) { super(name as any, { path: name } as any); } }\nnew Own('a');"), @"
    ST0111 the properties of local.File come first, and its `id` is an option
      @ main.ts:4:1 +12 declared here
      help: write `super({ … }, { id: … })`
    ");
}

#[test]
fn option_among_the_properties_is_named_as_an_option() {
    insta::assert_snapshot!(failure("new sqs.Queue({ deletionPolicy: 'retain' } as any);"), @"
    ST0106 aws.sqs.Queue: `deletionPolicy` is an option, not a property
      @ main.ts:3:17 +14 here
      help: options are the second argument: `new sqs.Queue({}, { deletionPolicy: 'retain' })`
    ");
    insta::assert_snapshot!(failure("new local.File({ id: 'a', path: 'a.txt', preventDelete: true } as any, { pinned: true });"), @"
    ST0106 local.File: `id`, `preventDelete` are options, not properties
      @ main.ts:3:18 +2 here
      @ main.ts:3:42 +13 here
      help: options are the second argument: `new local.File({ path: 'a.txt' }, { id: 'a', preventDelete: true, pinned: true })`
    ");
    insta::assert_snapshot!(failure("const all: any = { aliases: ['main:x'], path: 'a' };\nnew local.File(all);"), @"
    ST0106 local.File: `aliases` is an option, not a property
      @ main.ts:4:1 +19 here
      help: options are the second argument: `new …({ … }, { aliases: … })`
    ");
}

#[test]
fn every_option_is_named_as_an_option() {
    let all = [
        "id: 'a'",
        "gid: 'a'",
        "dependsOn: []",
        "preventDelete: true",
        "deletionPolicy: 'retain'",
        "pinned: true",
        "annotations: {}",
        "protect: true",
        "retainOnDelete: true",
        "deleteBeforeReplace: true",
        "aliases: []",
        "ignoreChanges: []",
        "replaceOnChanges: []",
        "deletedWith: 1",
        "replaceWith: []",
        "provider: 1",
        "import: 'x'",
        "timeouts: {}",
    ];
    for option in all {
        let found = failure(&format!("new local.File({{ path: 'a', {option} }} as any);"));
        let name = option.split(':').next().unwrap_or_default();
        assert!(found.contains(&format!("`{name}` is an option, not a property")), "{found}");
        assert!(found.contains(&format!("`new local.File({{ path: 'a' }}, {{ {option} }})`")), "{found}");
    }
}

#[test]
fn property_among_the_options_is_named_as_a_property() {
    insta::assert_snapshot!(failure("new local.File({ path: 'a' }, { content: 'x' } as any);\nnew local.Data({}, 'name' as any);"), @r#"
    ST0109 there is no resource option `content`
      @ main.ts:3:33 +7 here
      help: `content` is a property: write it in the first argument
    ST0109 the options of a resource must be a plain object
      @ main.ts:4:1 +33 here
      help: write `{ id: "name" }`
    "#);
}
