//! `--allow-unknown-branches`: choices between values are decided after apply; everything else stays refused.

mod common;

use common::later::{HEAD, assert_carried, with_unknowns};
use common::{program, show};

#[test]
fn value_arms_are_decided_after_apply() {
    assert_carried(
        r#"
t ? "a" : "b"
!t ? "a" : "b"
n > 5 ? { big: n } : { small: [n] }
u === "x" ? u : `not ${u}`
u && n
(n - 7) && u
(n - 7) || u
u || "default"
u ?? "default"
m.missing ?? "default"
!u
!!u
n === 7
n !== 7
n == "7"
n != null
u < "b"
n <= 7
7 > n
n >= 8
m.missing == undefined
[1, 2].map((x) => (n > 5 ? x : -x))
t ? u.slice(0, 3) + "!" : [n].length * 2
(n > 5 ? (t ? 1 : 2) : 3) + 1
((x: any = t ? "yes" : "no") => `${x}!`)()
"known" ? n : 1
(() => { const f = (x: any) => x && [x]; return f(u); })()
"#,
        common::Run::allow_branches,
    );
}

#[test]
fn known_values_choose_at_once_and_run_one_arm() {
    let text = "const seen: any[] = []; const no = (x: any) => { seen.push(x); return x; };\n\
        export const out = [1 ? no(1) : no(2), 0 && no(3), 0 || no(4), null ?? no(5), !0, 1 < 2, \"a\" === \"a\"];\n\
        export const ran = seen;\n";
    insta::assert_snapshot!(show(&program(text).allow_branches().graph()), @"
    > out = [1,0,4,5,true,true,true]
    > ran = [1,4,5]
    ");
}

/// One line each: what it says first.
fn refusal(statement: &str) -> String {
    let text = program(&format!("{HEAD}{statement}\n")).allow_branches().failure();
    text.lines().take(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_no_value_stays_refused() {
    let cases = [
        "if (t) {}",
        "if (n > 5) {}",
        "while (!t) {}",
        "for (; n < 3;) {}",
        "switch (n > 1) {}",
        "t && console.log(1);",
        "t ? pw : data;",
        "let x; const y = t ? (x = 1) : 2;",
        "let x = 1; const y = t ? x++ : 2;",
        "const y = t ? await n : 2;",
        "let x = u; x ||= 1;",
        "const y = u?.length;",
        "const y = u === undefined;",
        "const y = t ? () => 1 : 2;",
        "[1].filter((x) => n > x);",
    ];
    let found: Vec<String> = cases.iter().map(|case| format!("{case}\n    {}", refusal(case))).collect();
    insta::assert_snapshot!(found.join("\n"), @r"
    if (t) {}
        ST0104 this statement decides on `echo.yes` of local.Data, which exists only after apply   @ main.ts:6:5 +1 not known while planning
    if (n > 5) {}
        ST0104 this statement decides on a value made from `size` of local.File, which exists only after apply   @ main.ts:6:5 +5 not known while planning
    while (!t) {}
        ST0104 this statement decides on a value made from `echo` of local.Data, which exists only after apply   @ main.ts:6:8 +2 not known while planning
    for (; n < 3;) {}
        ST0104 this statement decides on a value made from `size` of local.File, which exists only after apply   @ main.ts:6:8 +5 not known while planning
    switch (n > 1) {}
        ST0104 `switch` decides on a value made from `size` of local.File, which exists only after apply   @ main.ts:6:9 +5 not known while planning
    t && console.log(1);
        ST0104 `&&` and `||` decide on `echo.yes` of local.Data, which exists only after apply   @ main.ts:6:1 +1 not known while planning
    t ? pw : data;
        ST0104 `?:` decides on `echo.yes` of local.Data, which exists only after apply   @ main.ts:6:1 +1 not known while planning
    let x; const y = t ? (x = 1) : 2;
        ST0104 `?:` decides on `echo.yes` of local.Data, which exists only after apply   @ main.ts:6:18 +1 not known while planning
    let x = 1; const y = t ? x++ : 2;
        ST0104 `?:` decides on `echo.yes` of local.Data, which exists only after apply   @ main.ts:6:22 +1 not known while planning
    const y = t ? await n : 2;
        ST0104 `?:` decides on `echo.yes` of local.Data, which exists only after apply   @ main.ts:6:11 +1 not known while planning
    let x = u; x ||= 1;
        ST0104 `&&` and `||` decide on `result` of local.RandomString#pw, which exists only after apply   @ main.ts:6:12 +1 not known while planning
    const y = u?.length;
        ST0104 `?.` decides on `result` of local.RandomString#pw, which exists only after apply   @ main.ts:6:11 +1 not known while planning
    const y = u === undefined;
        ST0104 this comparison looks at `result` of local.RandomString#pw, which exists only after apply   @ main.ts:6:11 +15 not known while planning
    const y = t ? () => 1 : 2;
        ST0104 `?:` decides on `echo.yes` of local.Data, which exists only after apply   @ main.ts:6:11 +1 not known while planning
    [1].filter((x) => n > x);
        ST0104 `Array.prototype.filter` looks at a value made from `size` of local.File, which exists only after apply   @ main.ts:6:5 +6 not known while planning
    ");
}

#[test]
fn an_arm_that_makes_a_resource_is_refused_with_its_place() {
    let run = with_unknowns("t ? new RandomString({}, { id: \"x\" }).result : \"\"").allow_branches();
    insta::assert_snapshot!(run.failure(), @"
    ST0104 a resource is made in an expression that is decided only after apply
      @ main.ts:6:24 +33 here
      help: whether a resource is made must be known while planning: decide on `config`, `env`, or a property that you set
    ");
}
