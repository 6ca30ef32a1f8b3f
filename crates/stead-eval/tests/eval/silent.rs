//! Programs whose values came out wrong without an error: each gives the value of Node.js, or is refused.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use stead_model::{Input, KnownOutputs, Name, NodeId, Value, resolve};

use crate::common::{Run, diagnostics, program};

const LOCAL: &str = "import * as local from \"stead/local\";\nimport { apply } from \"stead\";\n\
    const d: any = { output: new local.Data({ value: 1 }).echo };\nconst e: any = { output: new local.Data({ value: 2 }).echo };\n[apply, e];\n";

/// Outputs of the resources after apply.
struct Outputs(Value);

impl KnownOutputs for Outputs {
    fn property(&self, _: NodeId, _: &str) -> Result<Option<Value>, stead_model::EvalError> {
        Ok(Some(self.0.clone()))
    }

    fn name(&self, _: NodeId) -> Option<&Name> {
        None
    }
}

/// Returns an output of a program after apply as JSON, where `d.output` has a value, or the code of its refusal.
fn after_apply(text: &str, value: &str, output: &str) -> String {
    let evaluation = match program(&format!("{LOCAL}{text}")).evaluate() {
        Ok(evaluation) => evaluation,
        Err(failure) => {
            let text = diagnostics(&failure.diagnostics);
            return text.split_whitespace().next().unwrap_or_default().to_owned();
        }
    };
    let graph = &evaluation.graph;
    let outputs = Outputs(serde_json::from_str(value).unwrap());
    match resolve(&graph.outputs[output], &graph.exprs, &outputs, &*evaluation.functions) {
        Ok(Some(Input::Known(value))) => value.to_json(),
        other => format!("{other:?}"),
    }
}

/// Asserts that a program with known values only gives these outputs.
fn gives(text: &str, output: &str, wanted: &str) {
    gives_in(program(text), output, wanted);
}

fn gives_in(run: Run, output: &str, wanted: &str) {
    let graph = run.graph();
    assert_eq!(graph.outputs[output].as_known().map(Value::to_json).as_deref(), Some(wanted), "{output}");
}

fn refused(text: &str, code: &str) {
    assert_eq!(after_apply(text, "1", "v"), code, "{text}");
}

#[test]
fn result_of_a_deferred_match_has_no_members_besides_its_items() {
    let text = "const { index = -1 } = d.output.match(/b/); export const v = index;\n";
    refused(text, "ST0112");
    refused("export const v = d.output.match(/b/).groups;\n", "ST0112");
    assert_eq!(after_apply("export const v = d.output.match(/b/)[0];\n", "\"abc\"", "v"), "\"b\"");
}

#[test]
fn function_of_the_language_with_two_names_is_one() {
    let text = "export const v = [Array.prototype.values === Array.prototype[Symbol.iterator], (\"\" as any).trimLeft === \"\".trimStart, \
        (\"\" as any).trimRight === \"\".trimEnd, Uint8Array.prototype.toString === Array.prototype.toString, \
        Number.parseFloat === parseFloat, Number.parseInt === parseInt, Map.prototype.entries === Map.prototype[Symbol.iterator], \
        Set.prototype.keys === Set.prototype.values, (Date.prototype as any).toGMTString === Date.prototype.toUTCString, \
        URLSearchParams.prototype.entries === URLSearchParams.prototype[Symbol.iterator], \
        Uint8Array.prototype.values === Uint8Array.prototype[Symbol.iterator], `${new Uint8Array([1, 2])}`];\n";
    gives(text, "v", "[true,true,true,true,true,true,true,true,true,true,true,\"1,2\"]");
}

#[test]
fn last_match_of_all_regular_expressions_is_refused() {
    for member in ["$1", "lastMatch", "['$&']", "input"] {
        let member = if member.starts_with('[') { member.to_owned() } else { format!(".{member}") };
        refused(&format!("/b/.test('abc'); export const v = (RegExp as any){member};\n"), "ST0103");
    }
}

#[test]
fn names_of_node_that_a_program_does_not_have_refuse_when_they_are_used() {
    let text = "class MyError extends DOMException {} \
        export const v = [typeof DOMException, typeof Headers, typeof WebAssembly, typeof WebAssembly.compile, ({} as any) instanceof Response, typeof MyError];\n";
    gives(text, "v", "[\"function\",\"function\",\"object\",\"function\",false,\"function\"]");
    for used in [
        "new Headers()",
        "new DOMException('x')",
        "new BroadcastChannel('x')",
        "WebAssembly.compile(1 as any)",
        "new FormData()",
    ] {
        refused(&format!("export const v = {used};\n"), "ST0103");
    }
}
