//! Programs in memory, a small catalog, and results as text for snapshots.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

pub mod deferred;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use stead_eval::{
    Entry, EntryKind, EvalFailure, Evaluation, ProcessorClock, Program, Sources, StackRef, UnknownBranches,
    evaluate,
};
use stead_model::{
    Builtin, Diagnostic, Environment, Expr, ExprId, Graph, Input, Key, Limits, Map, Operand, TemplatePart,
    TypeToken, Value,
};
use stead_schema::{Access, Catalog, Property, Shape, TypeSchema};

/// Files in memory. A text `-> path` is a symbolic link to another path in the project.
pub struct Files(pub BTreeMap<String, String>, pub Option<ProcessorClock>);

impl Files {
    /// Returns the path behind the links of a path.
    fn real(&self, path: &str) -> String {
        let mut starts = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        let target = |end: usize| Some((end, self.0.get(&path[..end])?.strip_prefix("-> ")?));
        match starts.find_map(target) {
            Some((end, target)) => self.real(&format!("{target}{}", &path[end..])),
            None => path.to_owned(),
        }
    }
}

impl Sources for Files {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        assert!(!path.split('/').any(|part| part == ".." || part == "."), "not normalised: {path}");
        Ok(self.0.get(&self.real(path)).cloned())
    }

    fn read_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        if path.starts_with("link/") || self.real(path) != path {
            return Err("it lies behind a symbolic link".to_owned());
        }
        Ok(self.read(path)?.map(String::into_bytes))
    }

    fn real_path(&self, path: &str) -> Result<String, String> {
        Ok(self.real(path))
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, String> {
        if self.real(folder) != folder {
            return Err("it lies behind a symbolic link".to_owned());
        }
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let below = self.0.iter().filter_map(|(path, text)| Some((path.strip_prefix(&prefix)?, text)));
        let entries: BTreeMap<&str, EntryKind> = below
            .map(|(rest, text)| match rest.split_once('/') {
                Some((name, _)) => (name, EntryKind::Folder),
                None if text.starts_with("-> ") => (rest, EntryKind::Other),
                None => (rest, EntryKind::File),
            })
            .collect();
        let entries = entries.into_iter().map(|(name, kind)| Entry { name: name.to_owned(), kind });
        Ok(Some(entries.collect::<Vec<_>>()).filter(|entries| !entries.is_empty()))
    }

    /// Existing resources are files `exists/<type>/<id>.json`; with a provider, `exists/<region>/<type>/<id>.json`.
    fn look_up(
        &self,
        token: &TypeToken,
        id: &str,
        provider: Option<&stead_eval::LookUpProvider>,
    ) -> Result<Option<Map>, String> {
        if let Some(region) = provider.and_then(|provider| provider.settings.get("region")?.as_str()) {
            let found = self.0.get(&format!("exists/{region}/{token}/{id}.json"));
            return Ok(found.map(|text| serde_json::from_str(text).unwrap()));
        }
        if id == "unreadable" {
            return Err("permission denied".to_owned());
        }
        Ok(self.0.get(&format!("exists/{token}/{id}.json")).map(|text| serde_json::from_str(text).unwrap()))
    }

    /// Outputs of other stacks are files `stacks/<project>/<environment>/<target>.json`.
    fn outputs(&self, stack: &StackRef) -> Result<Option<Map>, String> {
        let StackRef { project, environment, target } = stack;
        let path = format!("stacks/{project}/{environment}/{target}.json");
        Ok(self.0.get(&path).map(|text| serde_json::from_str(text).unwrap()))
    }

    fn processor_clock(&self) -> Option<ProcessorClock> {
        self.1
    }
}

pub struct Run {
    files: BTreeMap<String, String>,
    config: Map,
    environment: Environment,
    limits: Limits,
    branches: UnknownBranches,
    clock: Option<ProcessorClock>,
}

pub fn program(main: &str) -> Run {
    Run {
        files: [("main.ts".to_owned(), main.to_owned())].into(),
        config: Map::new(),
        environment: Environment::new("dev"),
        limits: Limits { evaluation_interrupts: 20_000, evaluation_heap: 256 << 20, ..Limits::default() },
        branches: UnknownBranches::Refuse,
        clock: None,
    }
}

