//! Errors of programs that need a value known only after apply.
//!
//! Each error names property, resource and source position, gives the reason and proposes an alternative.

use stead_model::{
    Code, Diagnostic, Expr, ExprId, Input, Key, MAX_DEFERRED_BYTES, NodeId, Operand, SourceRef, TemplatePart,
};

use crate::engine::session::Session;
use crate::program::site::Usage;
use crate::program::source_text::SourceSpan;
use crate::unknown::members;

/// First source of the value of an expression.
struct Origin {
    kind: OriginKind,
    /// The expression is that value or a member of it, not a value computed from it.
    direct: bool,
}

enum OriginKind {
    Property { node: i32, property: String },
    Secret { from: String, at: SourceRef },
    Ephemeral { at: SourceRef },
}

/// Returns the error for an unknown at a site.
pub(crate) fn at_site(session: &mut Session, site: usize, id: u32) -> Diagnostic {
    let place = session.locate_site(site);
    let usage = session.sites.usage(site).unwrap_or(Usage::Test);
    let (does, help) = site_words(usage);
    let code = match usage {
        Usage::Add | Usage::Arithmetic | Usage::Convert | Usage::Capture | Usage::CaptureEphemeral => {
            Code::UNKNOWN_OPERATION
        }
        _ => Code::UNKNOWN_BRANCH,
    };
    explain(session, code, does, Some(place), id, help)
}

/// Returns the error for an unknown in the engine or a built-in, located by a stack trace.
pub(crate) fn by_stack(session: &mut Session, what: &str, id: u32, detail: &str, stack: &str) -> Diagnostic {
    if let "member" | "method" | "uncalled" = what {
        let place = session.locate_stack(stack);
        let place = place.map(|place| near(session, &place, detail));
        return members::no_member(session, what, id, detail, place);
    }
    let place = session.locate_stack(stack);
    if let ("call", Some((of, method))) = (what, method(session, id)) {
        let place = place.map(|place| near(session, &place, &method));
        let does = format!("this calls `{method}` on");
        return explain(session, Code::UNKNOWN_OPERATION, &does, place, of, &[TEMPLATE, APPLY]);
    }
    if let ("callback" | "changes", true) = (what, !detail.is_empty()) {
        let place = place.map(|place| near(session, &place, detail));
        let (why, help) = match what {
            "changes" => (
                "modifies",
                "create a new list instead: `toSorted`, `toReversed`, `toSpliced`, `concat`".to_owned(),
            ),
            _ => (
                "calls a function of the program on",
                format!("use `stead.apply(value, v => v.{detail}(…))`"),
            ),
        };
        let does = format!("`{detail}` {why}");
        return explain(session, Code::UNKNOWN_OPERATION, &does, place, id, &[&help]);
    }
    let (code, does, help) = trap_words(what, detail);
    explain(session, code, &does, place, id, help)
}

/// Describes an unknown, such as "`result` of local.RandomString#pw, known after apply".
pub(crate) fn describe(session: &Session, id: u32) -> String {
    let origin = origin(session, ExprId(id));
    let what = origin.text(session);
    match origin.kind {
        OriginKind::Property { .. } => format!("{what}, known after apply"),
        OriginKind::Secret { .. } | OriginKind::Ephemeral { .. } => what,
    }
}

impl Origin {
    fn nowhere() -> Origin {
        Origin { kind: OriginKind::Property { node: -1, property: "a value".to_owned() }, direct: false }
    }

    fn text(&self, session: &Session) -> String {
        let made = if self.direct { "" } else { "made from " };
        match &self.kind {
            OriginKind::Property { node, property } => {
                format!("{made}`{property}` of {}", session.describe_node(*node))
            }
            OriginKind::Secret { from, .. } => format!("{made}a secret ({from})"),
            OriginKind::Ephemeral { .. } => format!("{made}an ephemeral value"),
        }
    }
}

