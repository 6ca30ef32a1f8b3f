//! How long evaluation takes: `cargo run --release -p stead-eval --example speed -- 10000`.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods)]

use std::time::Instant;

use stead_eval::{Program, Sources, evaluate};
use stead_model::{Environment, Limits, Map};
use stead_schema::{Access, Catalog, Property, Shape, TypeSchema};

struct One(String);

impl Sources for One {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        Ok((path == "main.ts").then(|| self.0.clone()))
    }
}

fn main() {
    let count: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1000);
    let text = format!(
        "import {{ File }} from \"stead/local\";\nlet before = \"start\";\nfor (let i = 0; i < {count}; i++) {{\n  \
         const file = new File({{ path: `/tmp/${{i}}`, content: `after ${{before}}`, tags: {{ a: [i, before], b: \"x\" }} }}, \
         {{ id: `f${{i}}` }});\n  before = file.digest;\n}}\nexport const last = before;\n"
    );
    let text_of = |name: &str, access| Property::new(name, Shape::String, access, "");
    let properties = vec![
        text_of("path", Access::Required),
        text_of("content", Access::Optional),
        Property::new("tags", Shape::Any, Access::Optional, ""),
        text_of("mode", Access::Filled),
        text_of("digest", Access::ReadOnly),
    ];
    let catalog: Catalog = [TypeSchema::new("local.File", "", properties)].into_iter().collect();
    let config = Map::new();
    let environment = Environment::new("dev");
    let program =
        Program { entry: "main.ts", environment, project: "speed", target: "local", config: &config };
    let sources = One(text);
    let mut best = f64::MAX;
    for _ in 0..7 {
        let start = Instant::now();
        let evaluation = evaluate(&program, &catalog, &sources, &Limits::default()).unwrap();
        best = best.min(start.elapsed().as_secs_f64() * 1000.0);
        assert_eq!(evaluation.graph.nodes.len(), count);
    }
    println!("{count} resources: {best:.1} ms");
}
