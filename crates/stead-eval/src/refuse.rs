//! What is said when a program needs a value that exists only after apply.
//!
//! Every text names the property, the resource and its place, says why, and what to write instead.

use stead_model::{Code, Diagnostic, Expr, ExprId, Input, Key, NodeId, Operand, SourceRef, TemplatePart};

use crate::place::Place;
use crate::session::Session;
use crate::site::Use;

/// Where the value of an expression comes from first.
struct Origin {
    source: Source,
    /// It is that very value, or a part of it; otherwise something made from it.
    direct: bool,
}

enum Source {
    Property { node: i32, property: String },
    Secret { from: String, at: SourceRef },
}

/// A site met an unknown.
pub(crate) fn at_site(session: &mut Session, site: usize, id: u32) -> Diagnostic {
    let place = session.site_place(site);
    let usage = session.sites.usage(site).unwrap_or(Use::Test);
    let (does, help) = site_words(usage);
    let code = match usage {
        Use::Add | Use::Arithmetic | Use::Convert => Code::UNKNOWN_OPERATION,
        _ => Code::UNKNOWN_BRANCH,
    };
    explain(session, code, does, Some(place), id, help)
}

/// The engine, or a built-in, met an unknown. The place comes from the stack.
pub(crate) fn by_stack(session: &mut Session, what: &str, id: u32, detail: &str, stack: &str) -> Diagnostic {
    let place = session.stack_place(stack);
    if let ("call", Some((of, method))) = (what, method(session, id)) {
        let place = place.map(|place| near(session, &place, &method));
        let does = format!("this calls `{method}` on");
        return explain(session, Code::UNKNOWN_OPERATION, &does, place, of, &[TEMPLATE, APPLY]);
    }
    if let ("callback" | "changes", true) = (what, !detail.is_empty()) {
        let place = place.map(|place| near(session, &place, detail));
        let (why, help) = match what {
            "changes" => (
                "changes",
                "make a new list of it: `toSorted`, `toReversed`, `toSpliced`, `concat`".to_owned(),
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

/// `result` of local.RandomString#pw, known after apply, for people.
pub(crate) fn describe(session: &Session, id: u32) -> String {
    let origin = origin(session, ExprId(id));
    let what = origin.text(session);
    match origin.source {
        Source::Property { .. } => format!("{what}, known after apply"),
        Source::Secret { .. } => what,
    }
}

impl Origin {
    fn nowhere() -> Origin {
        Origin { source: Source::Property { node: -1, property: "a value".to_owned() }, direct: false }
    }

    fn text(&self, session: &Session) -> String {
        let made = if self.direct { "" } else { "made from " };
        match &self.source {
            Source::Property { node, property } => {
                format!("{made}`{property}` of {}", session.describe_node(*node))
            }
            Source::Secret { from, .. } => format!("{made}a secret, {from}"),
        }
    }
}

/// A resource was used as text.
pub(crate) fn resource_as_text(session: &mut Session, node: i32, stack: &str) -> Diagnostic {
    let what = session.describe_node(node);
    let message = format!("{what} is used as text or as a number, and it is a resource");
    let mut problem = Diagnostic::error(Code::UNKNOWN_OPERATION, message);
    if let Some(place) = session.stack_place(stack) {
        problem = problem.at(place.at, place.length, "here");
    }
    if let Some(place) = session.declared_at(node) {
        problem = problem.at(place.at, place.length, "declared here");
    }
    problem.help("use one of its properties")
}

fn near(session: &Session, place: &Place, member: &str) -> Place {
    session
        .files
        .get(&place.at.file)
        .map_or_else(|| place.clone(), |file| file.source.member_near(place, member))
}

fn explain(
    session: &mut Session,
    code: Code,
    does: &str,
    place: Option<Place>,
    id: u32,
    help: &[&str],
) -> Diagnostic {
    let origin = origin(session, ExprId(id));
    let value = origin.text(session);
    let value = if origin.direct { value } else { format!("a value {value}") };
    match origin.source {
        Source::Secret { at, .. } => secret_seen(&format!("{does} {value}"), place, at),
        Source::Property { node, property } => {
            let mut problem =
                Diagnostic::error(code, format!("{does} {value}, which exists only after apply"));
            if let Some(place) = place {
                problem = problem.at(place.at, place.length, "not known while planning");
            }
            if let Some(place) = session.declared_at(node) {
                let resource = session.describe_node(node);
                problem = problem.at(place.at, place.length, format!("{resource} is declared here"));
            }
            let property = property.split(['.', '[']).next().unwrap_or_default();
            problem = problem.note(format!(
                "the provider sets `{property}` when it makes the resource; the whole graph must be known \
                 before that"
            ));
            help.iter().fold(problem, |problem, help| problem.help(*help))
        }
    }
}

/// The program needs to know a secret for what it does.
fn secret_seen(does: &str, place: Option<Place>, made_at: SourceRef) -> Diagnostic {
    let problem = Diagnostic::error(Code::SECRET_SEEN, format!("{does}, which a program cannot see"));
    let problem = match place {
        Some(place) => problem.at(place.at, place.length, "this needs the value"),
        None => problem,
    };
    problem
        .at(made_at, 0, "it becomes a secret here")
        .note("what a program decides on a secret gives it away: in the graph, in plans, in state")
        .help("decide on something that is no secret, such as another config value")
        .help(SECRET_APPLY)
}

fn origin(session: &Session, id: ExprId) -> Origin {
    let mut at = id;
    let mut direct = true;
    let mut path = String::new();
    loop {
        match session.exprs.get(at) {
            Some(Expr::Property { node: NodeId(node), property }) => {
                let property = format!("{property}{path}");
                return Origin { source: Source::Property { node: *node as i32, property }, direct };
            }
            Some(Expr::Secret { from, source, .. }) => {
                return Origin { source: Source::Secret { from: from.clone(), at: source.clone() }, direct };
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
        Expr::Property { .. } | Expr::Secret { .. } => None,
        Expr::Get { of, .. } => Some(*of),
        Expr::Template(parts) => parts.iter().find_map(|part| match part {
            TemplatePart::Hole(input) => in_input(input),
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

/// For something that is called: the method, and what it is a method of.
fn method(session: &Session, id: u32) -> Option<(u32, String)> {
    match session.exprs.get(ExprId(id)) {
        Some(Expr::Get { of, key: Key::Name(name) }) => Some((of.0, name.clone())),
        _ => None,
    }
}

const DECIDE: &str =
    "decide on something that the program knows: `config`, `env`, or a property that you set";
const NEVER_NULLISH: &str = "a value from a provider is never null or undefined: leave the default out";
const KNOWN_LIST: &str =
    "iterate over a list that the program knows, such as the one the resource was made from";
const KNOWN_KEY: &str = "use a key that the program knows, such as an id of your own";
const TEMPLATE: &str =
    "template literals, operators, property access, methods and `JSON.stringify` work on such values";
const SECRET_APPLY: &str =
    "use `stead.apply(value, v => …)`: the function gets the value later, and what it returns is secret too";
const APPLY: &str = "use `stead.apply(value, v => …)`: the function runs when the value is known";

type Help = &'static [&'static str];

fn site_words(usage: Use) -> (&'static str, Help) {
    match usage {
        Use::Test => ("this statement decides on", &[DECIDE]),
        Use::Choose => ("`?:` decides on", &[DECIDE, APPLY]),
        Use::Logical => ("`&&` and `||` decide on", &[DECIDE, NEVER_NULLISH, APPLY]),
        Use::Nullish => ("`??` decides on", &[NEVER_NULLISH]),
        Use::Not => ("`!` decides on", &[DECIDE, APPLY]),
        Use::Switch => ("`switch` decides on", &[DECIDE]),
        Use::Compare => ("this comparison looks at", &[DECIDE, APPLY]),
        Use::TypeOf => ("`typeof` looks at", &[DECIDE]),
        Use::In => ("`in` looks at", &[DECIDE]),
        Use::InstanceOf => ("`instanceof` looks at", &[DECIDE]),
        Use::OptionalChain => ("`?.` decides on", &[NEVER_NULLISH, "write `.` instead of `?.`"]),
        Use::Iterate => ("this loop runs over", &[KNOWN_LIST]),
        Use::Spread => ("`...` spreads", &[KNOWN_LIST, "pass the value as a whole"]),
        Use::Destructure => ("this pattern takes apart", &[KNOWN_LIST, "read single items: `value[0]`"]),
        Use::Key => ("a key is", &[KNOWN_KEY]),
        Use::Count => ("a length is", &[DECIDE]),
        Use::Throw => ("what is thrown is", &[DECIDE]),
        Use::Extends => ("a class or an object derives from", &[DECIDE]),
        Use::Convert => ("what stands for the object is", &["return it from a method of another name"]),
        Use::Done => ("`done` of an iterator is", &[DECIDE]),
        Use::Add => ("`+` joins something that cannot be put off with", &[TEMPLATE]),
        Use::Arithmetic => ("this operator calculates with", &[TEMPLATE]),
        Use::New => ("`new` makes an instance of", &[DECIDE]),
    }
}

fn trap_words(what: &str, detail: &str) -> (Code, String, Help) {
    let branch = |does: &str, help: Help| (Code::UNKNOWN_BRANCH, does.to_owned(), help);
    let operation = |does: &str, help: Help| (Code::UNKNOWN_OPERATION, does.to_owned(), help);
    match what {
        "iterate" => branch("this iterates over", &[KNOWN_LIST]),
        "has" => branch("`in` looks at", &[DECIDE]),
        "builtin" => (Code::UNKNOWN_BRANCH, format!("`{detail}` looks at"), &[DECIDE, APPLY]),
        "takes" => (Code::UNKNOWN_OPERATION, format!("`{detail}` takes"), &[TEMPLATE]),
        "inspect" => branch("this looks at", &[DECIDE]),
        "keys" => branch("this lists the keys of", &[KNOWN_LIST]),
        "number" => operation("this needs the number that is", &[DECIDE, APPLY]),
        "count" => branch("a length or a count is", &[DECIDE, APPLY]),
        "parse" => branch("`JSON.parse` takes apart", &["use `stead.apply(text, t => JSON.parse(t).…)`"]),
        "operand" => {
            (Code::UNKNOWN_OPERATION, format!("this cannot be put off ({detail}), and it works on"), &[APPLY])
        }
        "call" => operation("this calls", &[TEMPLATE, APPLY]),
        "construct" => branch("`new` makes an instance of", &[DECIDE]),
        "set" => operation("this changes", &["a value from a provider cannot be changed; make a new one"]),
        "replacer" => operation(
            "`JSON.stringify` with a second argument meets",
            &["leave it out, and change the value before"],
        ),
        "indent" => operation(
            "`JSON.stringify` with an indent that is more than white space meets",
            &["use spaces or tabs"],
        ),
        _ => operation("this makes text in a way that cannot be put off of", &[TEMPLATE, APPLY]),
    }
}
