//! Tests of the evaluation of deferred expressions.

use super::*;
use crate::NoFunctions;

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
