//! Secret properties of resources: those that the schema marks, and those that the option `sensitive` names.
//!
//! **Invariant:** the graph holds the value of such an input only in an `Expr::Secret`, which is never printed or saved.

use stead_model::{
    Expr, ExprId, Input, Inputs, NodeId, PathPattern, PropertyPath, SecretInput, SourceRef, Text, Value,
};
use stead_schema::{Problem, TypeSchema, check};

use crate::engine::session::{Draft, NotAdded, Session};

/// Returns the inputs of a resource that are secret or have a secret inside, as expressions of the graph.
pub(crate) fn inputs(session: &mut Session, node: usize, inputs: &Inputs) -> Inputs {
    let Some(draft) = session.drafts.get(node) else { return Inputs::new() };
    let (token, site) = (draft.token.clone(), draft.site);
    let patterns = draft.options.sensitive.clone();
    let Some(schema) = token.and_then(|token| session.schema(&token)) else { return Inputs::new() };
    let place = session.locate_site(site).at;
    let by_schema = schema.conceal_inputs(inputs.clone());
    let mut secret = Vec::new();
    for (name, given) in &by_schema {
        let from = origin(session, NodeId::at(node), name);
        let by_schema = made_by(&schema, name);
        let mut wrapper =
            Wrapper { session, patterns: &patterns, place: &place, from, by_schema, wrapped: false };
        let input = match given {
            Input::Deferred(_) if schema.is_secret(name) => wrapper.secret(given.clone(), None),
            given => wrapper.marked(given.clone()),
        };
        let input = wrapper.matching(input, &PropertyPath::of(name));
        if wrapper.wrapped {
            secret.push((name.clone(), input));
        }
    }
    secret.into_iter().collect()
}

/// Returns the expression of a property of a resource, as a secret if it is one.
pub(crate) fn output(
    session: &mut Session,
    node: NodeId,
    path: &PropertyPath,
    id: ExprId,
) -> Result<ExprId, NotAdded> {
    let Some(draft) = session.drafts.get(node.index()) else { return Ok(id) };
    let (token, site) = (draft.token.clone(), draft.site);
    let by_option = draft.options.sensitive.iter().any(|pattern| pattern.covers(path));
    let schema = token.and_then(|token| session.schema(&token));
    let by_schema = match (path.0.as_slice(), path.root(), &schema) {
        ([_], Some(root), Some(schema)) if schema.is_secret(root) => Some((root, made_by(schema, root))),
        _ => None,
    };
    let (from, made_by) = match by_schema {
        Some((root, made_by)) => (origin(session, node, root), made_by),
        None => (BY_OPTION.to_owned(), SecretInput::new as fn(Input) -> SecretInput),
    };
    if !by_option && by_schema.is_none() {
        return Ok(id);
    }
    let made_by = if by_option { SecretInput::new } else { made_by };
    let place = session.locate_site(site).at;
    session.secret_made_by(made_by, from, place, Input::Deferred(id), 0)
}

/// Returns the maker of the secrets of a property that a schema conceals. A value that is only write-only is a local secret.
fn made_by(schema: &TypeSchema, property: &str) -> fn(Input) -> SecretInput {
    if schema.is_only_write_only(property) { SecretInput::local } else { SecretInput::new }
}

/// Checks the inputs of a resource as the program gave them. No message shows a secret.
pub(crate) fn check_inputs(schema: &TypeSchema, draft: &Draft) -> Vec<Problem> {
    if draft.concealed.is_empty() {
        return check(schema, &draft.inputs);
    }
    let mut given = draft.inputs.clone();
    given.extend(draft.concealed.iter().map(|(name, input)| (name.clone(), input.clone())));
    let mut problems = check(schema, &given);
    for problem in &mut problems {
        let Some(root) = problem.path.root().filter(|root| draft.concealed.contains_key(*root)) else {
            continue;
        };
        let tells_kind =
            problem.path.0.len() == 1 && problem.message.starts_with(&format!("`{root}` must be "));
        if !tells_kind {
            let message =
                format!("`{root}` does not fit its schema; the reason is not shown, because it is secret");
            *problem = Problem { path: PropertyPath::of(root), message, help: None };
        }
    }
    problems.dedup();
    problems
}

