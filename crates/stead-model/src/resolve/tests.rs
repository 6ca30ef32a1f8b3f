//! Tests of the evaluation of deferred expressions.

use super::*;
use crate::NoFunctions;

#[derive(Default)]
struct Outputs(HashMap<(u32, &'static str), Value>);

impl KnownOutputs for Outputs {
    fn property(&self, node: NodeId, property: &str) -> Result<Option<Value>, EvalError> {
        Ok(self.0.iter().find(|((n, p), _)| *n == node.0 && *p == property).map(|(_, v)| v.clone()))
    }

    fn name(&self, _: NodeId) -> Option<&Name> {
        None
    }
}

fn property(table: &mut ExprTable, node: u32, property: &str) -> ExprId {
    table.push(Expr::Property { node: NodeId(node), property: property.to_owned() })
}

#[test]
fn template_stays_deferred_until_its_last_value_is_known() {
    let mut table = ExprTable::default();
    let id = property(&mut table, 0, "id");
    let port = property(&mut table, 1, "port");
    let url = table.push(Expr::Template(vec![
        TemplatePart::Text("http://".into()),
        TemplatePart::Hole(Input::Deferred(id)),
        TemplatePart::Text(":".into()),
        TemplatePart::Hole(Input::Deferred(port)),
    ]));
    let mut outputs = Outputs(HashMap::from([((0, "id"), Value::from("db"))]));
    let want = Input::Deferred(url);
    assert_eq!(resolve(&want, &table, &outputs, &NoFunctions).unwrap().unwrap(), Input::Deferred(url));
    outputs.0.insert((1, "port"), Value::from(5432));
    assert_eq!(
        resolve(&want, &table, &outputs, &NoFunctions).unwrap().unwrap(),
        Input::Known("http://db:5432".into())
    );
}

#[test]
fn addition_and_members_follow_javascript() {
    let mut table = ExprTable::default();
    let list = property(&mut table, 0, "list");
    let first = table.push(Expr::Get { of: list, key: Key::Index(0) });
    let sum = table.push(Expr::Add(Box::new(Input::Deferred(first)), Box::new(Input::Known(Value::from(2)))));
    let text =
        table.push(Expr::Add(Box::new(Input::Deferred(sum)), Box::new(Input::Known(Value::from("!")))));
    let outputs = Outputs(HashMap::from([((0, "list"), Value::from(vec![Value::from(40)]))]));
    assert_eq!(
        resolve(&Input::Deferred(text), &table, &outputs, &NoFunctions).unwrap().unwrap(),
        Input::Known("42!".into())
    );
    let bad = table.push(Expr::Get { of: first, key: Key::Name("x".into()) });
    assert!(resolve(&Input::Deferred(bad), &table, &outputs, &NoFunctions).is_err());
}

#[test]
fn very_deep_expression_needs_no_stack() {
    let mut table = ExprTable::default();
    let mut sum = property(&mut table, 0, "n");
    for _ in 0..200_000 {
        sum = table.push(Expr::Add(Box::new(Input::Deferred(sum)), Box::new(Input::Known(1.into()))));
    }
    let outputs = Outputs(HashMap::from([((0, "n"), Value::from(0))]));
    assert_eq!(
        resolve(&Input::Deferred(sum), &table, &outputs, &NoFunctions).unwrap().unwrap(),
        Input::Known(200_000.into())
    );
}

#[test]
fn nodes_of_an_input_are_found_through_nested_expressions() {
    let mut table = ExprTable::default();
    let a = property(&mut table, 3, "a");
    let b = property(&mut table, 5, "b");
    let inner = table.push(Expr::Json { of: Box::new(Input::List(vec![Input::Deferred(b)])), indent: 2 });
    let both = table.push(Expr::Add(Box::new(Input::Deferred(a)), Box::new(Input::Deferred(inner))));
    let nodes: Vec<u32> = table.nodes_of(&Input::Deferred(both)).into_iter().map(|n| n.0).collect();
    assert_eq!(nodes, [3, 5]);
}

fn outputs(json: &str) -> Outputs {
    Outputs(HashMap::from([((0, "output"), serde_json::from_str(json).unwrap())]))
}

fn member(table: &mut ExprTable, of: ExprId, name: &str) -> ExprId {
    table.push(Expr::Get { of, key: Key::Name(name.to_owned()) })
}

fn text_of(id: ExprId) -> Expr {
    Expr::Template(vec![TemplatePart::Hole(Input::Deferred(id))])
}

#[test]
fn missing_member_is_never_null() {
    let mut table = ExprTable::default();
    let output = property(&mut table, 0, "output");
    let missing = member(&mut table, output, "hots");
    let text = table.push(text_of(missing));
    let sum = table.push(Expr::Add(Box::new("a".into_input()), Box::new(Input::Deferred(missing))));
    let deeper = member(&mut table, missing, "port");
    let known = outputs(r#"{"host": "db", "none": null}"#);
    let error = |id| resolve(&Input::Deferred(id), &table, &known, &NoFunctions).unwrap_err().to_string();
    assert_eq!(error(missing), "`output.hots` is undefined");
    assert_eq!(error(text), "`output.hots` is undefined, and it is part of a text");
    assert_eq!(error(sum), "`output.hots` is undefined, and `+` needs it as text");
    assert_eq!(error(deeper), "cannot read \"port\" of `output.hots`, which is undefined");
    let inputs = [("a", Input::Deferred(missing))].into();
    let failed = resolve_map(&inputs, &table, &known, &NoFunctions).unwrap_err();
    assert_eq!(failed.property, "a");
}

#[test]
fn default_is_for_undefined_and_not_for_null() {
    let mut table = ExprTable::default();
    let output = property(&mut table, 0, "output");
    let of = ["port", "none", "host"].map(|name| member(&mut table, output, name));
    let defaults = of.map(|of| table.push(Expr::Default { of, otherwise: Box::new("d".into_input()) }));
    let known = outputs(r#"{"host": "db", "none": null}"#);
    let found =
        defaults.map(|id| resolve(&Input::Deferred(id), &table, &known, &NoFunctions).unwrap().unwrap());
    assert_eq!(found, [Value::from("d"), Value::Null, Value::from("db")].map(Input::Known));
    let unknown = Outputs(HashMap::new());
    let waits = resolve(&Input::Deferred(defaults[0]), &table, &unknown, &NoFunctions).unwrap();
    assert_eq!(waits, Some(Input::Deferred(defaults[0])));
}

#[test]
fn arm_that_is_not_taken_is_not_evaluated() {
    let mut table = ExprTable::default();
    let output = property(&mut table, 0, "output");
    let missing = member(&mut table, output, "hots");
    let fails = member(&mut table, missing, "port");
    let choose = |condition: bool| Expr::Choose {
        condition: Box::new(Value::from(condition).into()),
        then: Box::new(Input::Deferred(fails)),
        otherwise: Box::new(Input::Deferred(output)),
    };
    let (taken, not_taken) = (table.push(choose(true)), table.push(choose(false)));
    let known = outputs("1");
    let result = |id| resolve(&Input::Deferred(id), &table, &known, &NoFunctions);
    assert!(result(taken).is_err());
    assert_eq!(result(not_taken).unwrap(), Some(Input::Known(1.into())));
}

#[test]
fn value_above_the_limit_is_refused_before_it_is_made() {
    let mut table = ExprTable::default();
    let mut text = property(&mut table, 0, "output");
    for _ in 0..60 {
        text = table.push(Expr::Add(Box::new(Input::Deferred(text)), Box::new(Input::Deferred(text))));
    }
    let known = outputs("\"0123456789\"");
    let error = resolve(&Input::Deferred(text), &table, &known, &NoFunctions).unwrap_err();
    assert!(matches!(error, EvalError::TooLarge { .. }), "{error}");
}

#[test]
fn json_text_is_that_of_javascript() {
    let mut table = ExprTable::default();
    let output = property(&mut table, 0, "output");
    let json = |indent| Expr::Json { of: Box::new(Input::Deferred(output)), indent };
    let (flat, pretty) = (table.push(json(0)), table.push(json(2)));
    let known = outputs(r#"{"b": [1e21, 1e20, 1e-7, 0.1], "10": {}, "9": []}"#);
    let text = |id| match resolve(&Input::Deferred(id), &table, &known, &NoFunctions).unwrap() {
        Some(Input::Known(Value::String(text))) => text.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text(flat), r#"{"9":[],"10":{},"b":[1e+21,100000000000000000000,1e-7,0.1]}"#);
    assert_eq!(text(pretty).lines().nth(3).unwrap(), "  \"b\": [");
}

#[test]
fn cycle_in_a_damaged_graph_is_an_error() {
    let mut table = ExprTable::default();
    let itself = table.push(Expr::Get { of: ExprId(0), key: Key::Index(0) });
    let found = resolve(&Input::Deferred(itself), &table, &outputs("1"), &NoFunctions);
    assert_eq!(found, Err(EvalError::Dangling));
}

trait IntoInput {
    fn into_input(self) -> Input;
}

impl IntoInput for &str {
    fn into_input(self) -> Input {
        Input::Known(Value::from(self))
    }
}

proptest::proptest! {
    #[test]
    fn sum_of_numbers_is_that_of_doubles(a: f64, b: f64) {
        let number = |value: f64| Computed::number(value);
        let sum = crate::javascript::sum(&number(a), &number(b)).unwrap();
        proptest::prop_assert_eq!(format!("{sum:?}"), format!("{:?}", number(a + b)));
    }

    #[test]
    fn element_of_a_text_is_its_utf16_unit(text: String, index in 0_usize..8) {
        let mut table = ExprTable::default();
        let output = property(&mut table, 0, "output");
        let element = table.push(Expr::Get { of: output, key: Key::Index(index) });
        let known = Outputs(HashMap::from([((0, "output"), Value::from(text.clone()))]));
        let found = resolve(&Input::Deferred(element), &table, &known, &NoFunctions);
        match text.encode_utf16().nth(index).map(|unit| char::from_u32(unit.into())) {
            Some(Some(unit)) => {
                proptest::prop_assert_eq!(found, Ok(Some(Input::Known(Value::from(unit.to_string())))));
            }
            Some(None) => assert!(matches!(found, Err(EvalError::NotData { .. }))),
            None => assert!(matches!(found, Err(EvalError::Undefined { .. }))),
        }
    }
}

mod secrets {
    use super::*;
    use crate::{Kept, Secret, SecretInput, SourceRef};

    fn secret(value: impl Into<Value>) -> Expr {
        let value = SecretInput::new(Input::Known(value.into()));
        let source = SourceRef { file: "main.ts".into(), line: 1, column: 1 };
        Expr::Secret { from: "config `password`".into(), source, needs: Vec::new(), value }
    }

    fn evaluated(exprs: &ExprTable, id: ExprId) -> Value {
        let resolved = resolve(&Input::Deferred(id), exprs, &Outputs::default(), &NoFunctions).unwrap();
        resolved.unwrap().into_known().unwrap()
    }

    fn revealed(value: &Value) -> Value {
        let Value::Secret(secret) = value else { panic!("not a secret: {value:?}") };
        secret.reveal().unwrap().clone()
    }

    #[test]
    fn expression_with_a_secret_operand_is_secret() {
        let mut exprs = ExprTable::default();
        let password = exprs.push(secret("hunter22"));
        let hole = || Input::Deferred(password);
        let template =
            exprs.push(Expr::Template(vec![TemplatePart::Text("pw=".into()), TemplatePart::Hole(hole())]));
        let sum = exprs.push(Expr::Add(Box::new(hole()), Box::new(Input::Known("!".into()))));
        let json = exprs
            .push(Expr::Json { of: Box::new(Input::List(vec![hole(), Input::Known(1.into())])), indent: 0 });
        let arm = |text: &str| Box::new(Input::Known(text.into()));
        let choice =
            exprs.push(Expr::Choose { condition: Box::new(hole()), then: arm("yes"), otherwise: arm("no") });
        for (id, expected) in [
            (password, "hunter22"),
            (template, "pw=hunter22"),
            (sum, "hunter22!"),
            (json, "[\"hunter22\",1]"),
            (choice, "yes"),
        ] {
            assert_eq!(revealed(&evaluated(&exprs, id)), Value::from(expected));
        }
    }

    #[test]
    fn member_of_a_secret_is_secret_and_a_sibling_of_a_secret_is_not() {
        let mut exprs = ExprTable::default();
        let whole = Value::Map([("user", Value::from("ada")), ("password", Value::from("hunter22"))].into());
        let object = exprs.push(secret(whole));
        let member = exprs.push(Expr::Get { of: object, key: Key::Name("user".into()) });
        assert_eq!(revealed(&evaluated(&exprs, member)), Value::from("ada"));
        let list = Input::List(vec![Input::Known("open".into()), Input::Deferred(member)]);
        let resolved = resolve(&list, &exprs, &Outputs::default(), &NoFunctions).unwrap().unwrap();
        let items = resolved.into_known().unwrap();
        assert_eq!(items.to_json(), "[\"open\",\"[secret]\"]");
    }

    #[test]
    fn ephemeral_value_is_open_in_a_plan_and_so_is_all_that_is_made_from_it() {
        let mut exprs = ExprTable::default();
        let source = SourceRef { file: "main.ts".into(), line: 1, column: 1 };
        let token = exprs.push(Expr::Ephemeral { function: FunctionRef { ordinal: 0, source } });
        let text = exprs.push(Expr::Template(vec![TemplatePart::Hole(Input::Deferred(token))]));
        for id in [token, text] {
            let Value::Secret(open) = evaluated(&exprs, id) else { panic!("not a secret") };
            assert_eq!(open, Secret::ephemeral());
            assert_eq!(open.recorded(), Kept::Nothing);
        }
    }
}
