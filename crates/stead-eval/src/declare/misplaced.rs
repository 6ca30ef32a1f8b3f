//! Reports arguments of a `new` in the wrong place, with the corrected line.
//!
//! Pulumi writes `new File("name", { … })`, and Kubernetes and CloudFormation write policies among the properties; here the
//! properties come first, and `id` and policies are options, the second argument.

use stead_model::{Code, Diagnostic, Inputs, TypeToken};
use stead_schema::TypeSchema;

use super::{locate_property, options};
use crate::compile::{ArgumentMistake, corrected_new};
use crate::engine::session::{Progress, Session};

/// Reports a resource whose first argument is a string, as the only error of this resource.
pub(super) fn report_id_first(session: &mut Session, node: usize) {
    let Some(draft) = session.drafts.get_mut(node) else { return };
    draft.has_invalid_inputs = true;
    draft.progress = Progress::Declared;
    let what = session.describe_node(node as i32);
    let message = format!("the properties of {what} come first, and its `id` is an option");
    let written = corrected(session, node, &ArgumentMistake::IdFirst);
    let written = written.unwrap_or_else(|| "super({ … }, { id: … })".to_owned());
    let place = session.locate_site(session.drafts[node].site);
    let problem = Diagnostic::error(Code::NOT_DATA, message).at(place.at, place.length, "declared here");
    session.report(problem.help(format!("write `{written}`")));
}

/// Returns the inputs that are options and not properties of the type.
pub(super) fn options(schema: &TypeSchema, inputs: &Inputs) -> Vec<String> {
    let names = inputs.keys().filter(|name| options::is_option(name) && schema.property(name).is_none());
    names.map(|name| name.to_string()).collect()
}

/// Reports the options among the properties of a resource.
pub(super) fn report_options(session: &mut Session, node: usize, names: &[String]) {
    let site = session.drafts[node].site;
    let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let what = session.describe_node(node as i32);
    let message = match names {
        [_] => format!("{what}: {} is an option, not a property", shown.join(", ")),
        _ => format!("{what}: {} are options, not properties", shown.join(", ")),
    };
    let mut problem = Diagnostic::error(Code::BAD_PROPERTY, message);
    for name in names {
        let (at, length) = locate_property(session, site, name);
        problem = problem.at(at, length, "here");
    }
    let written = corrected(session, node, &ArgumentMistake::OptionsInProperties(names));
    let written = written.unwrap_or_else(|| {
        let options: Vec<String> = names.iter().map(|name| format!("{name}: …")).collect();
        format!("new …({{ … }}, {{ {} }})", options.join(", "))
    });
    session.report(problem.help(format!("options are the second argument: `{written}`")));
}

/// Returns the corrected `new` expression, unless it is of a class of the program, which has its own arguments.
fn corrected(session: &Session, node: usize, mistake: &ArgumentMistake<'_>) -> Option<String> {
    let draft = session.drafts.get(node)?;
    let own = draft.token.as_ref().map(TypeToken::as_str)?.rsplit('.').next()?;
    let (source, span) = (session.sites.file(draft.site)?, session.sites.span(draft.site)?);
    (own == draft.class).then(|| corrected_new(source, span, mistake)).flatten()
}
