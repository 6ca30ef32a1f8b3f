//! `stead import`: something that exists already becomes a resource, and the program's line for it is printed.

use std::sync::Arc;

use serde::Serialize;
use stead_engine::Today;
use stead_model::{
    Code, Diagnostic, Graph, Input, Module, Name, NameParts, NoFunctions, Node, NodeKind, Options,
    PhysicalId, SourceRef, TypeToken, check_id,
};
use stead_plan::{Glob, Purpose, Request, Selection};
use stead_provider::Live;
use stead_state::State;

use crate::args::ImportArguments;
use crate::commands::run::{carry_out, show_plan};
use crate::commands::up::{Look, prepare};
use crate::evaluate::{Evaluated, evaluate, mark};
use crate::failure::{Failure, Kind};
use crate::marks::MarkFlags;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct Declaration {
    typescript: String,
}

pub(crate) async fn import(session: &Session, arguments: &ImportArguments, ui: &Ui) -> Result<u8, Failure> {
    let outer = session.outer(&MarkFlags::default());
    let (loaded, evaluated) = tokio::join!(session.load_in_turn(ui), evaluate(session, &outer, ui));
    let (loaded, mut evaluated) = (loaded?, evaluated?);
    let today = Today { program: Some(&evaluated.graph), ..session.today(&loaded)? };
    let loaded = session.settle(loaded, today, ui).await?;
    let (name, id) = (name(session, arguments)?, PhysicalId(arguments.id.clone()));
    if loaded.state.by_name(&name).is_some() {
        let message = format!("{name} is recorded already");
        return Err(failed(Diagnostic::error(Code::CANNOT_IMPORT, message).help("give it another name")));
    }
    let declared = evaluated.graph.nodes.iter().position(|node| node.name == name);
    let declaration = match declared {
        Some(at) => {
            evaluated.graph.nodes[at].options.import = Some(id);
            None
        }
        None => {
            let node = undeclared(session, &name, &TypeToken(arguments.resource.clone()), &id);
            let live = look(session, &node, &id).await?;
            let schema = session.engine.catalog.get(&node.resource);
            let text = stead_render::declaration(&name, &node.resource, schema, &live.inputs);
            evaluated = Evaluated {
                graph: alone(node, &live, &loaded.state),
                functions: Arc::new(NoFunctions),
                ..evaluated
            };
            mark(&mut evaluated.graph, &outer, ui)?;
            Some(text)
        }
    };
    let selection = Selection { targets: vec![Glob::new(name.to_string())], ..Selection::default() };
    let request = Request { purpose: Purpose::Up, selection, outer, ..Request::default() };
    let (prepared, _) = prepare(session, loaded, evaluated, Look::AtRecords, &request).await?;
    show_plan(session, &prepared.plan, ui);
    let code = carry_out(session, prepared, "import", "Take this into the stack?", ui).await?;
    if let Some(typescript) = declaration {
        ui.note("The program does not declare it yet. This does:");
        ui.result(&format!("\n{typescript}"));
        ui.json("declaration", &Declaration { typescript });
    }
    Ok(code)
}

/// A whole name, or an id in the main module.
fn name(session: &Session, arguments: &ImportArguments) -> Result<Name, Failure> {
    let unusable = |problem: stead_model::NameError| {
        Failure::new(Kind::Usage, Diagnostic::error(Code::CANNOT_IMPORT, problem.to_string()))
    };
    if arguments.name.contains([':', '#']) {
        return arguments.name.parse().map_err(unusable);
    }
    check_id(&arguments.name).map_err(unusable)?;
    let main = &session.project.main;
    let module = main.rsplit_once('.').map_or(main.as_str(), |(module, _)| module);
    Ok(NameParts::Placed {
        environment: session.environment.clone(),
        module: Module(module.to_owned()),
        scope: Vec::new(),
        resource: TypeToken(arguments.resource.clone()),
        id: Some(arguments.name.clone()),
    }
    .into())
}

fn undeclared(session: &Session, name: &Name, resource: &TypeToken, id: &PhysicalId) -> Node {
    Node {
        name: name.clone(),
        resource: resource.clone(),
        kind: NodeKind::Provisioned,
        parent: None,
        inputs: Default::default(),
        options: Options { import: Some(id.clone()), ..Options::default() },
        source: SourceRef { file: session.project.main.as_str().into(), line: 1, column: 1 },
        marks: Default::default(),
    }
}

async fn look(session: &Session, node: &Node, id: &PhysicalId) -> Result<Live, Failure> {
    match session.engine.look(&node.resource, id).await {
        Ok(Some(live)) => Ok(live),
        Ok(None) => {
            let message = format!("there is no {} with the id {id}", node.resource);
            Err(failed(
                Diagnostic::error(Code::CANNOT_IMPORT, message).help("look the id up at the provider"),
            ))
        }
        Err(problem) => Err(failed(problem)),
    }
}

/// A program that declares nothing but what was found, and leaves the outputs as they are.
fn alone(node: Node, live: &Live, state: &State) -> Graph {
    let known = |(key, value): (&String, &stead_model::Value)| (key.clone(), Input::Known(value.clone()));
    let inputs = live.inputs.iter().map(known).collect();
    Graph {
        nodes: vec![Node { inputs, ..node }],
        outputs: state.outputs().iter().map(known).collect(),
        ..Graph::default()
    }
}

fn failed(problem: Diagnostic) -> Failure {
    Failure::new(Kind::Failed, problem)
}