/// Returns the error for a resource that is used as text or as a number.
pub(crate) fn resource_as_text(session: &mut Session, node: i32, stack: &str) -> Diagnostic {
    let what = session.describe_node(node);
    let message = format!("{what} is a resource, and it is used as text or as a number");
    let mut problem = Diagnostic::error(Code::UNKNOWN_OPERATION, message);
    if let Some(place) = session.locate_stack(stack) {
        problem = problem.at(place.at, place.length, "here");
    }
    if let Some(place) = session.declared_at(node) {
        problem = problem.at(place.at, place.length, "declared here");
    }
    problem.help("use one of its properties")
}

fn near(session: &Session, place: &SourceSpan, member: &str) -> SourceSpan {
    session
        .files
        .get(&place.at.file)
        .map_or_else(|| place.clone(), |file| file.source.member_near(place, member))
}

fn explain(
    session: &mut Session,
    code: Code,
    does: &str,
    place: Option<SourceSpan>,
    id: u32,
    help: &[&str],
) -> Diagnostic {
    let origin = origin(session, ExprId(id));
    let value = origin.text(session);
    let value = if origin.direct { value } else { format!("a value {value}") };
    match origin.kind {
        // The size is at fault, not that the value is secret.
        OriginKind::Secret { at, .. } | OriginKind::Ephemeral { at } if code == Code::EVALUATION_LIMIT => {
            let problem = Diagnostic::error(code, format!("{does} {value}"));
            let problem =
                place.into_iter().fold(problem, |problem, place| problem.at(place.at, place.length, "here"));
            help.iter().fold(problem.at(at, 0, "made here"), |problem, help| problem.help(*help))
        }
        OriginKind::Secret { at, .. } => secret_seen(&format!("{does} {value}"), place, at),
        OriginKind::Ephemeral { at } => ephemeral_seen(&format!("{does} {value}"), place, at),
        OriginKind::Property { node, property } => {
            let mut problem =
                Diagnostic::error(code, format!("{does} {value}, which is known only after apply"));
            if let Some(place) = place {
                problem = problem.at(place.at, place.length, "not known while planning");
            }
            if let Some(place) = session.declared_at(node) {
                let resource = session.describe_node(node);
                problem = problem.at(place.at, place.length, format!("{resource} is declared here"));
            }
            let property = property.split(['.', '[']).next().unwrap_or_default();
            problem = problem.note(format!(
                "the provider sets `{property}` when it creates the resource; the program must declare every \
                 resource before that"
            ));
            help.iter().fold(problem, |problem, help| problem.help(*help))
        }
    }
}

/// Returns the error for an operation that needs the value of a secret.
fn secret_seen(does: &str, place: Option<SourceSpan>, made_at: SourceRef) -> Diagnostic {
    let problem = Diagnostic::error(Code::SECRET_EXPOSED, format!("{does}, which the program cannot read"));
    let problem = match place {
        Some(place) => problem.at(place.at, place.length, "this needs the value"),
        None => problem,
    };
    problem
        .at(made_at, 0, "marked as secret here")
        .note("a decision based on a secret would reveal it in the graph, in plans and in state")
        .help("decide on a value that is not secret, such as another config value")
        .help(SECRET_APPLY)
}

/// Returns the error for an operation that needs an ephemeral value.
fn ephemeral_seen(does: &str, place: Option<SourceSpan>, made_at: SourceRef) -> Diagnostic {
    let message = format!("{does}, which exists only while a provider is called");
    let problem = Diagnostic::error(Code::SECRET_EXPOSED, message);
    let problem = match place {
        Some(place) => problem.at(place.at, place.length, "this needs the value"),
        None => problem,
    };
    problem
        .at(made_at, 0, "made ephemeral here")
        .note(
            "its function runs right before the call of the provider, and no plan and no state has the value",
        )
        .help("decide on a value that is known while planning, such as `config` or `env`")
        .help(EPHEMERAL_APPLY)
}

