//! Members and methods of unknowns that no value of their type has.
//!
//! The schema tells the type of a value before the value is known, so that a misspelled member is an error while planning.

use stead_model::{Builtin, Code, Diagnostic, Expr, ExprId, nearest};
use stead_schema::{Member, Shape, proposal};

use super::errors;
use crate::engine::session::{Session, member_key};
use crate::program::source_text::SourceSpan;

/// Members of the result of `match` besides its items. A deferred result is data, which does not have them.
const OF_A_MATCH: &[&str] = &["groups", "index", "indices", "input"];

fn is_lost_by_match(session: &Session, of: ExprId, key: &str) -> bool {
    let is_match = match session.exprs.get(of) {
        Some(Expr::Builtin { builtin: Builtin::Method(name), .. }) => name == "match",
        _ => false,
    };
    is_match && OF_A_MATCH.contains(&key)
}

/// Returns true if no value of the expression's type has the member, as data or as a method.
pub(crate) fn is_impossible(session: &Session, of: ExprId, key: &str) -> bool {
    if is_lost_by_match(session, of, key) {
        return true;
    }
    session
        .shape(of)
        .is_some_and(|shape| shape.kind().is_some_and(|kind| !kind.has_method(key)) && lacks(shape, key))
}

/// Returns true if no value of the expression's type has the method.
pub(crate) fn is_impossible_method(session: &Session, of: ExprId, name: &str) -> bool {
    session.shape(of).and_then(Shape::kind).is_some_and(|kind| !kind.has_method(name))
}

/// Returns true if the member is a method of every value of the expression's type, and never data.
pub(crate) fn is_method(session: &Session, of: ExprId, key: &str) -> bool {
    session
        .shape(of)
        .is_some_and(|shape| shape.kind().is_some_and(|kind| kind.has_method(key)) && lacks(shape, key))
}

fn lacks(shape: &Shape, key: &str) -> bool {
    matches!(shape.member(&member_key(key)), Member::Never(_))
}

/// Returns the error for a member or method that the type of an unknown does not have.
pub(crate) fn no_member(
    session: &Session,
    what: &str,
    id: u32,
    key: &str,
    place: Option<SourceSpan>,
) -> Diagnostic {
    let shape = session.shape(ExprId(id)).cloned().unwrap_or(Shape::Any);
    let value = errors::describe(session, id);
    let value = value.trim_end_matches(", known after apply").to_owned();
    let is = shape.words();
    let message = match what {
        "uncalled" => format!("`{key}` is a method of {value}, which is {is}; a method is not data"),
        "method" => format!("{value} is {is}, which has no method `{key}`"),
        _ if is_lost_by_match(session, ExprId(id), key) => {
            format!("{value}: the result of `match` after apply is a list, which has no member `{key}`")
        }
        _ => format!("{value} is {is}, which has no member `{key}`"),
    };
    let mut problem = Diagnostic::error(Code::NO_SUCH_PROPERTY, message);
    if let Some(place) = place {
        problem = problem.at(place.at, place.length, "read here");
    }
    if is_lost_by_match(session, ExprId(id), key) {
        return problem.help(format!("use `stead.apply(text, t => t.match(…)?.{key})`"));
    }
    let help = match (what, shape.kind()) {
        ("uncalled", _) => Some(format!("call it: `{key}(…)`")),
        ("method", Some(kind)) => {
            nearest(key, kind.methods()).map(|meant| format!("did you mean `{meant}`?"))
        }
        (_, Some(kind)) => match shape.member(&member_key(key)) {
            Member::Never(names) => {
                let methods = kind.methods().map(str::to_owned);
                let all: Vec<String> = names.iter().cloned().chain(methods).collect();
                let meant = nearest(key, all.iter().map(String::as_str));
                meant.map(|meant| format!("did you mean `{meant}`?")).or_else(|| proposal(key, &names))
            }
            Member::Is(_) => None,
        },
        _ => None,
    };
    help.into_iter().fold(problem, Diagnostic::help)
}