const BY_OPTION: &str = "option `sensitive`";

fn origin(session: &Session, node: NodeId, property: &str) -> String {
    format!("`{property}` of {}", session.describe_node(node.0 as i32))
}

struct Wrapper<'a> {
    session: &'a mut Session,
    patterns: &'a [PathPattern],
    place: &'a SourceRef,
    /// Origin of a value that the schema marks.
    from: String,
    by_schema: fn(Input) -> SecretInput,
    wrapped: bool,
}

impl Wrapper<'_> {
    /// Makes an input a secret, unless it is one or there is nothing to hide. `from` is its origin if the schema does not mark it.
    fn secret(&mut self, input: Input, from: Option<&str>) -> Input {
        match &input {
            Input::Known(Value::Null) => return input,
            Input::Deferred(id) => match self.session.exprs.get(*id) {
                // The option makes a shared secret of a local one.
                Some(Expr::Secret { value, .. }) if from.is_some() && value.is_local() => {}
                Some(Expr::Secret { .. } | Expr::Ephemeral { .. }) => return input,
                _ => {}
            },
            _ => {}
        }
        let made_by = if from.is_some() { SecretInput::new } else { self.by_schema };
        let from = from.unwrap_or(&self.from).to_owned();
        // The resource has reserved the memory of its inputs. Without memory for the expression, the evaluation ends.
        let made = self.session.secret_made_by(made_by, from, self.place.clone(), input, 0);
        self.wrapped = true;
        made.map_or(Input::Known(Value::Null), Input::Deferred)
    }

    /// Makes an expression of each marked value in an input.
    fn marked(&mut self, input: Input) -> Input {
        match input {
            Input::Known(value) if !value.has_secrets() => Input::Known(value),
            Input::Known(value @ Value::Secret(_)) => self.secret(Input::Known(value), None),
            Input::Known(Value::List(items)) => {
                Input::list(items.iter().map(|item| self.marked(Input::Known(item.clone()))).collect())
            }
            Input::Known(Value::Map(map)) => {
                let member =
                    |(key, item): (&Text, &Value)| (key.clone(), self.marked(Input::Known(item.clone())));
                Input::map(map.iter().map(member).collect())
            }
            Input::List(items) => Input::list(items.into_iter().map(|item| self.marked(item)).collect()),
            Input::Map(map) => {
                Input::map(map.into_iter().map(|(key, item)| (key, self.marked(item))).collect())
            }
            other => other,
        }
    }

    /// Makes a secret of each value that a pattern of the option `sensitive` matches.
    ///
    /// A value that is known only after apply is a secret as a whole if a pattern leads into it.
    fn matching(&mut self, input: Input, path: &PropertyPath) -> Input {
        if self.patterns.iter().any(|pattern| pattern.covers(path)) {
            return self.secret(input, Some(BY_OPTION));
        }
        if !self.patterns.iter().any(|pattern| pattern.leads_through(path)) {
            return input;
        }
        match input {
            Input::Deferred(_) => self.secret(input, Some(BY_OPTION)),
            Input::Known(Value::List(items)) => {
                let items = items.iter().cloned().map(Input::Known);
                self.matching(Input::List(items.collect()), path)
            }
            Input::Known(Value::Map(map)) => {
                let members = map.iter().map(|(key, item)| (key.clone(), Input::Known(item.clone())));
                self.matching(Input::Map(members.collect()), path)
            }
            Input::Known(value) => Input::Known(value),
            Input::List(items) => {
                let items = items.into_iter().enumerate();
                Input::list(items.map(|(at, item)| self.matching(item, &path.index(at))).collect())
            }
            Input::Map(map) => {
                let member = |(key, item): (Text, Input)| {
                    let item = self.matching(item, &path.key(&key));
                    (key, item)
                };
                Input::map(map.into_iter().map(member).collect())
            }
        }
    }
}