fn origin(session: &Session, id: ExprId) -> Origin {
    let mut at = id;
    let mut direct = true;
    let mut path = String::new();
    loop {
        match session.exprs.get(at) {
            Some(Expr::Property { node: NodeId(node), property }) => {
                let property = format!("{property}{path}");
                return Origin { kind: OriginKind::Property { node: *node as i32, property }, direct };
            }
            Some(Expr::Secret { from, source, .. }) => {
                return Origin {
                    kind: OriginKind::Secret { from: from.clone(), at: source.clone() },
                    direct,
                };
            }
            Some(Expr::Ephemeral { function }) => {
                return Origin { kind: OriginKind::Ephemeral { at: function.source.clone() }, direct };
            }
            Some(Expr::Get { of, key }) => {
                if direct {
                    path = match key {
                        Key::Index(index) => format!("[{index}]{path}"),
                        Key::Name(name) => format!(".{name}{path}"),
                    };
                }
                at = *of;
            }
            Some(expr) => {
                direct = false;
                path.clear();
                match first_operand(expr) {
                    Some(operand) => at = operand,
                    None => return Origin::nowhere(),
                }
            }
            None => return Origin::nowhere(),
        }
    }
}

fn first_operand(expr: &Expr) -> Option<ExprId> {
    match expr {
        Expr::Property { .. } | Expr::Secret { .. } | Expr::Ephemeral { .. } | Expr::Constant(_) => None,
        Expr::Default { of, .. } => Some(*of),
        Expr::Get { of, .. } => Some(*of),
        Expr::Template(parts) => parts.iter().find_map(|part| match part {
            TemplatePart::Hole(input) | TemplatePart::Item(input) => in_input(input),
            TemplatePart::Text(_) => None,
        }),
        Expr::Add(left, right) => in_input(left).or_else(|| in_input(right)),
        Expr::Json { of, .. } => in_input(of),
        Expr::Apply { arguments, .. } => arguments.iter().find_map(in_input),
        Expr::Choose { condition, .. } => in_input(condition),
        Expr::Builtin { operands, .. } => operands.iter().find_map(|operand| match operand {
            Operand::Input(input) => in_input(input),
            Operand::Regex { .. } => None,
        }),
    }
}

fn in_input(input: &Input) -> Option<ExprId> {
    match input {
        Input::Known(_) => None,
        Input::Deferred(id) => Some(*id),
        Input::List(items) => items.iter().find_map(in_input),
        Input::Map(map) => map.values().find_map(in_input),
    }
}

/// Splits a called member expression into its object and the method name.
fn method(session: &Session, id: u32) -> Option<(u32, String)> {
    match session.exprs.get(ExprId(id)) {
        Some(Expr::Get { of, key: Key::Name(name) }) => Some((of.0, name.clone())),
        _ => None,
    }
}

const DECIDE: &str =
    "use a value that is known while planning: `config`, `env`, or a property that the program sets";
const NEVER_NULLISH: &str = "a value from a provider is never null or undefined; remove the default";
const KNOWN_LIST: &str =
    "iterate over a list that is known while planning, such as the one the resource was created from";
const KNOWN_KEY: &str = "use a key that is known while planning, such as an id that the program chooses";
const TEMPLATE: &str =
    "template literals, operators, property access, methods and `JSON.stringify` work on such values";
const SECRET_APPLY: &str = "use `stead.apply(value, v => …)`: the function receives the value after apply, and its result is secret too";
const EPHEMERAL_APPLY: &str =
    "compute with it in its function, or in `stead.apply(value, v => …)`, whose result is ephemeral too";
const APPLY: &str = "use `stead.apply(value, v => …)`: the function runs once the value is known";

type Help = &'static [&'static str];

