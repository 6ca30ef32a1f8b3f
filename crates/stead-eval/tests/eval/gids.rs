//! `static gid`: a class names the property that is the gid of its instances.

use crate::common::{names, program};

const HEAD: &str = "import { Resource } from 'stead';\nimport * as local from 'stead/local';\n";

fn found(code: &str) -> Vec<String> {
    names(&program(&format!("{HEAD}{code}\n")).graph())
}

#[test]
fn class_names_the_property_that_is_its_gid() {
    let code = "class Note extends local.File { static gid = 'path'; }\nclass Special extends Note {}\n\
        class Site extends Resource {\n  static gid = 'domain';\n  constructor(readonly domain: string) { super(); new local.Data(); }\n}\n\
        new Note({ path: 'a.txt' });\nnew Special({ path: 'b.txt' });\nnew Site('acme.example');\nnew Site('shop.example');\nnew Note({ path: 'c' }, { gid: 'given' });";
    assert_eq!(
        found(code),
        [
            "dev#a.txt",
            "dev#b.txt",
            "dev#acme.example",
            "dev:main/Site#acme.example:local.Data",
            "dev#shop.example",
            "dev:main/Site#shop.example:local.Data",
            "dev#given",
        ]
    );
}

#[test]
fn gid_of_a_class_must_be_known_text_and_unique() {
    let code = "class Note extends local.Data { static gid = 'value'; }\nconst d = new local.Data({}, { id: 'd' });\n\
        new Note({});\nnew Note({ value: d.echo });\nnew Note({ value: 7 });\nnew Note({ value: 'x' }, { id: 'y' });\nnew Note({ value: '12' });";
    insta::assert_snapshot!(program(&format!("{HEAD}{code}\n")).failure(), @r#"
    ST0109 `value` is the gid of every Note: it must be a string, known while planning
      @ main.ts:5:1 +12 declared here
      help: set `value`, or give this resource a `gid`
    ST0109 `value` is the gid of every Note: it must be a string, known while planning
      @ main.ts:6:1 +27 declared here
      help: set `value`, or give this resource a `gid`
    ST0109 `value` is the gid of every Note: it must be a string, known while planning
      @ main.ts:7:1 +22 declared here
      help: set `value`, or give this resource a `gid`
    ST0109 `value` is the gid of every Note, so that an `id` has no place in its name
      @ main.ts:8:1 +37 declared here
      help: remove the `id`
    ST0109 `value`, the gid of this Note: the id "12" is a bare number; numbers are the counters of unnamed resources
      @ main.ts:9:1 +25 declared here
    "#);
    let code = "class Note extends local.Data { static gid = 'value'; }\nnew Note({ value: 'x' });\nnew Note({ value: 'x' });";
    insta::assert_snapshot!(program(&format!("{HEAD}{code}\n")).failure(), @"
    ST0105 two resources have the name `dev#x`
      @ main.ts:5:1 +24 second declaration
      @ main.ts:4:1 +24 first declaration
      help: a `gid` must be unique in its environment: change one of them
    ");
    let code = "class Note extends local.Data { static gid = 'vlaue'; }\nnew Note({ value: 'x' });";
    insta::assert_snapshot!(program(&format!("{HEAD}{code}\n")).failure(), @"
    ST0112 local.Data has no property `vlaue`
      @ main.ts:4:5 +4 read here
      @ main.ts:4:1 +3 the resource is declared here
      help: did you mean `value`?
    ");
}

#[test]
fn id_may_not_be_a_bare_number() {
    insta::assert_snapshot!(program(&format!("{HEAD}new local.Data({{}}, {{ id: '2' }});\nnew local.Data({{}}, {{ gid: '3' }});\n")).failure(), @r#"
    ST0109 `id`: the id "2" is a bare number; numbers are the counters of unnamed resources
      @ main.ts:3:22 +2 here
    ST0109 `gid`: the id "3" is a bare number; numbers are the counters of unnamed resources
      @ main.ts:4:22 +3 here
    "#);
}
