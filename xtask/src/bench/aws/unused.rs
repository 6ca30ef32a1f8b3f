//! Cost of the AWS types for a program that does not use them, in instructions that valgrind counts.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::bench::stead::Stead;
use crate::bench::terraform::on_path;
use crate::bench::{driver, process, renew};

const LOCAL: &str = r#"import * as local from "stead/local";
new local.Data({ value: "x" }, { id: "c" });
"#;
const IMPORTED: &str = r#"import * as local from "stead/local";
import * as aws from "stead/aws";
new local.Data({ value: "x" }, { id: "c" });
"#;
const USED: &str = r#"import * as local from "stead/local";
import * as aws from "stead/aws";
new local.Data({ value: "x" }, { id: "c" });
new aws.sqs.Queue({}, { id: "c" });
"#;

/// Bar: instructions of a program that imports the types and uses none, beside those of one that does not import them.
const BAR: f64 = 1.02;

/// Programs with their targets, the first of which the others are compared with.
const PROGRAMS: [(&str, &str, &str); 4] = [
    ("a local resource", LOCAL, "local"),
    ("the same, with an unused import of `stead/aws`", IMPORTED, "local"),
    ("the same, on the target `sim`", IMPORTED, "sim"),
    ("the same, and a queue of AWS", USED, "sim"),
];
/// Programs of which no resource has an AWS type.
const UNUSED: usize = 3;

/// Instructions of `stead plan` for each program; empty without valgrind.
#[derive(Default)]
pub(super) struct Unused {
    counted: Vec<u64>,
}

pub(super) fn measure(stead: &Stead, scratch: &Path) -> Result<Unused, String> {
    let mut counted = Vec::new();
    let Some(valgrind) = on_path("valgrind") else { return Ok(Unused { counted }) };
    for (name, program, target) in PROGRAMS {
        eprintln!("bench: instructions of a plan: {name} …");
        let folder = scratch.join("unused");
        renew(&folder)?;
        let settings = format!("project = \"bench\"\nmain = \"main.ts\"\ntarget = \"{target}\"\n");
        driver::write(&folder, "stead.toml", &settings)?;
        driver::write(&folder, "main.ts", program)?;
        let mut command = Command::new(&valgrind);
        command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
        command.arg(&stead.binary).arg("-C").arg(&folder).arg("plan");
        counted.push(instructions(&process::run(&mut command)?.stderr)?);
    }
    Ok(Unused { counted })
}

/// Returns the number after `I refs:`, which some versions write with more spaces.
fn instructions(said: &str) -> Result<u64, String> {
    let labelled = said.lines().filter_map(|line| line.split_once("refs:"));
    let number =
        labelled.filter(|(label, _)| label.trim_end().ends_with('I')).map(|(_, number)| number).next();
    let number = number.and_then(|number| number.replace(',', "").trim().parse().ok());
    number.ok_or_else(|| format!("valgrind did not count:\n{said}"))
}

impl Unused {
    pub(super) fn section(&self) -> String {
        let mut out = String::from(
            "### Programs without AWS types\n\nInstructions of `stead plan` of one resource, counted by valgrind. The index of the \
             types is read at the first use of a type.\n\n",
        );
        let Some(first) = self.counted.first() else { return out + "valgrind is not on PATH.\n" };
        out.push_str("| program | millions of instructions | ratio | bar | |\n|---|---:|---:|---:|---|\n");
        for (at, (count, (name, ..))) in self.counted.iter().zip(PROGRAMS).enumerate() {
            let ratio = *count as f64 / *first as f64;
            let (bar, verdict) = match at {
                1..UNUSED => (format!("{BAR}×"), if ratio <= BAR { "PASS" } else { "MISS" }),
                _ => (String::new(), ""),
            };
            // Writing to a string cannot fail.
            let _ =
                writeln!(out, "| {name} | {:.1} | {ratio:.3}× | {bar} | {verdict} |", *count as f64 / 1e6);
        }
        out
    }

    pub(super) fn missed(&self) -> usize {
        let first = self.counted.first().copied().unwrap_or_default() as f64;
        self.counted.iter().take(UNUSED).filter(|count| **count as f64 > BAR * first).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_is_read_and_only_programs_without_the_types_have_a_bar() {
        assert_eq!(instructions("==7== x\n==7== I refs:        1,234,567\n"), Ok(1_234_567));
        assert_eq!(instructions("==7== I   refs:      22,312,372\n"), Ok(22_312_372));
        assert!(instructions("").is_err());
        let unused = Unused { counted: vec![1_000_000, 1_020_000, 1_030_000, 9_000_000] };
        assert_eq!(unused.missed(), 1);
        let section = unused.section();
        assert!(section.contains("| 1.0 | 1.020× | 1.02× | PASS |"), "{section}");
        assert!(section.contains("| 9.0 | 9.000× |  |  |"), "{section}");
        assert!(Unused { counted: Vec::new() }.section().contains("valgrind is not on PATH"));
    }
}
