//! Stead's side of the benchmark: the release binary, driven as a user drives it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::driver::{Action, Program, Tool, write};
use super::{CHAINS, LENGTH};

pub(crate) struct Stead {
    pub(crate) binary: PathBuf,
}

impl Tool for Stead {
    fn name(&self) -> &'static str {
        "stead"
    }

    fn start(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg("--version");
        command
    }

    fn prepare(&self, folder: &Path, program: Program) -> Result<(), String> {
        write(folder, "stead.toml", "project = \"bench\"\nmain = \"main.ts\"\n")?;
        write(folder, "main.ts", &source(program))
    }

    fn command(&self, folder: &Path, action: Action) -> Command {
        let words: &[&str] = match action {
            Action::Plan => &["plan"],
            Action::PlanNothing => &["plan", "--exit-code"],
            Action::Up => &["up", "--yes"],
            Action::Destroy => &["destroy", "--yes"],
        };
        let mut command = Command::new(&self.binary);
        command.arg("-C").arg(folder).args(words);
        command
    }

    /// Names end in `#` and the id from the program. An empty stack may not exist, so the list says more than the exit
    /// code.
    fn managed(&self, folder: &Path) -> Result<usize, String> {
        let mut command = Command::new(&self.binary);
        command.arg("-C").arg(folder).args(["state", "ls"]);
        let output = command.output().map_err(|error| format!("cannot run stead state ls: {error}"))?;
        let list = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(list.lines().filter(|line| line.contains("#c")).count())
    }
}

/// Returns a program of chains: the first resource of a chain holds a constant, each further one needs an output of the
/// one before, so that no value of a chain is known early.
fn source(program: Program) -> String {
    match program {
        Program::Empty => "export {};\n".to_owned(),
        Program::Chains => format!(
            r#"import * as local from "stead/local";

for (let chain = 0; chain < {CHAINS}; chain++) {{
  let previous = new local.Data({{ value: "x" }}, {{ id: `c${{chain}}-0` }});
  for (let i = 1; i < {LENGTH}; i++) {{
    previous = new local.Data({{ value: `${{previous.output}}x` }}, {{ id: `c${{chain}}-${{i}}` }});
  }}
}}
"#
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_two_loops_over_outputs() {
        let source = source(Program::Chains);
        assert!(source.contains("for (let chain = 0; chain < 10; chain++) {"), "{source}");
        assert!(source.contains("for (let i = 1; i < 100; i++) {"), "{source}");
        assert!(source.contains("{ value: `${previous.output}x` }, { id: `c${chain}-${i}` }"), "{source}");
    }

    #[test]
    fn commands_name_the_folder_first() {
        let stead = Stead { binary: "stead".into() };
        let command = stead.command(Path::new("bench"), Action::Up);
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(words, ["-C", "bench", "up", "--yes"]);
    }
}
