//! A dependency chain of maximum depth through the whole engine: no part may recurse as deeply.

use std::path::PathBuf;
use std::sync::Arc;

use stead_engine::{Engine, Stack, StackSecrets};
use stead_journal::StackKeys;
use stead_model::{Expr, Graph, Input, Inputs, Node, NodeId, NodeKind, Options, SourceRef, TypeToken, Value};
use stead_plan::Purpose;
use stead_provider::Providers;
use stead_store::MemoryStore;

use crate::faults::process_faults::ProcessFaults;
use crate::matrix::stack_matrix::apply;
use crate::world::journal_witness::JournalWitness;
use crate::world::process::Process;
use crate::world::site::without_pinfile;
use crate::{Cloud, Disk, Rng};

/// Creates a chain, applies it again unchanged, changes all of it, and destroys it. Returns the number of steps of
/// each.
pub fn apply_deep_chain(depth: u32) -> Result<[usize; 4], String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let (mut rng, disk, cloud) = (Rng::new(3), Disk::default(), Cloud::default());
        let process = Process::new(1, ProcessFaults::default());
        let world = process.world(&disk, &mut rng);
        let (store, keys) = (Arc::new(MemoryStore::default()), StackKeys::new("shop", "dev", "sim"));
        let witness = JournalWitness::Unchecked;
        let connection = cloud.provider(process, rng.fork(), Vec::new(), witness);
        let engine = Engine::new(world.clone(), Providers::default().with(Arc::new(connection)), 32);
        let stack = Stack {
            store,
            keys,
            world,
            claims: PathBuf::from("/claims"),
            secrets: StackSecrets::in_memory(),
        };
        let workspace = without_pinfile(engine, stack, "dev");
        let made = apply(&workspace, &chain(depth, 1), Purpose::Up).await?;
        let again = apply(&workspace, &chain(depth, 1), Purpose::Up).await?;
        let changed = apply(&workspace, &chain(depth, 2), Purpose::Up).await?;
        let destroyed = apply(&workspace, &Graph::default(), Purpose::Destroy).await?;
        match cloud.model().objects.len() {
            0 => Ok([made, again, changed, destroyed]),
            left => Err(format!("{left} objects are left")),
        }
    })
}

/// Returns a chain in which each resource uses an output of the previous one.
fn chain(depth: u32, size: i64) -> Graph {
    let mut graph = Graph::default();
    for at in 0..depth {
        let mut inputs: Inputs = [("size".to_owned(), Value::from(size).into())].into();
        if let Some(before) = at.checked_sub(1) {
            let expr = Expr::Property { node: NodeId(before), property: "serial".into() };
            inputs.insert("from".to_owned(), Input::Deferred(graph.exprs.push(expr)));
        }
        let Ok(name) = format!("dev:main:sim.Thing#t{at}").parse() else { continue };
        graph.nodes.push(Node {
            name,
            ty: TypeToken("sim.Thing".into()),
            kind: NodeKind::Provisioned,
            parent: None,
            inputs,
            options: Options::default(),
            source: SourceRef { file: "main.ts".into(), line: at + 1, column: 1 },
            marks: Default::default(),
        });
    }
    graph
}
