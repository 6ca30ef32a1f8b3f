//! Programs with branches on unknown values allowed: choices between values are deferred, all others stay refused.

use crate::common::deferred::{HEAD, assert_deferred, with_unknowns};
use crate::common::{program, show};

#[test]
fn choices_between_values_are_evaluated_after_apply() {
    assert_deferred(
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
        crate::common::Run::allow_branches,
    );
}

#[test]
fn known_condition_runs_one_arm_immediately() {
    let text = "const seen: any[] = []; const no = (x: any) => { seen.push(x); return x; };\n\
        export const out = [1 ? no(1) : no(2), 0 && no(3), 0 || no(4), null ?? no(5), !0, 1 < 2, \"a\" === \"a\"];\n\
        export const ran = seen;\n";
    insta::assert_snapshot!(show(&program(text).allow_branches().graph()), @"
    > out = [1,0,4,5,true,true,true]
    > ran = [1,4,5]
    ");
}

/// Returns message and position of a refusal in one line.
fn refusal(statement: &str) -> String {
    let text = program(&format!("{HEAD}{statement}\n")).allow_branches().failure();
    text.lines().take(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn choices_with_side_effects_or_resources_stay_refused() {
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
        "const y = t ? () => 1 : 2;",
        "[1].filter((x) => n > x);",
    ];
    let found: Vec<String> = cases.iter().map(|case| format!("{case}\n    {}", refusal(case))).collect();
    insta::assert_snapshot!(found.join("\n"), @r"
    if (t) {}
        ST0104 this statement branches on `echo.yes` of local.Data, which is known only after apply   @ main.ts:6:5 +1 not known while planning
    if (n > 5) {}
        ST0104 this statement branches on a value made from `size` of local.File, which is known only after apply   @ main.ts:6:5 +5 not known while planning
    while (!t) {}
        ST0104 this statement branches on a value made from `echo` of local.Data, which is known only after apply   @ main.ts:6:8 +2 not known while planning
    for (; n < 3;) {}
        ST0104 this statement branches on a value made from `size` of local.File, which is known only after apply   @ main.ts:6:8 +5 not known while planning
    switch (n > 1) {}
        ST0104 `switch` branches on a value made from `size` of local.File, which is known only after apply   @ main.ts:6:9 +5 not known while planning
    t && console.log(1);
        ST0104 `&&` or `||` branches on `echo.yes` of local.Data, which is known only after apply   @ main.ts:6:1 +1 not known while planning
    t ? pw : data;
        ST0104 `?:` branches on `echo.yes` of local.Data, which is known only after apply   @ main.ts:6:1 +1 not known while planning
    let x; const y = t ? (x = 1) : 2;
        ST0104 `?:` branches on `echo.yes` of local.Data, which is known only after apply   @ main.ts:6:18 +1 not known while planning
    let x = 1; const y = t ? x++ : 2;
        ST0104 `?:` branches on `echo.yes` of local.Data, which is known only after apply   @ main.ts:6:22 +1 not known while planning
    const y = t ? await n : 2;
        ST0104 `?:` branches on `echo.yes` of local.Data, which is known only after apply   @ main.ts:6:11 +1 not known while planning
    let x = u; x ||= 1;
        ST0104 `&&` or `||` branches on `result` of local.RandomString#pw, which is known only after apply   @ main.ts:6:12 +1 not known while planning
    const y = u?.length;
        ST0104 `?.` branches on `result` of local.RandomString#pw, which is known only after apply   @ main.ts:6:11 +1 not known while planning
    const y = t ? () => 1 : 2;
        ST0104 `?:` branches on `echo.yes` of local.Data, which is known only after apply   @ main.ts:6:11 +1 not known while planning
    [1].filter((x) => n > x);
        ST0104 `Array.prototype.filter` needs a value made from `size` of local.File, which is known only after apply   @ main.ts:6:1 +10 not known while planning
    ");
}

#[test]
fn arm_that_creates_a_resource_is_refused_with_its_position() {
    let run = with_unknowns("t ? new RandomString({}, { id: \"x\" }).result : \"\"").allow_branches();
    insta::assert_snapshot!(run.failure(), @"
    ST0104 a resource is created in an expression that is evaluated only after apply
      @ main.ts:6:24 +33 here
      help: whether a resource exists must be known while planning: decide on `config`, `env`, or a property that the program sets
    ");
}
