//! Programs: the TypeScript of a subject, evaluated, and variations of the graph.

use std::sync::Arc;

use async_trait::async_trait;
use stead::config::Config;
use stead::ops::{Declaration, Declares, OpError};
use stead_eval::{Entry, Sources, StackRef, UnknownBranches, evaluate};
use stead_guard::{OuterLevels, mark_graph};
use stead_model::{
    Environment, Functions, Graph, Input, Limits, Map, Node, Options, PropertyPath, Segment, TypeToken, Value,
};

use crate::bench::{ENVIRONMENT, MAIN, TARGET};
use crate::subject::{Declared, Subject, catalog};

/// A program that was evaluated.
#[derive(Clone)]
pub(crate) struct TestProgram {
    graph: Graph,
    functions: Arc<dyn Functions + Send + Sync>,
}

/// A project with one file.
struct OneFile(String);

impl Sources for OneFile {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        Ok((path == MAIN).then(|| self.0.clone()))
    }

    fn read_bytes(&self, _: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }

    fn list(&self, _: &str) -> Result<Option<Vec<Entry>>, String> {
        Ok(None)
    }

    fn look_up(
        &self,
        _: &TypeToken,
        _: &str,
        _: Option<&stead_eval::LookUpProvider>,
    ) -> Result<Option<Map>, String> {
        Ok(None)
    }

    fn outputs(&self, _: &StackRef) -> Result<Option<Map>, String> {
        Ok(None)
    }
}

#[async_trait(?Send)]
impl Declares for TestProgram {
    async fn declare(&self) -> Result<Declaration, OpError> {
        let mut graph = self.graph.clone();
        mark_graph(&mut graph, &OuterLevels::default()).map_err(OpError::Program)?;
        Ok(Declaration { graph, functions: self.functions.clone(), protection: None })
    }
}

impl TestProgram {
    /// Evaluates the TypeScript of a subject.
    pub(crate) fn of(subject: &Subject) -> Result<TestProgram, String> {
        TestProgram::of_text(typescript(&subject.all))
    }

    pub(crate) fn of_text(text: String) -> Result<TestProgram, String> {
        let sources = OneFile(text);
        let program = stead_eval::Program {
            entry: MAIN,
            environment: Environment::new(ENVIRONMENT),
            project: "types",
            target: TARGET,
            config: &Config::default(),
            branches: UnknownBranches::Refuse,
        };
        match evaluate(&program, catalog(), &sources, &Limits::default()) {
            Ok(evaluated) => Ok(TestProgram { graph: evaluated.graph, functions: evaluated.functions }),
            Err(failure) => {
                let texts: Vec<&str> =
                    failure.diagnostics.iter().map(|problem| problem.message.as_str()).collect();
                Err(format!("the program does not evaluate: {}\n{}", texts.join(" / "), sources.0))
            }
        }
    }

    fn node(&mut self) -> &mut Node {
        self.graph.nodes.last_mut().unwrap()
    }

    pub(crate) fn len(&self) -> usize {
        self.graph.nodes.len()
    }

    /// Returns the program with another value of a property of the last resource, or without the property.
    pub(crate) fn with(&self, property: &str, value: Option<&Value>) -> TestProgram {
        let mut program = self.clone();
        let inputs = &mut program.node().inputs;
        match value {
            Some(value) => drop(inputs.insert(property, Input::Known(value.clone()))),
            None => drop(inputs.remove(property)),
        }
        program
    }

    /// Returns the program with other options of the last resource.
    pub(crate) fn options(&self, change: impl FnOnce(&mut Options)) -> TestProgram {
        let mut program = self.clone();
        change(&mut program.node().options);
        program
    }

    /// Returns the program in which each resource is imported by an id.
    pub(crate) fn importing(&self, ids: &[String]) -> TestProgram {
        let mut program = self.clone();
        for (node, id) in program.graph.nodes.iter_mut().zip(ids) {
            node.options.import = Some(stead_model::PhysicalId(id.clone()));
        }
        program
    }

    /// Returns the program without the last resource.
    pub(crate) fn without_last(&self) -> TestProgram {
        let mut program = self.clone();
        program.graph.nodes.pop();
        program
    }

    /// Returns the program without resources.
    pub(crate) fn empty(&self) -> TestProgram {
        let mut program = self.clone();
        program.graph.nodes.clear();
        program
    }
}

/// Returns a program that declares the resources in order.
fn typescript(all: &[Declared]) -> String {
    let mut text = "import * as aws from \"stead/aws\";\n".to_owned();
    for declared in all {
        let Declared { id, ty, inputs, .. } = declared;
        let mut path = Vec::new();
        let inputs = literal(&Value::Map(inputs.clone()), declared, &mut path);
        text.push_str(&format!("const {id} = new {ty}({inputs}, {{ id: \"{id}\", pinned: false }});\n"));
    }
    text
}

/// Writes a value as JSON, and links as expressions.
fn literal(value: &Value, declared: &Declared, path: &mut Vec<Segment>) -> String {
    let link = declared.links.iter().find(|link| link.path == PropertyPath(path.clone()));
    if let Some(link) = link {
        let access = format!("{}[{}]", link.to, Value::from(link.property).to_json());
        return match link.prefix {
            "" => access,
            prefix => format!("`{prefix}${{{access}}}`"),
        };
    }
    let mut within = |segment: Segment, value: &Value| {
        path.push(segment);
        let text = literal(value, declared, path);
        path.pop();
        text
    };
    match value {
        Value::Map(map) => {
            let members = map.iter().map(|(key, value)| {
                let inside = within(Segment::Key(key.to_string()), value);
                format!("{}: {inside}", Value::from(key.as_str()).to_json())
            });
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::List(items) => {
            let items = items.iter().enumerate().map(|(at, item)| within(Segment::Index(at), item));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_json(),
    }
}