fn site_words(usage: Usage) -> (&'static str, Help) {
    match usage {
        Usage::Test => ("this statement branches on", &[DECIDE]),
        Usage::Choose => ("`?:` branches on", &[DECIDE, APPLY]),
        Usage::Logical => ("`&&` or `||` branches on", &[DECIDE, NEVER_NULLISH, APPLY]),
        Usage::Nullish => ("`??` branches on", &[NEVER_NULLISH]),
        Usage::Not => ("`!` tests", &[DECIDE, APPLY]),
        Usage::Switch => ("`switch` branches on", &[DECIDE]),
        Usage::Compare => ("this expression compares", &[DECIDE, APPLY]),
        Usage::TypeOf => ("`typeof` inspects", &[DECIDE]),
        Usage::In => ("`in` inspects", &[DECIDE]),
        Usage::InstanceOf => ("`instanceof` inspects", &[DECIDE]),
        Usage::OptionalChain => ("`?.` branches on", &[NEVER_NULLISH, "write `.` instead of `?.`"]),
        Usage::Iterate => ("this loop iterates over", &[KNOWN_LIST]),
        Usage::Spread => ("`...` spreads", &[KNOWN_LIST, "pass the value as a whole"]),
        Usage::Destructure => ("this pattern destructures", &[KNOWN_LIST, "read single items: `value[0]`"]),
        Usage::Key => ("this key is", &[KNOWN_KEY]),
        Usage::Count => ("this length is", &[DECIDE]),
        Usage::Throw => ("the thrown value is", &[DECIDE]),
        Usage::Extends => ("this class or object extends", &[DECIDE]),
        Usage::Convert => ("this conversion method returns", &["return it from a method with another name"]),
        Usage::Then => ("`then` tests", &["use the value itself; it is not a promise"]),
        Usage::Capture => (
            "this function runs after apply, and it uses",
            &["pass it to the function as an argument: `stead.all([a, b], (a, b) => …)`"],
        ),
        Usage::CaptureEphemeral => (
            "this function runs when the provider is called, and it uses",
            &["combine the two values outside of it: `stead.all([value, ephemeral], (a, b) => …)`"],
        ),
        Usage::Default => (
            "this default cannot be deferred; it is for",
            &["use a default that is plain data, such as a constant that is computed before", APPLY],
        ),
        Usage::Done => ("`done` of this iterator is", &[DECIDE]),
        Usage::Add => ("`+` combines an operand that cannot be deferred with", &[TEMPLATE]),
        Usage::Arithmetic => ("this operator calculates with", &[TEMPLATE]),
        Usage::New => ("`new` creates an instance of", &[DECIDE]),
    }
}

fn trap_words(what: &str, detail: &str) -> (Code, String, Help) {
    let branch = |does: &str, help: Help| (Code::UNKNOWN_BRANCH, does.to_owned(), help);
    let operation = |does: &str, help: Help| (Code::UNKNOWN_OPERATION, does.to_owned(), help);
    match what {
        "iterate" => branch("this iterates over", &[KNOWN_LIST]),
        "has" => branch("`in` inspects", &[DECIDE]),
        "builtin" => (Code::UNKNOWN_BRANCH, format!("`{detail}` needs"), &[DECIDE, APPLY]),
        "takes" => (Code::UNKNOWN_OPERATION, format!("`{detail}` needs"), &[TEMPLATE]),
        "inspect" => branch("this code inspects", &[DECIDE]),
        "keys" => branch("this lists the keys of", &[KNOWN_LIST]),
        "number" => operation("this operation needs", &[DECIDE, APPLY]),
        "count" => branch("this length or count is", &[DECIDE, APPLY]),
        "large" => (
            Code::EVALUATION_LIMIT,
            format!("this makes a value of more than {} MiB from", MAX_DEFERRED_BYTES >> 20),
            &["use the value fewer times; `docs/limits.md` lists the limits"],
        ),
        "parse" => branch("`JSON.parse` parses", &["use `stead.apply(text, t => JSON.parse(t).…)`"]),
        "operand" => (
            Code::UNKNOWN_OPERATION,
            format!("this operation cannot be deferred ({detail}), and it uses"),
            &[APPLY],
        ),
        "call" => operation("this calls", &[TEMPLATE, APPLY]),
        "construct" => branch("`new` creates an instance of", &[DECIDE]),
        "set" => {
            operation("this modifies", &["a value from a provider cannot be modified; create a new one"])
        }
        "replacer" => operation(
            "`JSON.stringify` with a replacer cannot serialize",
            &["remove the replacer, and change the value beforehand"],
        ),
        "indent" => operation(
            "`JSON.stringify` with an indent other than white space cannot serialize",
            &["use spaces or tabs"],
        ),
        _ => operation("this conversion to text cannot be deferred; it uses", &[TEMPLATE, APPLY]),
    }
}
