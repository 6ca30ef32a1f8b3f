//! `stead graph`: what the program declares, and what needs what. Nothing is planned.

use std::fmt::Write as _;

use stead::Notice;
use stead::ops::Declares as _;
use stead_model::{Graph, NodeKind};
use stead_render::Paint;

use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn graph(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let tell = |notice: Notice<'_>| ui.notice(&notice);
    let graph = session.program(session.plain_levels(), &tell).declare().await?.graph;
    if ui.for_programs() {
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
    for (node, needs) in graph.nodes.iter().zip(&edges) {
        let what = match node.kind {
            NodeKind::Provisioned => String::new(),
            NodeKind::Group => style.paint(Paint::Quiet, " (group)"),
        };
        let place = style.paint(Paint::Quiet, &format!("  {}", node.source));
        let _ = writeln!(out, "{}{what}{place}", node.name);
        // A group waits for what is in it; that says nothing about the program.
        let needs = needs.iter().filter(|_| node.kind == NodeKind::Provisioned);
        for need in needs.filter_map(|need| graph.node(*need)) {
            let _ = writeln!(out, "    needs {}", need.name);
        }
    }
    for output in graph.outputs.keys() {
        let _ = writeln!(out, "output {output}");
    }
    out
}
