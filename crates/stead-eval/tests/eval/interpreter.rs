//! Deferred built-ins on plain values, without a program.
#![allow(clippy::unwrap_used)]

use stead_eval::interpreter;
use stead_model::{Argument, Builtin, Computed, EvalError, Value};

fn run(builtin: Builtin, arguments: &str) -> Result<String, String> {
    let arguments: Vec<Value> = serde_json::from_str(arguments).unwrap();
    let arguments: Vec<Argument> = arguments.into_iter().map(|value| Argument::Value(value.into())).collect();
    answer(interpreter().builtin(&builtin, &arguments))
}

fn answer(result: Result<Computed, EvalError>) -> Result<String, String> {
    let text = |value: Computed| match value {
        Computed::Data(value) => value.to_json(),
        other => format!("{other:?}"),
    };
    result.map(text).map_err(|error| error.to_string())
}

fn method(name: &str, arguments: &str) -> Result<String, String> {
    run(Builtin::Method(name.to_owned()), arguments)
}

fn operator(name: &str, arguments: &str) -> Result<String, String> {
    run(Builtin::Operator(name.to_owned()), arguments)
}

fn global(name: &str, arguments: &str) -> Result<String, String> {
    run(Builtin::Global(name.to_owned()), arguments)
}

#[test]
fn builtins_give_the_results_of_javascript() {
    assert_eq!(method("split", r#"["a:b", ":"]"#).unwrap(), r#"["a","b"]"#);
    assert_eq!(method("at", "[[1, 2], 5]").unwrap(), "Undefined(None)");
    assert_eq!(operator("-", r#"["7", 2]"#).unwrap(), "5");
    assert_eq!(operator("-", "[7]").unwrap(), "-7");
    assert_eq!(operator("<", r#"["a", "b"]"#).unwrap(), "true");
    assert_eq!(global("Math.max", "[1, 3]").unwrap(), "3");
    assert_eq!(global("Object.keys", r#"[{ "__proto__": 1, "b": 2 }]"#).unwrap(), r#"["__proto__","b"]"#);
    assert_eq!(
        global("JSON.stringify", r#"[{ "a": [1] }, null, 1]"#).unwrap(),
        r#""{\n \"a\": [\n  1\n ]\n}""#
    );
}

#[test]
fn regular_expression_can_be_an_operand() {
    let regex = Argument::Regex { source: "[a-c]".to_owned(), flags: "g".to_owned() };
    let arguments =
        [Argument::Value(Value::from("abcd").into()), regex, Argument::Value(Value::from("$&.").into())];
    let result = interpreter().builtin(&Builtin::Method("replace".to_owned()), &arguments);
    assert_eq!(answer(result).unwrap(), r#""a.b.c.d""#);
}

#[test]
fn exceptions_and_results_that_cannot_be_stored_are_errors() {
    insta::assert_snapshot!([
        method("split", "[1, 2]"),
        method("split", "[null, 2]"),
        operator("*", r#"["x", 2]"#),
        operator("/", "[1, 0]"),
        method("charAt", r#"["🦀", 0]"#),
        method("normalize", r#"["a", "x"]"#),
        method("repeat", r#"["abcdefgh", 1e10]"#),
    ].map(|result| format!("{result:?}")).join("\n"), @r#"
    Err("`split` is not a method of a number")
    Err("cannot call `split` on null")
    Ok("Number(NaN)")
    Ok("Number(inf)")
    Err("`charAt`: the result contains an unpaired surrogate")
    Err("bad normalization form")
    Err("invalid repeat count")
    "#);
}

#[test]
fn builtins_that_are_not_listed_are_refused() {
    for refused in [
        method("constructor", r#"["a", "b"]"#),
        method("push", "[[1], 2]"),
        method("__defineGetter__", r#"[{}, "a"]"#),
        method("split", "[]"),
        operator("typeof", "[1]"),
        operator("~", "[1, 2]"),
        global("eval", r#"["1"]"#),
        global("Math.random", "[]"),
        global("Math.constructor", "[]"),
    ] {
        assert!(refused.unwrap_err().contains("cannot be deferred"));
    }
}

#[test]
fn one_interpreter_answers_many_threads() {
    let functions = interpreter();
    std::thread::scope(|scope| {
        for n in 0..4_i64 {
            let functions = &functions;
            scope.spawn(move || {
                for _ in 0..50 {
                    let arguments = [n, 1].map(|number| Argument::Value(Value::from(number).into()));
                    let sum = functions.builtin(&Builtin::Operator("-".to_owned()), &arguments).unwrap();
                    assert_eq!(sum, Value::from(n - 1).into());
                }
            });
        }
    });
}
