//! The library of module `"stead"`: results against vectors, and the same results for values known only after apply.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::deferred::{resolved, with_unknowns};
use crate::common::{program, show};
use stead_model::Input;

/// Returns the value of each expression as JSON, or the message of its exception.
fn values(expressions: &[&str]) -> Vec<String> {
    let list: Vec<String> = expressions
        .iter()
        .map(|one| format!("(() => {{ try {{ return JSON.stringify({one}); }} catch (error) {{ return `! ${{error.message}}`; }} }})()"))
        .collect();
    let text = format!(
        "import {{ base64, cidr, hash, json, render, semver, text, toml, yaml }} from \"stead\";\nexport const out = [{}];\n",
        list.join(",\n")
    );
    let graph = program(&text).graph();
    let out = graph.outputs["out"].as_known().unwrap().clone();
    out.as_list().unwrap().iter().map(|value| value.as_str().unwrap_or("undefined").to_owned()).collect()
}

fn assert_table(table: &[(&str, &str)]) {
    let found = values(&table.iter().map(|(expression, _)| *expression).collect::<Vec<_>>());
    let wrong: Vec<String> = table
        .iter()
        .zip(found)
        .filter(|((_, wanted), found)| wanted != found)
        .map(|((expression, wanted), found)| format!("{expression}\n  found  {found}\n  wanted {wanted}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The examples of Terraform's documentation for `cidrsubnet`, `cidrsubnets`, `cidrhost` and `cidrnetmask`, and more.
#[test]
fn address_ranges_are_computed_as_terraform_does() {
    assert_table(&[
        (r#"cidr.subnet("172.16.0.0/12", 4, 2)"#, r#""172.18.0.0/16""#),
        (r#"cidr.subnet("10.1.2.0/24", 4, 15)"#, r#""10.1.2.240/28""#),
        (r#"cidr.subnet("fd00:fd12:3456:7890::/56", 16, 162)"#, r#""fd00:fd12:3456:7800:a200::/72""#),
        (r#"cidr.subnet("10.0.0.7/8", 8, 1)"#, r#""10.1.0.0/16""#),
        (r#"cidr.subnet("192.168.2.0/20", 4, 6)"#, r#""192.168.6.0/24""#),
        (r#"cidr.subnet("0.0.0.0/0", 0, 0)"#, r#""0.0.0.0/0""#),
        (r#"cidr.subnet("::/0", 128, 1)"#, r#""::1/128""#),
        (
            r#"cidr.subnets("10.1.0.0/16", 4, 4, 8, 4)"#,
            r#"["10.1.0.0/20","10.1.16.0/20","10.1.32.0/24","10.1.48.0/20"]"#,
        ),
        (
            r#"cidr.subnets("fd00:fd12:3456:7890::/56", 16, 16, 16, 32)"#,
            r#"["fd00:fd12:3456:7800::/72","fd00:fd12:3456:7800:100::/72","fd00:fd12:3456:7800:200::/72","fd00:fd12:3456:7800:300::/88"]"#,
        ),
        (r#"cidr.subnets("10.0.0.0/8")"#, "[]"),
        (r#"cidr.host("10.12.112.0/20", 16)"#, r#""10.12.112.16""#),
        (r#"cidr.host("10.12.112.0/20", 268)"#, r#""10.12.113.12""#),
        (r#"cidr.host("fd00:fd12:3456:7890:00a2::/72", 34)"#, r#""fd00:fd12:3456:7890::22""#),
        (r#"cidr.host("10.12.112.0/20", -1)"#, r#""10.12.127.255""#),
        (r#"cidr.host("10.0.0.0/30", -4)"#, r#""10.0.0.0""#),
        (r#"cidr.netmask("172.16.0.0/12")"#, r#""255.240.0.0""#),
        (r#"cidr.netmask("0.0.0.0/0")"#, r#""0.0.0.0""#),
        (
            r#"[cidr.first("10.1.2.3/16"), cidr.last("10.1.2.3/16"), cidr.size("10.1.2.3/16")]"#,
            r#"["10.1.0.0","10.1.255.255",65536]"#,
        ),
        (
            r#"[cidr.first("2001:db8::/32"), cidr.last("2001:db8::/126"), cidr.size("2001:db8::/96")]"#,
            r#"["2001:db8::","2001:db8::3",4294967296]"#,
        ),
        (r#"cidr.split("10.0.0.0/30", 2)"#, r#"["10.0.0.0/32","10.0.0.1/32","10.0.0.2/32","10.0.0.3/32"]"#),
        (r#"cidr.split("::/0", 1)"#, r#"["::/1","8000::/1"]"#),
        (
            r#"[cidr.contains("10.0.0.0/8", "10.1.0.0/16"), cidr.contains("10.0.0.0/8", "11.0.0.1"), cidr.contains("10.0.0.0/8", "10.0.0.1")]"#,
            "[true,false,true]",
        ),
        (
            r#"[cidr.contains("10.1.0.0/16", "10.0.0.0/8"), cidr.contains("::/0", "10.0.0.1")]"#,
            "[false,false]",
        ),
        (
            r#"[cidr.overlaps("10.1.0.0/16", "10.0.0.0/8"), cidr.overlaps("10.0.0.0/9", "10.128.0.0/9")]"#,
            "[true,false]",
        ),
    ]);
}

#[test]
fn wrong_address_ranges_are_refused_with_the_reason() {
    assert_table(&[
        (
            r#"cidr.subnet("10.0.0.0/24", 16, 0)"#,
            "! cidr.subnet: a prefix of 24 bits cannot be extended by 16 bits",
        ),
        (r#"cidr.subnet("10.0.0.0/24", 2, 4)"#, "! cidr.subnet: 2 new bits have no subnet with the number 4"),
        (
            r#"cidr.subnet("10.0.0.0/24", 2, -1)"#,
            "! cidr.subnet: 2 new bits have no subnet with the number -1",
        ),
        (
            r#"cidr.subnet("10.0.0.0", 2, 1)"#,
            "! cidr.subnet: \"10.0.0.0\" is not an address range, such as \"10.0.0.0/16\"",
        ),
        (
            r#"cidr.subnet("10.0.0.0/33", 2, 1)"#,
            "! cidr.subnet: \"10.0.0.0/33\" has a prefix of more than 32 bits",
        ),
        (
            r#"cidr.subnet("010.0.0.0/8", 2, 1)"#,
            "! cidr.subnet: \"010.0.0.0/8\" is not an address range, such as \"10.0.0.0/16\"",
        ),
        (
            r#"cidr.subnet("10.0.0.0/8", "2" as any, 1)"#,
            "! cidr.subnet: the number of new bits must be an integer; it is a string",
        ),
        (
            r#"cidr.subnet("10.0.0.0/8", 1.5, 1)"#,
            "! cidr.subnet: the number of new bits must be an integer, not 1.5",
        ),
        (
            r#"cidr.subnets("10.0.0.0/30", 1, 1, 1)"#,
            "! cidr.subnets: 10.0.0.0/30 has no room for a subnet of 31 bits after 10.0.0.2/31",
        ),
        (
            r#"cidr.subnets("255.255.255.254/31", 1, 1, 1)"#,
            "! cidr.subnets: 255.255.255.254/31 has no room for a subnet of 32 bits after 255.255.255.255/32",
        ),
        (r#"cidr.host("10.0.0.0/30", 4)"#, "! cidr.host: 10.0.0.0/30 has no host with the number 4"),
        (r#"cidr.host("10.0.0.0/30", -5)"#, "! cidr.host: 10.0.0.0/30 has no host with the number -5"),
        (r#"cidr.netmask("::/64")"#, "! cidr.netmask: ::/64 is an IPv6 range, which has no netmask"),
        (r#"cidr.split("10.0.0.0/8", 20)"#, "! cidr.split: 20 new bits make more than 65536 subnets"),
        (
            r#"cidr.size("::/0")"#,
            "! cidr.size: ::/0 has 2^128 addresses, which is more than a number can hold exactly",
        ),
    ]);
}

#[test]
fn versions_follow_the_rules_of_npm() {
    let satisfied = [
        ("1.2.3", "^1.2.0"),
        ("1.9.9", "^1.2"),
        ("0.2.5", "^0.2.3"),
        ("0.0.3", "^0.0.3"),
        ("0.5.0", "^0.x"),
        ("1.2.3", "~1.2.1"),
        ("1.9.0", "~1"),
        ("1.2.3", "1.x"),
        ("1.2.3", "1.2.*"),
        ("1.2.3", "*"),
        ("1.2.3", ""),
        ("1.2.3", "1.2.3 - 2.0.0"),
        ("2.3.9", "1.2 - 2.3"),
        ("1.2.3", ">=1.2 <2"),
        ("3.1.0", "^1.2 || >=3 <4"),
        ("1.3.0", ">1.2"),
        ("1.2.9", "<=1.2"),
        ("1.2.3-beta.2", "^1.2.3-beta.1"),
        ("1.2.3", ">= 1.2.3"),
        ("1.2.3", "v1.2.3"),
        ("1.2.3+build", "1.2.3"),
        ("1.2.4", "~>1.2.3"),
        ("1.2.3", "=1.2.3"),
        ("2.0.0", ">1"),
        ("0.1.9", "^0.1"),
    ];
    let refused = [
        ("2.0.0", "^1.2.0"),
        ("0.3.0", "^0.2.3"),
        ("0.0.4", "^0.0.3"),
        ("1.3.0", "~1.2.1"),
        ("2.0.0", "~1"),
        ("2.0.0-alpha", "^1.2.3"),
        ("1.2.3-alpha", ">1.0.0"),
        ("1.2.3-alpha", "*"),
        ("1.2.4-beta", "^1.2.3-alpha"),
        ("1.2.9", ">1.2"),
        ("1.3.0", "<=1.2"),
        ("1.2.0", "<1.2"),
        ("2.4.0", "1.2 - 2.3"),
        ("1.9.9", ">1"),
        ("0.2.0", "^0.1"),
        ("1.2.3", "<*"),
    ];
    let one = |(version, range): &(&str, &str)| format!("semver.satisfies({version:?}, {range:?})");
    let expressions: Vec<String> = satisfied.iter().chain(&refused).map(one).collect();
    let found = values(&expressions.iter().map(String::as_str).collect::<Vec<_>>());
    for (index, (expression, found)) in expressions.iter().zip(found).enumerate() {
        assert_eq!(found, (index < satisfied.len()).to_string(), "{expression}");
    }
}

#[test]
fn versions_are_parsed_sorted_and_counted_up_as_npm_does() {
    assert_table(&[
        (
            r#"semver.parse("v1.2.3-rc.1+b.5")"#,
            r#"{"version":"1.2.3-rc.1","major":1,"minor":2,"patch":3,"prerelease":["rc",1],"build":["b","5"]}"#,
        ),
        (
            r#"semver.sort(["1.10.0", "1.2.0", "1.2.0-rc.10", "1.2.0-rc.9", "1.2.0-alpha", "0.9.9", "1.2.0-1"])"#,
            r#"["0.9.9","1.2.0-1","1.2.0-alpha","1.2.0-rc.9","1.2.0-rc.10","1.2.0","1.10.0"]"#,
        ),
        (
            r#"[semver.compare("1.2.3", "1.10.0"), semver.compare("1.0.0", "1.0.0+x"), semver.compare("1.0.0", "1.0.0-a")]"#,
            "[-1,0,1]",
        ),
        (
            r#"[semver.maxSatisfying(["1.2.0", "1.3.1", "2.0.0"], "^1"), semver.maxSatisfying(["1.0.0"], "^2")]"#,
            r#"["1.3.1",null]"#,
        ),
        (
            r#"["major", "minor", "patch", "prerelease", "premajor", "preminor", "prepatch"].map((kind) => semver.inc("1.2.3", kind as any))"#,
            r#"["2.0.0","1.3.0","1.2.4","1.2.4-0","2.0.0-0","1.3.0-0","1.2.4-0"]"#,
        ),
        (
            r#"["major", "minor", "patch", "prerelease"].map((kind) => semver.inc("2.0.0-rc.1", kind as any))"#,
            r#"["2.0.0","2.0.0","2.0.0","2.0.0-rc.2"]"#,
        ),
        (
            r#"[semver.inc("1.2.3", "prerelease", "beta"), semver.inc("1.2.4-beta.0", "prerelease", "beta"), semver.inc("1.2.4-alpha.3", "prerelease", "beta")]"#,
            r#"["1.2.4-beta.0","1.2.4-beta.1","1.2.4-beta.0"]"#,
        ),
        (r#"semver.parse("1.2")"#, "! semver.parse: \"1.2\" is not a version, such as \"1.2.3\""),
        (r#"semver.parse("01.2.3")"#, "! semver.parse: \"01.2.3\" is not a version, such as \"1.2.3\""),
        (
            r#"semver.satisfies("1.2.3", "latest")"#,
            "! semver.satisfies: \"latest\" is not a range of versions, such as \"^1.2.3\" or \">=1.2 <3\"",
        ),
    ]);
}

#[test]
fn yaml_is_read_by_the_core_schema_and_written_so_that_it_reads_the_same() {
    assert_table(&[
        (
            r#"yaml.parse("a: no\nb: [1, 0x1f, 0o17, 1.5e1, .5, -3]\nc: ~\nd: true\ne: 'true'\nf: 1_000\n")"#,
            r#"{"a":"no","b":[1,31,15,15,0.5,-3],"c":null,"d":true,"e":"true","f":"1_000"}"#,
        ),
        (r#"yaml.parse("z: 1\na: 2\n1: x\ntrue: y\n")"#, r#"{"1":"x","z":1,"a":2,"true":"y"}"#),
        (
            r#"yaml.parse("a: &x {k: [1]}\nb: *x\nc: |\n  one\n  two\nd: >-\n  one\n  two\n")"#,
            r#"{"a":{"k":[1]},"b":{"k":[1]},"c":"one\ntwo\n","d":"one two"}"#,
        ),
        (
            r#"[yaml.parse(""), yaml.parse("x"), yaml.parse("!!str 12"), yaml.parse("2024-01-02")]"#,
            r#"[null,"x","12","2024-01-02"]"#,
        ),
        (r#"yaml.parseAll("a: 1\n---\nb: 2\n")"#, r#"[{"a":1},{"b":2}]"#),
        (
            r#"yaml.parse("a: 1\n---\nb: 2\n")"#,
            "! yaml.parse: the text has several documents; use `yaml.parseAll` (line 1, column 1)",
        ),
        (r#"yaml.parse("a: 1\na: 2\n")"#, "! yaml.parse: the key `a` appears twice (line 2, column 1)"),
        (
            r#"yaml.parse("a: !Ref b\n")"#,
            "! yaml.parse: the tag `!Ref` has no meaning here; remove it, or read the file as text (line 1, column 4)",
        ),
        (
            r#"yaml.stringify({ z: "no", a: [1, { b: "x: y", c: [] }], t: "one\ntwo\n", e: {}, n: null, q: "", s: "plain text" })"#,
            r#""z: \"no\"\na:\n  - 1\n  - b: \"x: y\"\n    c: []\nt: |\n  one\n  two\ne: {}\n\"n\": null\nq: \"\"\ns: plain text\n""#,
        ),
        (
            r#"toml.parse("z = 1\na = [1.5, 'x']\n[t.u]\nd = 2024-01-02\n")"#,
            r#"{"z":1,"a":[1.5,"x"],"t":{"u":{"d":"2024-01-02"}}}"#,
        ),
        (r#"toml.stringify({ z: 1, a: { b: ["x"], c: undefined } })"#, r#""z = 1\n\n[a]\nb = [\"x\"]\n""#),
        (
            r#"toml.stringify({ a: null })"#,
            "! toml.stringify: `a` is null, which TOML does not have; leave it out",
        ),
        (
            r#"toml.parse("a = 1\nb =\n").x"#,
            "! toml.parse: string values must be quoted, expected literal string (line 2, column 4)",
        ),
        (
            r#"[json.canonical({ b: 1, a: [{ d: 1, c: 2 }] }), json.canonical({ b: [], a: { x: 1 } }, 2)]"#,
            r#"["{\"a\":[{\"c\":2,\"d\":1}],\"b\":1}","{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": []\n}"]"#,
        ),
    ]);
    // Every text survives, whatever it looks like.
    let texts = r##"["", " ", "a", "no", "Yes", "null", "~", "1", "1.0", "0x1", "1e3", ".5", "-", "- a", "a: b", "a #b", "#", "@x", "*x", "&x", "!x", "%x", "[", "{", "a\nb", "a\n", "\na", "a\n\n", " a\nb", "a \nb", "a\n \nb", "tab\t", "é🦀", "\u2028", "'", "\"", "\\", "true", "2024-01-02", "0o7", "=", "<<", "...", "---", "a:", ":a", "?", "|", ">", "12:30", "0b1", "x\ry"]"##;
    let round = format!(
        "{texts}.filter((one: string) => yaml.parse(yaml.stringify({{ [one]: [one, {{ k: one }}], k: one }}))[one]?.[1]?.k !== one || yaml.parse(yaml.stringify(one)) !== one || yaml.parse(yaml.stringify({{ k: one, l: 1 }})).k !== one)"
    );
    assert_eq!(values(&[&round]), ["[]"]);
}

#[test]
fn aliases_cannot_make_a_small_text_large() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\\n".to_owned();
    for level in 1..9 {
        let before = level - 1;
        text.push_str(&format!("a{level}: &a{level} [{}]\\n", vec![format!("*a{before}"); 10].join(", ")));
    }
    let found = values(&[&format!("yaml.parse(\"{text}\")")]);
    assert!(found[0].starts_with("! yaml.parse: aliases repeat more than 100000 values"), "{}", found[0]);
}

#[test]
fn text_base64_and_digests() {
    assert_table(&[
        (r#"text.dedent("\n    a\n      b\n\n    c\n  ")"#, r#""a\n  b\n\nc""#),
        (r#"[text.indent("a\n\nb", 2), text.indent("a\nb", "> ")]"#, r#"["  a\n\n  b","> a\n> b"]"#),
        (
            r#"[base64.encodeUrl("??>"), base64.decodeUrl("Pz8-"), base64.encodeUrl(new Uint8Array([255, 254])), [...base64.decodeBytes("//4=")]]"#,
            r#"["Pz8-","??>","__4",[255,254]]"#,
        ),
        (r#"base64.decodeUrl("a+b=")"#, "! base64.decodeUrl: the text is not valid base64url"),
        (r#"base64.decode("//4=")"#, "! base64.decode: the bytes are not text; use `base64.decodeBytes`"),
        (
            r#"[hash("abc", "md5"), hash("abc", "sha1"), hash(new Uint8Array([97, 98, 99]), "sha1")]"#,
            r#"["900150983cd24fb0d6963f7d28e17f72","a9993e364706816aba3e25717850c26c9cd0d89d","a9993e364706816aba3e25717850c26c9cd0d89d"]"#,
        ),
        (
            r#"hash("abc", "crc" as any)"#,
            "! hash: unknown algorithm `crc`; use md5, sha1, sha256, sha384 or sha512",
        ),
        (
            r#"[render("a ${b} $${c} ${d.e}", { b: 1, d: { e: "x" } }), render("none")]"#,
            r#"["a 1 ${c} x","none"]"#,
        ),
    ]);
}

/// Every function of the library with an unknown argument: the expression, and its value once `u` and `n` are known.
const DEFERRED: &[(&str, &str)] = &[
    (r#"stead.cidr.subnet(`10.0.0.0/${n}`, 9, 1)"#, r#""10.1.0.0/16""#),
    (r#"stead.cidr.subnet("10.0.0.0/8", 8, n)"#, r#""10.7.0.0/16""#),
    (r#"stead.cidr.subnets(`10.0.0.0/${n}`, 1, n)"#, r#"["10.0.0.0/8","11.0.0.0/14"]"#),
    (r#"stead.cidr.split(`10.0.0.0/${n}`, 1)"#, r#"["10.0.0.0/8","11.0.0.0/8"]"#),
    (r#"stead.cidr.contains(`10.0.0.0/${n}`, "10.1.1.1")"#, "true"),
    (r#"stead.cidr.overlaps(`10.0.0.0/${n}`, "12.0.0.0/8")"#, "false"),
    (r#"stead.cidr.host(`10.0.0.0/${n}`, 3)"#, r#""10.0.0.3""#),
    (r#"stead.cidr.netmask(`10.0.0.0/${n}`)"#, r#""254.0.0.0""#),
    (r#"stead.cidr.first(`10.0.0.0/${n}`)"#, r#""10.0.0.0""#),
    (r#"stead.cidr.last(`10.0.0.0/${n}`)"#, r#""11.255.255.255""#),
    (r#"stead.cidr.size(`10.0.0.0/${n}`)"#, "33554432"),
    (r#"stead.semver.parse(`1.2.${n}`).patch"#, "7"),
    (r#"stead.semver.compare(`1.2.${n}`, "1.2.8")"#, "-1"),
    (r#"stead.semver.satisfies(`1.2.${n}`, "^1")"#, "true"),
    (r#"stead.semver.maxSatisfying(["1.0.0", `1.2.${n}`], "^1")"#, r#""1.2.7""#),
    (r#"stead.semver.inc(`1.2.${n}`, "patch")"#, r#""1.2.8""#),
    (r#"stead.semver.sort([`1.2.${n}`, "1.0.0"])"#, r#"["1.0.0","1.2.7"]"#),
    (r#"stead.yaml.parse(`a: ${n}`).a"#, "7"),
    (r#"stead.yaml.parseAll(`a: ${n}`)[0].a"#, "7"),
    (
        r#"stead.yaml.stringify({ z: u, a: [n, { m }] })"#,
        r#""z: \"arn:aws:s3:eu:42:Bucket-a\"\na:\n  - 7\n  - m: {\"k\":[1,{\"x\":\"y\"}],\"s\":\"t\",\"yes\":true,\"z\":null}\n""#,
    ),
    (r#"stead.toml.parse(`a = ${n}`).a"#, "7"),
    (r#"stead.toml.stringify({ z: u, a: [n] })"#, r#""a = [7]\nz = \"arn:aws:s3:eu:42:Bucket-a\"\n""#),
    (r#"stead.json.canonical({ b: u, a: m.s })"#, r#""{\"a\":\"t\",\"b\":\"arn:aws:s3:eu:42:Bucket-a\"}""#),
    (r#"stead.text.dedent(`  a\n  ${n}`)"#, r#""a\n7""#),
    (r#"stead.text.indent(`a${n}`, 2)"#, r#""  a7""#),
    (r#"stead.base64.encode(m.s)"#, r#""dA==""#),
    (r#"stead.base64.encodeUrl(m.s)"#, r#""dA""#),
    (r#"stead.base64.decode("dA==".concat(m.s).slice(0, 4))"#, r#""t""#),
    (r#"stead.base64.decodeUrl("dA".concat(m.s).slice(0, 2))"#, r#""t""#),
    (r#"stead.hash(m.s)"#, r#""e3b98a4da31a127d4bde6e43033f66ba274cab0eb7eb1c70ec41402bf6273dd8""#),
    (r#"stead.hash(m.s, "md5")"#, r#""e358efa489f58062f10dd7316b65649e""#),
    (r#"stead.render("${a} ${b.s} ${c}", { a: n, b: m, c: "x" })"#, r#""7 t x""#),
];

#[test]
fn every_function_carries_values_known_after_apply() {
    let mut wrong = Vec::new();
    for (expression, wanted) in DEFERRED {
        let evaluation = match with_unknowns(expression).evaluate() {
            Ok(evaluation) => evaluation,
            Err(failure) => {
                wrong.push(format!("{expression}: {}", crate::common::diagnostics(&failure.diagnostics)));
                continue;
            }
        };
        assert!(evaluation.graph.outputs["out"].as_known().is_none(), "{expression} was not deferred");
        let found = match resolved(&evaluation, "out") {
            Ok(Some(Input::Known(value))) => value.to_json(),
            Ok(_) => "still unknown".to_owned(),
            Err(error) => format!("{error:?}"),
        };
        if found != *wanted {
            wrong.push(format!("{expression}\n  found  {found}\n  wanted {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The table has every function that the module declares.
    let declared = ["cidr", "semver", "yaml", "toml", "json", "text", "base64"];
    let names = declared.map(|space| format!("Object.keys({space}).map((key) => `{space}.${{key}}`)"));
    let all = values(&[&format!("[{}].flat()", names.join(", "))]);
    let all: Vec<String> = serde_json::from_str(&all[0]).unwrap();
    let missing =
        all.iter().filter(|name| !DEFERRED.iter().any(|(text, _)| text.contains(&format!("stead.{name}("))));
    assert_eq!(missing.collect::<Vec<_>>(), ["base64.decodeBytes"]);
}

#[test]
fn functions_that_need_known_values_refuse_with_help() {
    for call in [
        "base64.decodeBytes(u)",
        "render(u, {})",
        "template(u, {})",
        "listFiles(u)",
        "readBytes(u)",
        "readJson(u)",
        "readYaml(u)",
        "readToml(u)",
    ] {
        let text = with_unknowns(&format!("stead.{call}")).failure();
        assert!(text.starts_with("ST0110") && text.contains("help:"), "{call}\n{text}");
    }
    assert!(
        with_unknowns("stead.cidr.contains(`10.0.0.0/${n}`, \"10.0.0.1\") ? 1 : 2")
            .failure()
            .starts_with("ST0104")
    );
}

#[test]
fn wrong_value_after_apply_is_an_error_of_the_function() {
    let evaluation = with_unknowns("stead.cidr.subnet(u, 8, 1)").evaluate().unwrap();
    let error = format!("{:?}", resolved(&evaluation, "out").unwrap_err());
    assert!(
        error.contains("cidr.subnet: \\\"arn:aws:s3:eu:42:Bucket-a\\\" is not an address range"),
        "{error}"
    );
}

#[test]
fn results_made_from_secrets_are_secrets() {
    let text = "import { base64, cidr, hash, render, secret, semver, toml, yaml } from \"stead\";\nconst s = secret(\"1.2.3\");\n\
                export const out = [hash(s), base64.encode(s), yaml.stringify({ s }), toml.stringify({ s }), yaml.parse(s), semver.inc(s, \"patch\"), render(\"${s}\", { s }), cidr.first(s)];\n";
    let shown = show(&program(text).graph());
    assert_eq!(shown.matches("secret(given to `stead.secret`)").count(), 8, "{shown}");
    assert!(!shown.contains("1.2.3"), "{shown}");
}

#[test]
fn templates_are_checked_in_both_directions() {
    let run = |main: &str| {
        program(&format!("import {{ render, template }} from \"stead\";\n{main}"))
            .file("t/app.conf", "host = ${host}\nport = ${db.port}\n")
            .file("t/broken.conf", "ok\n  ${a b}\n")
    };
    let good = run("export const out = template(\"t/app.conf\", { host: \"h\", db: { port: 5 } });\n");
    assert_eq!(show(&good.graph()), "> out = \"host = h\\nport = 5\\n\"\n");
    insta::assert_snapshot!(
        run("template(\"./t/app.conf\", { hosst: \"h\", db: { port: 5 } });\n").failure()
    );
    insta::assert_snapshot!(
        run("template(\"t/app.conf\", { host: \"h\", db: { port: [] }, x: 1 });\n").failure()
    );
    insta::assert_snapshot!(
        run("template(\"t/app.conf\", { host: \"h\", db: { port: 1 }, hosts: 1 });\n").failure()
    );
    insta::assert_snapshot!(run("template(\"t/broken.conf\", {});\n").failure());
    insta::assert_snapshot!(run("render(\"a\\n${\", {});\n").failure());
}

#[test]
fn files_are_read_as_bytes_and_data_and_listed() {
    let run = |main: &str| {
        program(&format!(
            "import {{ listFiles, readBytes, readJson, readToml, readYaml }} from \"stead\";\n{main}"
        ))
        .file("k8s/b.yaml", "kind: Pod\nlist: [1, no]\n")
        .file("k8s/a.yaml", "kind: [\n")
        .file("k8s/deep/c.yaml", "x: 1\n")
        .file("k8s/.hidden.yaml", "x: 1\n")
        .file("k8s/d.json", "{\"z\": 1, \"a\": [true]}")
        .file("k8s/e.json", "{\n  \"z\": }\n")
        .file("k8s/f.toml", "z = 1\n[t]\na = 2\n")
        .file("k8s/g.toml", "z = 1\nz = 2\n")
        .file("node_modules/p/x.yaml", "x: 1\n")
    };
    let good = run(
        "export const lists = [\"k8s\", \"k8s/*.yaml\", \"**/*.yaml\", \"k8s/**/?.yaml\", \"node_modules/*/x.yaml\", \"k8s/.h*\"].map((one) => listFiles(one));\n\
         export const data = [readYaml(\"k8s/b.yaml\"), JSON.stringify(readJson(\"k8s/d.json\")), JSON.stringify(readToml(\"k8s/f.toml\")), [...readBytes(\"k8s/f.toml\")].slice(0, 3)];\n",
    );
    insta::assert_snapshot!(show(&good.graph()));
    for call in [
        "readYaml(\"k8s/a.yaml\")",
        "readJson(\"k8s/e.json\")",
        "readToml(\"./k8s/g.toml\")",
        "listFiles(\"absent\")",
        "listFiles(\"../x\")",
        "readBytes(\"absent\")",
    ] {
        insta::assert_snapshot!(format!("{call}\n{}", run(&format!("{call};\n")).failure()));
    }
}
