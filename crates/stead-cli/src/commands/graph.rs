//! `stead graph`: shows the declared resources and their dependencies. Nothing is planned.

use std::fmt::Write as _;

use stead::Notice;
use stead::ops::Declares as _;
use stead_model::{Graph, NodeKind};
use stead_render::Paint;

use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn graph(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let graph = session.program(session.levels_without_flags(), &show_notice).declare().await?.graph;
    if ui.is_json() {
        ui.json("graph", &graph);
    } else {
        ui.result(&describe(&graph, ui));
    }
    Ok(0)
}

fn describe(graph: &Graph, ui: &Ui) -> String {
    let style = ui.out_style();
    let edges = graph.edges();
    let mut out = String::new();
    for (node, dependencies) in graph.nodes.iter().zip(&edges) {
        let kind = match node.kind {
            NodeKind::Provisioned => String::new(),
            NodeKind::Group => style.paint(Paint::Quiet, " (group)"),
        };
        let position = style.paint(Paint::Quiet, &format!("  {}", node.source));
        let _ = writeln!(out, "{}{kind}{position}", node.name);
        // A group depends on its members; the program does not declare these dependencies.
        let dependencies = dependencies.iter().filter(|_| node.kind == NodeKind::Provisioned);
        for dependency in dependencies.filter_map(|dependency| graph.node(*dependency)) {
            let _ = writeln!(out, "    needs {}", dependency.name);
        }
    }
    for output in graph.outputs.keys() {
        let _ = writeln!(out, "output {output}");
    }
    out
}
