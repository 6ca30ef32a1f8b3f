//! Compares deferred expressions after apply with plain JavaScript.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::collections::HashMap;

use stead_eval::Evaluation;
use stead_model::{EvalError, Input, KnownOutputs, Name, NodeId, Value, resolve};

use super::{Run, diagnostics, program};

/// Unknowns for test programs: `u` is text, `n` a number, `l` a list, `m` a map, `t` true.
pub const HEAD: &str = "import { File, RandomString, Data } from \"stead/local\";\nimport * as stead from \"stead\";\n\
    const pw = new RandomString({}, { id: \"pw\" }); const data = new Data();\n\
    const file = new File({ path: \"a\" });\n\
    const u: any = pw.result; const n: any = file.size; const l: any = data.list; const m: any = data.echo; const t: any = m.yes;\n";

/// The same values, known.
const KNOWN: &str = "const u: any = \"arn:aws:s3:eu:42:Bucket-a\"; const n: any = 7; const t: any = true;\n\
    const l: any = [\"b\", \"a\", \"c\"]; const m: any = { k: [1, { x: \"y\" }], s: \"t\", yes: true, z: null };\n\
    const stead = { apply: (v: any, f: any) => f(v), all: (v: any, f: any) => f(...v) };\n";

struct Outputs(HashMap<(u32, &'static str), Value>);

impl KnownOutputs for Outputs {
    fn property(&self, node: NodeId, property: &str) -> Result<Option<Value>, EvalError> {
        let found = self.0.iter().find(|((at, name), _)| *at == node.0 && *name == property);
        Ok(found.map(|(_, value)| value.clone()))
    }

    fn name(&self, _: NodeId) -> Option<&Name> {
        None
    }
}

fn outputs() -> Outputs {
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    Outputs(HashMap::from([
        ((0, "result"), json("\"arn:aws:s3:eu:42:Bucket-a\"")),
        ((1, "list"), json("[\"b\", \"a\", \"c\"]")),
        ((1, "echo"), json("{ \"k\": [1, { \"x\": \"y\" }], \"s\": \"t\", \"yes\": true, \"z\": null }")),
        ((2, "size"), json("7")),
    ]))
}

/// Returns an output with all unknowns resolved.
pub fn resolved(evaluation: &Evaluation, output: &str) -> Result<Option<Input>, EvalError> {
    let graph = &evaluation.graph;
    resolve(&graph.outputs[output], &graph.exprs, &outputs(), &*evaluation.functions)
}

pub fn with_unknowns(expression: &str) -> Run {
    program(&format!("{HEAD}export const out = {expression};\n"))
}

/// Returns the result of a deferred expression as JSON, and asserts that it was deferred.
fn deferred(expression: &str, run: Run) -> String {
    let evaluation = match run.evaluate() {
        Ok(evaluation) => evaluation,
        Err(failure) => return diagnostics(&failure.diagnostics),
    };
    assert!(evaluation.graph.outputs["out"].as_known().is_none(), "{expression} was not deferred");
    match resolved(&evaluation, "out") {
        Ok(Some(Input::Known(value))) => value.to_json(),
        Ok(None) => "undefined".to_owned(),
        Ok(_) => "still unknown".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}

pub fn plain(expression: &str) -> String {
    let graph = program(&format!("{KNOWN}export const out = {expression};\n")).graph();
    graph.outputs["out"].as_known().unwrap().to_json()
}

/// Asserts that each line is an expression that is deferred and then gives the result of JavaScript.
pub fn assert_deferred(cases: &str, change: impl Fn(Run) -> Run) {
    let cases = cases.lines().filter(|case| !case.is_empty());
    let wrong = cases.filter_map(|case| {
        let (found, wanted) = (deferred(case, change(with_unknowns(case))), plain(case));
        (found != wanted).then(|| format!("{case}\n  found  {found}\n  wanted {wanted}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