impl Run {
    pub fn file(mut self, path: &str, text: &str) -> Run {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    pub fn config(mut self, key: &str, value: Value) -> Run {
        self.config.insert(key.to_owned(), value);
        self
    }

    pub fn allow_branches(mut self) -> Run {
        self.branches = UnknownBranches::Allow;
        self
    }

    pub fn namespace(mut self, namespace: &str) -> Run {
        self.environment.namespace = Some(namespace.to_owned());
        self
    }

    pub fn clock(mut self, clock: ProcessorClock) -> Run {
        self.clock = Some(clock);
        self
    }

    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Run {
        change(&mut self.limits);
        self
    }

    pub fn evaluate(self) -> Result<Evaluation, EvalFailure> {
        let program = Program {
            entry: "main.ts",
            environment: self.environment,
            project: "shop",
            target: "local",
            config: &self.config.clone().into(),
            branches: self.branches,
        };
        evaluate(&program, &catalog(), &Files(self.files, self.clock), &self.limits)
    }

    pub fn graph(self) -> Graph {
        match self.evaluate() {
            Ok(evaluation) => evaluation.graph,
            Err(failure) => panic!("{}", diagnostics(&failure.diagnostics)),
        }
    }

    /// Returns the errors as text.
    pub fn failure(self) -> String {
        match self.evaluate() {
            Ok(evaluation) => panic!("no failure:\n{}", show(&evaluation.graph)),
            Err(failure) => diagnostics(&failure.diagnostics),
        }
    }

    pub fn code(self) -> String {
        let text = self.failure();
        text.split_whitespace().next().unwrap_or_default().to_owned()
    }
}

pub fn catalog() -> Catalog {
    let text = |name: &str, access| Property::new(name, Shape::String, access, "some text");
    let file = vec![
        text("path", Access::Required).create_only(),
        text("content", Access::Optional),
        Property::new("mode", Shape::Choice(vec!["0644".into(), "0600".into()]), Access::Filled, ""),
        Property::new("size", Shape::Integer, Access::ReadOnly, ""),
        text("digest", Access::ReadOnly),
    ];
    let random =
        vec![Property::new("length", Shape::Integer, Access::Optional, ""), text("result", Access::ReadOnly)];
    let data = vec![
        Property::new("value", Shape::Any, Access::Optional, ""),
        Property::new("echo", Shape::Any, Access::ReadOnly, ""),
        Property::new("list", Shape::List(Box::new(Shape::String)), Access::ReadOnly, ""),
    ];
    let settings = Shape::Map(Box::new(Shape::String));
    let database = vec![
        text("name", Access::Optional),
        text("password", Access::Optional).write_only(),
        Property::new("mode", Shape::Choice(vec!["a".into(), "b".into()]), Access::Filled, "").sensitive(),
        Property::new("settings", settings, Access::Filled, ""),
        Property::new("ports", Shape::List(Box::new(Shape::Integer)), Access::Optional, ""),
        text("url", Access::ReadOnly).sensitive(),
        text("host", Access::ReadOnly),
    ];
    let queue = vec![text("QueueName", Access::Filled), text("Arn", Access::ReadOnly)];
    [
        TypeSchema::new("local.File", "A file.", file),
        TypeSchema::new("local.RandomString", "Random text.", random),
        TypeSchema::new("local.Data", "Holds a value.", data),
        TypeSchema::new("aws.sqs.Queue", "A queue.", queue),
        TypeSchema::new("db.Database", "A database.", database),
    ]
    .into_iter()
    .collect()
}

/// Returns one line for each node, then the outputs.
pub fn show(graph: &Graph) -> String {
    let mut out = String::new();
    for node in &graph.nodes {
        let _ =
            write!(out, "{} @{}:{}:{}", node.name, node.source.file, node.source.line, node.source.column);
        if let Some(parent) = node.parent {
            let _ = write!(out, " in {}", parent.0);
        }
        for (key, input) in &node.inputs {
            let _ = write!(out, " {key}={}", input_text(graph, input));
        }
        let options = serde_json::to_string(&node.options).unwrap();
        if options != "{}" {
            let _ = write!(out, " {options}");
        }
        out.push('\n');
    }
    for (key, input) in &graph.outputs {
        let _ = writeln!(out, "> {key} = {}", input_text(graph, input));
    }
    out
}

pub fn names(graph: &Graph) -> Vec<String> {
    graph.nodes.iter().map(|node| node.name.to_string()).collect()
}

pub fn input_text(graph: &Graph, input: &Input) -> String {
    match input {
        Input::Known(value) => value.to_json(),
        Input::Deferred(id) => expr_text(graph, *id),
        Input::List(items) => {
            let items: Vec<_> = items.iter().map(|item| input_text(graph, item)).collect();
            format!("[{}]", items.join(", "))
        }
        Input::Map(map) => {
            let items: Vec<_> =
                map.iter().map(|(key, item)| format!("{key}: {}", input_text(graph, item))).collect();
            format!("{{{}}}", items.join(", "))
        }
    }
}

fn expr_text(graph: &Graph, id: ExprId) -> String {
    match graph.exprs.get(id).unwrap() {
        Expr::Property { node, property } => format!("#{}.{property}", node.0),
        Expr::Get { of, key: Key::Index(index) } => format!("{}[{index}]", expr_text(graph, *of)),
        Expr::Get { of, key: Key::Name(name) } => format!("{}.{name}", expr_text(graph, *of)),
        Expr::Constant(constant) => format!("{constant:?}"),
        Expr::Default { of, otherwise } => {
            format!("({} or if undefined {})", expr_text(graph, *of), input_text(graph, otherwise))
        }
        Expr::Template(parts) => {
            let parts = parts.iter().map(|part| match part {
                TemplatePart::Text(text) => text.clone(),
                TemplatePart::Hole(input) => format!("${{{}}}", input_text(graph, input)),
                TemplatePart::Item(input) => format!("${{item {}}}", input_text(graph, input)),
            });
            format!("`{}`", parts.collect::<String>())
        }
        Expr::Add(left, right) => format!("({} + {})", input_text(graph, left), input_text(graph, right)),
        Expr::Json { of, .. } => format!("json({})", input_text(graph, of)),
        Expr::Builtin { builtin, operands } => {
            let operands = operands.iter().map(|operand| match operand {
                Operand::Input(input) => input_text(graph, input),
                Operand::Regex { source, flags } => format!("/{source}/{flags}"),
            });
            let name = match builtin {
                Builtin::Method(name) => format!(".{name}"),
                Builtin::Operator(name) | Builtin::Global(name) => name.clone(),
            };
            format!("{name}({})", operands.collect::<Vec<_>>().join(", "))
        }
        Expr::Apply { function, arguments } => {
            let arguments: Vec<_> = arguments.iter().map(|input| input_text(graph, input)).collect();
            format!("f{}({})", function.ordinal, arguments.join(", "))
        }
        Expr::Choose { condition, then, otherwise } => {
            let [condition, then, otherwise] =
                [condition, then, otherwise].map(|input| input_text(graph, input));
            format!("({condition} ? {then} : {otherwise})")
        }
        Expr::Secret { from, needs, .. } => {
            let needs = needs.iter().map(|id| format!(", {}", expr_text(graph, *id)));
            format!("secret({from}{})", needs.collect::<String>())
        }
        Expr::Ephemeral { function } => format!("ephemeral(f{})", function.ordinal),
    }
}

pub fn diagnostics(all: &[Diagnostic]) -> String {
    let mut out = String::new();
    for problem in all {
        let _ = writeln!(out, "{} {}", problem.code, problem.message);
        for label in &problem.labels {
            let _ = writeln!(out, "  @ {} +{} {}", label.place, label.length, label.text);
        }
        for note in &problem.notes {
            let _ = writeln!(out, "  note: {note}");
        }
        for help in &problem.help {
            let _ = writeln!(out, "  help: {help}");
        }
    }
    out
}
