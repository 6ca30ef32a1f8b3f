//! Limits of a program: at the limit and one above it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common::program;
use stead_model::Limits;

const HEAD: &str = "import { Data, RandomString } from 'stead/local';\n";

fn chain(length: usize) -> String {
    format!("{HEAD}let s: any = 1;\nfor (let i = 0; i < {length}; i++) s = new Data({{ value: s }}).echo;\n")
}

#[test]
fn dependency_chain_of_ten_thousand_is_the_limit() {
    let limits = Limits::default();
    assert_eq!(program(&chain(limits.depth)).graph().nodes.len(), limits.depth);
    let failure = program(&chain(limits.depth + 1)).failure();
    assert!(failure.starts_with("ST0217 the program declares a chain of 10001 dependencies"), "{failure}");
}

#[test]
fn number_of_dependencies_is_limited() {
    let star = |count: usize| {
        format!(
            "{HEAD}const a = [1, 2, 3].map(() => new RandomString());\nfor (let i = 0; i < {count}; i++) new Data({{ value: i }}, {{ dependsOn: a }});\n"
        )
    };
    assert_eq!(program(&star(10)).limits(|l| l.edges = 30).graph().nodes.len(), 13);
    assert_eq!(program(&star(10)).limits(|l| l.edges = 29).code(), "ST0217");
}

#[test]
fn hundred_thousand_resources_are_the_limit() {
    let many = |count: usize| format!("{HEAD}for (let i = 0; i < {count}; i++) new Data();\n");
    let limits = Limits::default();
    let room = |limits: &mut Limits| *limits = Limits::default();
    assert_eq!(program(&many(limits.resources)).limits(room).graph().nodes.len(), limits.resources);
    assert_eq!(program(&many(limits.resources + 1)).limits(room).code(), "ST0108");
}

#[test]
fn nesting_of_a_hundred_levels_is_the_limit() {
    let nested = |levels: usize| {
        format!(
            "{HEAD}let v: any = 1;\nfor (let i = 0; i < {levels}; i++) v = [v];\nnew Data({{ value: v }});\n"
        )
    };
    assert_eq!(program(&nested(100)).graph().nodes.len(), 1);
    let failure = program(&nested(101)).failure();
    assert!(failure.contains("nested deeper than 100 levels"), "{failure}");
}

#[test]
fn property_size_of_four_mebibytes_is_the_limit() {
    let text = |bytes: usize| format!("{HEAD}new Data({{ value: 'x'.repeat({bytes}) }});\n");
    let limit = Limits::default().property_bytes;
    assert_eq!(program(&text(limit - 2)).graph().nodes.len(), 1);
    assert_eq!(program(&text(limit + 1)).code(), "ST0108");
}

#[test]
fn endless_chain_of_jobs_is_stopped() {
    let endless = [
        "while (true) await null;\n",
        "async function f(): Promise<void> { while (true) await null; }\nf();\n",
        "function again() { queueMicrotask(again); }\nagain();\n",
        "const again = (): any => Promise.resolve().then(again);\nagain();\n",
    ];
    for code in endless {
        let failure = program(code).limits(|l| l.evaluation_interrupts = 1_000).failure();
        assert!(failure.starts_with("ST0108 the program runs too long"), "{code}{failure}");
    }
    let many = "let n = 0;\nwhile (n < 30_000) n += await Promise.resolve(1);\nexport const out = n;\n";
    assert_eq!(program(many).limits(|l| l.evaluation_interrupts = 5_000).graph().outputs.len(), 1);
}

