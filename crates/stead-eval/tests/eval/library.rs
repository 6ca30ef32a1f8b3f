//! Library functions of a program: URLs, text and bytes, copies, base64 and hashes.

use crate::common::{program, show};

/// Returns the graph of a program as text.
fn outputs(text: &str) -> String {
    show(&program(text).graph())
}

#[test]
fn urls_are_parsed_and_formatted() {
    let text = r##"
const u = new URL("HTTPS://us%65r:p@ss@Example.COM:443/a/./b/../c d?x=1&y=a b#frag ment");
export const parts = [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash];
export const json = JSON.stringify({ u });
const bases = ["../x?q", "/x", "//other/y", "?only", "#h", "", "y/../../z", "https:rel", "mailto:a@b", "..", "./"];
export const relative = bases.map((one) => new URL(one, "https://h/a/b/c?base#f").href);
export const more = ["file:///etc/../x", "file://localhost/y", "mailto:x@y.z?subject=a b", "http://[::1]:8080/", "http://[2001:DB8:0:0:1:0:0:1]",
  "http://0x7f.1/", "http://127.1:80", "http:\\\\h\\p", "postgres://u:p@db:5432/shop?ssl=1", "s3://bucket/key with space", "urn:isbn:1", "http://h", "http:h//x", "ws://h:80/",
  " http://h/\n p ", "http://h/%7Ea?'\"", "http://ex.com./"].map((one) => new URL(one).href);
export const text = `${u}`.length === String(u).length;
"##;
    insta::assert_snapshot!(outputs(text), @r##"
    > json = "{\"u\":\"https://us%65r:p%40ss@example.com/a/c%20d?x=1&y=a%20b#frag%20ment\"}"
    > more = ["file:///x","file:///y","mailto:x@y.z?subject=a%20b","http://[::1]:8080/","http://[2001:db8::1:0:0:1]/","http://127.0.0.1/","http://127.0.0.1/","http://h/p","postgres://u:p@db:5432/shop?ssl=1","s3://bucket/key%20with%20space","urn:isbn:1","http://h/","http://h//x","ws://h/","http://h/%20p","http://h/%7Ea?%27%22","http://ex.com./"]
    > parts = ["https://us%65r:p%40ss@example.com/a/c%20d?x=1&y=a%20b#frag%20ment","https://example.com","https:","us%65r","p%40ss","example.com","example.com","","/a/c%20d","?x=1&y=a%20b","#frag%20ment"]
    > relative = ["https://h/a/x?q","https://h/x","https://other/y","https://h/a/b/c?only","https://h/a/b/c?base#h","https://h/a/b/c?base","https://h/a/z","https://h/a/b/rel","mailto:a@b","https://h/a/","https://h/a/b/"]
    > text = true
    "##);
}

#[test]
fn parts_of_a_url_can_be_set() {
    let text = r##"
const u = new URL("http://h/p?a=1#x");
u.protocol = "https"; u.host = "g:81"; u.port = "443"; u.pathname = "a b/../c"; u.search = "q=é"; u.hash = ""; u.username = "me@";
const first = u.href;
u.searchParams.append("b", "2 3"); u.searchParams.set("q", "&="); u.searchParams.delete("none");
const second = u.href;
u.searchParams.delete("q"); u.searchParams.delete("b");
const third = [u.href, u.search];
u.href = "http://z/?k=v"; u.port = "bad"; u.hostname = "y:1"; u.protocol = "mailto";
export const all = [first, second, third, u.href, u.searchParams.get("k")];
"##;
    insta::assert_snapshot!(outputs(text), @r#"> all = ["https://me%40@g/c?q=%C3%A9","https://me%40@g/c?q=%26%3D&b=2+3",["https://me%40@g/c",""],"http://z/?k=v","v"]"#);
}

#[test]
fn invalid_url_is_a_type_error() {
    let cases = "['', 'x', '/x', 'http://', 'http://a b', 'http://h:99999', 'http://h:x', 'http://[::1', 'http://1.2.3.4.5', 'http://256.256.256.256', '//h', 'http://a<b', 'http://[1:2]']";
    let text = format!(
        "export const wrong = {cases}.filter((one) => URL.canParse(one));\nexport const nothing = URL.parse('x');\n\
         export const right = URL.canParse('x', 'http://h');\nlet kind = '';\ntry {{ new URL('x'); }} catch (error) {{ kind = `${{error instanceof TypeError}} ${{error}}`; }}\nexport {{ kind }};\n"
    );
    insta::assert_snapshot!(outputs(&text), @r#"
    > kind = "true TypeError: `x` is not a valid URL"
    > nothing = null
    > right = true
    > wrong = []
    "#);
}

#[test]
fn search_parameters_are_a_list_of_pairs() {
    let text = r##"
const p = new URLSearchParams("?b=2&a=1+2&b=%F0%9F%A6%80&c&=d&&e=%zz");
const read = [...p].map((pair) => pair.join(":")).concat([p.get("b")!, String(p.get("no")), p.getAll("b").join(), String(p.has("b", "2")), String(p.size)]);
p.sort(); p.set("b", "ü~*'"); p.delete("a", "nothing");
const seen: string[] = [];
p.forEach((value, name) => seen.push(`${name}=${value}`));
export const all = [read, p.toString(), seen, new URLSearchParams({ x: "1", y: "a&b" }).toString(),
  new URLSearchParams([["k", "v"], ["k", "w"]]).toString(), [...new URLSearchParams(new Map([["m", "1"]])).keys()]];
"##;
    insta::assert_snapshot!(outputs(text), @r#"> all = [["b:2","a:1 2","b:🦀","c:",":d","e:%zz","2","null","2,🦀","true","6"],"=d&a=1+2&b=%C3%BC%7E*%27&c=&e=%25zz",["=d","a=1 2","b=ü~*'","c=","e=%zz"],"x=1&y=a%26b","k=v&k=w",["m"]]"#);
}

#[test]
fn text_and_bytes_are_converted() {
    let text = r##"
import { base64, hash } from "stead";
const bytes = new TextEncoder().encode("é🦀\ud800");
const into = new Uint8Array(4);
export const encoded = [[...bytes], new TextEncoder().encodeInto("aé🦀", into), [...into]];
const decode = (list: number[], options?: { fatal?: boolean; ignoreBOM?: boolean }) => new TextDecoder("utf-8", options).decode(new Uint8Array(list));
export const decoded = [new TextDecoder().decode(bytes), decode([0xef, 0xbb, 0xbf, 65]), decode([0xef, 0xbb, 0xbf, 65], { ignoreBOM: true }).length, decode([65, 0xff, 66]),
  new TextDecoder().decode(new Uint16Array([65, 66]).buffer)];
let fatal = ""; try { decode([0xff], { fatal: true }); } catch (error) { fatal = `${error}`; }
let latin = ""; try { btoa("🦀"); } catch (error) { latin = `${error}`; }
let bad = ""; try { atob("*"); } catch (error) { bad = `${error}`; }
let algorithm = ""; try { hash("x", "crc32" as any); } catch (error) { algorithm = `${error}`; }
export const failed = [fatal, latin, bad, algorithm];
export const based = [btoa("hi\xff"), atob("aGn/") === "hi\xff", base64.encode("é"), base64.decode("w6k="), base64.encode(new Uint8Array([0, 255]))];
export const hashes = [hash("abc"), hash(new TextEncoder().encode("abc")) === hash("abc"), hash("abc", "sha512").slice(0, 16)];
"##;
    insta::assert_snapshot!(outputs(text), @r#"
    > based = ["aGn/",true,"w6k=","é","AP8="]
    > decoded = ["é🦀�","A",2,"A�B","A\u0000B\u0000"]
    > encoded = [[195,169,240,159,166,128,239,191,189],{"read":2,"written":3},[97,195,169,0]]
    > failed = ["TypeError: The encoded data was not valid for encoding utf-8","InvalidCharacterError: btoa takes characters up to U+00FF; use `base64.encode` of module stead","InvalidCharacterError: atob: the text is not valid base64","TypeError: hash: unknown algorithm `crc32`; use md5, sha1, sha256, sha384 or sha512"]
    > hashes = ["ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",true,"ddaf35a193617aba"]
    "#);
}

#[test]
fn structured_clone_copies_data_deeply() {
    let text = r##"
import { RandomString } from "stead/local";
const pw = new RandomString();
const round: any = { name: "r" }; round.self = round;
const copy = structuredClone(round);
const source = { list: [1, , { deep: true }], map: new Map([["k", new Set([1])]]), date: new Date("2020-01-02"), re: /x/gi, bytes: new Uint8Array([1, 2]), pw: pw.result, error: new RangeError("r") };
const made = structuredClone(source);
export const cyclic = [copy !== round, copy.self === copy];
export const kept = [made.list.length, 1 in made.list, (made.list[2] as any).deep, made.list !== source.list, [...made.map.get("k")!], made.date.toISOString(), `${made.re}`, [...made.bytes], made.bytes.buffer !== source.bytes.buffer, `${made.error}`, made.error instanceof RangeError];
export const unknown = [made.pw, structuredClone(pw.result)];
class Point { constructor(public x = 1) {} get y() { return 2; } }
export const plain = structuredClone(new Point());
const refused = [() => 1, Symbol("s"), { f() {} }, pw, Promise.resolve()].map((value: any) => { try { structuredClone(value); return "no"; } catch (error) { return `${error}`; } });
export { refused };
"##;
    insta::assert_snapshot!(outputs(text), @r#"
    dev:main:local.RandomString @main.ts:3:12
    > cyclic = [true,true]
    > kept = [3,false,true,true,[1],"2020-01-02T00:00:00.000Z","/x/gi",[1,2],true,"RangeError: r",true]
    > plain = {"x":1}
    > refused = ["DataCloneError: structuredClone cannot copy a function","DataCloneError: structuredClone cannot copy a symbol","DataCloneError: structuredClone cannot copy a function","DataCloneError: structuredClone cannot copy a resource","DataCloneError: structuredClone cannot copy a promise"]
    > unknown = [#0.result, #0.result]
    "#);
}

#[test]
fn library_functions_refuse_unknowns_with_their_position() {
    let cases = [
        "new URL(u);",
        "new URL('x', u);",
        "new URL('http://h').pathname = u;",
        "new URL('http://h').searchParams.set('a', u);",
        "new URLSearchParams({ a: u });",
        "new URLSearchParams([['a', u]]);",
        "new URLSearchParams(u);",
        "new URLSearchParams('a').get(u);",
        "new TextEncoder().encode(u);",
        "new TextDecoder(u);",
        "new TextDecoder().decode(u);",
        "btoa(u);",
        "atob(u);",
        "base64.decodeBytes(u);",
        "hash(new Uint8Array(1), u);",
        "URL.canParse(u);",
    ];
    let wrong: Vec<String> = cases
        .iter()
        .map(|case| {
            let head = "import { base64, hash } from 'stead';\nimport { RandomString } from 'stead/local';\nconst u: any = new RandomString().result;\n";
            (case, program(&format!("{head}[base64, hash];\n{case}\n")).failure())
        })
        .filter(|(_, text)| !text.starts_with("ST01") || !text.contains("@ main.ts:5:") || !text.contains("is known only after apply"))
        .map(|(case, text)| format!("{case}\n{text}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let text = "import { RandomString } from 'stead/local';\n\nconst pw = new RandomString();\nexport const h = btoa(pw.result);\n";
    insta::assert_snapshot!(program(text).failure(), @"
    ST0110 `btoa` needs `result` of local.RandomString, which is known only after apply
      @ main.ts:4:18 +4 not known while planning
      @ main.ts:3:12 +3 local.RandomString is declared here
      note: the provider sets `result` when it creates the resource; the program must declare every resource before that
      help: template literals, operators, property access, methods and `JSON.stringify` work on such values
    ");
}

/// Node converts such a name, so that a program that catches the refusal would go on with another value.
#[test]
fn international_host_is_refused_for_good() {
    for code in [
        "new URL('https://münchen.de')",
        "URL.canParse('https://m%C3%BCnchen.de')",
        "try { new URL('https://münchen.de'); } catch {}",
        "const u = new URL('http://a'); u.host = 'münchen.de'",
    ] {
        let failure = program(&format!("\n{code};\n")).failure();
        let headline = "ST0103 a program cannot use the host `münchen.de` in a URL\n  @ main.ts:2:";
        assert!(failure.starts_with(headline) && failure.contains("xn--"), "{code}: {failure}");
    }
    assert_eq!(
        outputs("export const x = new URL('x://münchen.de').href;\n"),
        "> x = \"x://m%C3%BCnchen.de\"\n"
    );
}
