//! Cost of a test run: 200 tests over a program of 500 resources, most of them with a declaration of their own.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::driver::write;
use super::process::median;
use super::renew;
use super::stead::Stead;

const TESTS: usize = 200;
const RESOURCES: usize = 500;
const FILES: usize = 4;
const RUNS: usize = 5;
const BAR: Duration = Duration::from_secs(2);

/// Returns a section with the time of a run in which all tests share a declaration, and of one in which none does.
pub(crate) fn section(stead: &Stead, scratch: &Path) -> Result<String, String> {
    let mut rows = String::new();
    for (name, config) in [("one config for all", "0"), ("a config for each", "i")] {
        eprintln!("bench: {TESTS} tests, {name} …");
        let folder = scratch.join("tests");
        renew(&folder)?;
        write(&folder, "stead.toml", "project = \"bench\"\nmain = \"main.ts\"\n")?;
        write(&folder, "main.ts", &program())?;
        for file in 0..FILES {
            write(&folder, &format!("f{file}.test.ts"), &tests(file, config))?;
        }
        let mut walls = Vec::new();
        for _ in 0..RUNS {
            let started = Instant::now();
            let mut command = Command::new(&stead.binary);
            let done = super::process::run(command.arg("-C").arg(&folder).arg("test"))?;
            walls.push(started.elapsed());
            if !done.stdout.contains(&format!("Tests: {TESTS} passed.")) {
                return Err(format!("not all tests passed:\n{}", done.stdout));
            }
        }
        let wall = median(&walls).ok_or("nothing was measured")?;
        let verdict = if wall <= BAR { "PASS" } else { "MISS" };
        rows.push_str(&format!(
            "| {name} | {:.0} ms | less than {} s | {verdict} |\n",
            wall.as_secs_f64() * 1000.0,
            BAR.as_secs()
        ));
    }
    Ok(format!(
        "## Tests\n\n`stead test`: {TESTS} tests in {FILES} files over a program of {RESOURCES} resources. Each test declares the \
         program, finds a resource\nand compares two properties; every tenth also plans an upgrade. Median of {RUNS}.\n\n\
         | declarations | stead | bar | |\n|---|---:|---|---|\n{rows}"
    ))
}

fn program() -> String {
    format!(
        r#"import {{ config }} from "stead";
import * as local from "stead/local";

let before = new local.Data({{ value: `start ${{config.get("variant")}}` }}, {{ id: "data-0" }});
for (let i = 1; i < {RESOURCES}; i++) before = new local.Data({{ value: `${{i}} after ${{before.output}}` }}, {{ id: `data-${{i}}` }});
"#
    )
}

fn tests(file: usize, config: &str) -> String {
    let (first, last) = (file * TESTS / FILES, (file + 1) * TESTS / FILES);
    format!(
        r#"import {{ declare, expect, plan, test }} from "stead/test";

for (let i = {first}; i < {last}; i++) {{
  test(`variant ${{i}}`, () => {{
    const app = declare({{ config: {{ variant: {config} }} }});
    expect(app.find("main:local.Data#data-0").inputs.value).toBe(`start ${{{config}}}`);
    expect(app.find(`main:local.Data#data-${{i + 1}}`).inputs.value).toBeUnknown();
    if (i % 10 === 0) expect(plan({{ from: declare({{ config: {{ variant: -1 }} }}), to: app }})).toReplaceNothing();
  }});
}}
"#
    )
}