/// Returns the code and message of the failure, and checks that it has a place.
fn refused(code: &str) -> String {
    let failure = program(code).failure();
    assert!(failure.contains("\n  @ main.ts:"), "no place: {failure}");
    failure.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn source_that_is_nested_too_deeply_is_refused_before_it_is_parsed() {
    // Head of the statement, then what is repeated before and after the innermost part.
    let shapes = [
        ("let x = ", "1+", "1", ""),
        ("let x = ", "[", "", "]"),
        ("let x: ", "A<", "1", ">"),
        ("let x = ", "(", "1", ")"),
        ("let x = ", "`${", "1", "}`"),
        ("let x = ", "a=>", "1", ""),
        ("let x = ", "!", "1", ""),
        ("let x = a", ".b", "", ""),
        ("let x = a", "()", "", ""),
        ("let x = ", "1?1:", "1", ""),
        ("let x = ", "{a:", "1", "}"),
        ("let x = ", "new ", "a", ""),
        ("let x = ", "a<", "1", ""),
        ("", "if(1)", ";", ""),
        ("", "if(1){}else ", ";", ""),
        ("", "{", "", "}"),
        ("", "function f(){", "", "}"),
        ("type T = ", "keyof ", "1", ""),
        ("type T = 1", "[]", "", ""),
        ("type T = ", "1 extends 1 ? 1 : ", "1", ""),
    ];
    for (head, open, inner, close) in shapes {
        let shape = |count: usize| format!("{}{inner}{}", open.repeat(count), close.repeat(count));
        for count in [10_000, 200_000] {
            let text = format!("{head}{};\n", shape(count));
            let failure = refused(&text);
            assert_eq!(failure, "ST0108 the code is nested deeper than 5000 tokens", "{}", &text[..40]);
        }
        // Well below the limit, parser and visitors have enough stack.
        let text =
            format!("const a: any = 1; type A<T> = T;\nasync function g() {{ {head}{}; }}\n", shape(500));
        assert_eq!(program(&text).graph().nodes.len(), 0);
    }
}

#[test]
fn long_program_is_not_a_nested_one() {
    let styles = [
        "const a = [1, 2, { b: 'c' }].map((x) => `${x} (`)\n",
        "if (a > 1) {\n  f(/[(]/g, a / 2)\n} else {\n  f(\")\")\n}\n",
        "f(`(${a}[`, 'it\\'s {'); // don't (\n",
    ];
    for style in styles {
        let scoped = "{ const a: number = 1; const f = (...x: any[]) => x; f(a);\n".to_owned();
        let style = style.replace("const a =", "const b =");
        let text = format!("{scoped}{}}}\n", format!("{{ {style} }}\n").repeat(3_000));
        assert_eq!(program(&text).graph().nodes.len(), 0);
    }
    let list = format!("export const n = [{}].length;\n", "'a',\n".repeat(20_000));
    assert_eq!(program(&list).graph().outputs.len(), 1);
}

#[test]
fn size_of_a_source_file_and_of_a_scope_is_limited() {
    let large = format!("// {}\n", "x".repeat(8 << 20));
    assert!(refused(&large).starts_with("ST0108 the file has "));
    let names = |count: usize| (0..count).map(|n| format!("let v{n};\n")).collect::<String>();
    assert_eq!(refused(&names(20_001)), "ST0108 one scope declares 20001 names; it may declare 20000");
    assert_eq!(program(&names(2_000)).graph().nodes.len(), 0);
}

#[test]
fn sort_of_a_long_typed_array_is_interrupted() {
    let text = "const a = new Float64Array(2 ** 21); for (let i = 0; i < 64; i++) a[i * 1000] = i % 7;\n\
        while (true) { a.sort(); a.reverse(); }\n";
    let failure = program(text).limits(|l| l.evaluation_interrupts = 3_000).failure();
    assert!(failure.starts_with("ST0108"), "{failure}");
    let sorted = "const a = new Float64Array(2 ** 20 + 2); a[5] = 3; a[6] = NaN; a[7] = -0; a[8] = -2; a.sort(); const n = a.length; \
        export const out = [a[0], Object.is(a[1], -0), Object.is(a[2], 0), a[n - 2], Object.is(a[n - 1], NaN)];\n";
    let graph = program(sorted).limits(|l| l.evaluation_interrupts = 1_000_000).graph();
    assert_eq!(graph.outputs["out"].as_known().unwrap().to_json(), "[-2,true,true,3,true]");
}
