//! A chain as long as one may be, through the whole engine: nothing on the way may need a stack as deep.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use stead_engine::{Engine, Stack};
use stead_journal::StackKeys;
use stead_model::{Expr, Graph, Input, Node, NodeId, NodeKind, Options, SourceRef, TypeToken, Value};
use stead_plan::Purpose;
use stead_provider::Providers;
use stead_store::MemoryStore;

use crate::fate::Fate;
use crate::ledger::Ledger;
use crate::moving::apply;
use crate::process::Process;
use crate::stage::without_pinfile;
use crate::{Chance, Cloud, Disk};

/// Makes a chain, looks again, changes all of it, and destroys it. Gives the steps of each.
pub fn rise_and_fall(depth: u32) -> Result<[usize; 4], String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let (mut chance, disk, cloud) = (Chance::new(3), Disk::default(), Cloud::default());
        let process = Process::new(1, Fate::default());
        let world = process.world(&disk, &mut chance);
        let (store, keys) = (Arc::new(MemoryStore::default()), StackKeys::new("shop", "dev", "sim"));
        let ledger = Ledger::Nowhere;
        let connection = cloud.provider(process, chance.fork(), Vec::new(), ledger);
        let engine = Engine::new(world.clone(), Providers::default().with(Arc::new(connection)), 32);
        let stack = Stack { store, keys, world, claims: PathBuf::from("/claims") };
        let workspace = without_pinfile(engine, stack, "dev");
        let made = apply(&workspace, &chain(depth, 1), Purpose::Up).await?;
        let again = apply(&workspace, &chain(depth, 1), Purpose::Up).await?;
        let changed = apply(&workspace, &chain(depth, 2), Purpose::Up).await?;
        let destroyed = apply(&workspace, &Graph::default(), Purpose::Destroy).await?;
        match cloud.model().things.len() {
            0 => Ok([made, again, changed, destroyed]),
            left => Err(format!("{left} are left")),
        }
    })
}

/// Each one uses an output of the one before it.
fn chain(depth: u32, size: i64) -> Graph {
    let mut graph = Graph::default();
    for at in 0..depth {
        let mut inputs: BTreeMap<String, Input> = [("size".to_owned(), Value::from(size).into())].into();
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
