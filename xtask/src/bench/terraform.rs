//! The peer: Terraform, with its built-in `terraform_data` on the same graph.
//!
//! It runs at its best: no network, no plugin, no check for a newer version.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::driver::{Action, Program, Tool, write};
use super::{CHAINS, LENGTH, process};

pub(crate) struct Terraform {
    binary: PathBuf,
}

impl Terraform {
    pub(crate) fn find() -> Option<Terraform> {
        on_path("terraform").map(|binary| Terraform { binary })
    }

    fn plain(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .env("TF_CLI_CONFIG_FILE", if cfg!(windows) { "NUL" } else { "/dev/null" })
            .env("TF_IN_AUTOMATION", "1")
            .env("CHECKPOINT_DISABLE", "1");
        command
    }

    pub(crate) fn inside(&self, folder: &Path, words: &[&str]) -> Command {
        let mut command = self.plain();
        command.current_dir(folder).args(words);
        command
    }
}

impl Tool for Terraform {
    fn name(&self) -> &'static str {
        "terraform"
    }

    fn start(&self) -> Command {
        let mut command = self.plain();
        command.arg("version");
        command
    }

    fn prepare(&self, folder: &Path, program: Program) -> Result<(), String> {
        write(folder, "main.tf", &source(program))?;
        process::run(&mut self.inside(folder, &["init", "-input=false", "-no-color"])).map(drop)
    }

    fn command(&self, folder: &Path, action: Action) -> Command {
        let words: &[&str] = match action {
            Action::Plan => &["plan", "-input=false", "-no-color"],
            Action::PlanNothing => &["plan", "-input=false", "-no-color", "-detailed-exitcode"],
            Action::Up => &["apply", "-auto-approve", "-input=false", "-no-color"],
            Action::Destroy => &["destroy", "-auto-approve", "-input=false", "-no-color"],
        };
        self.inside(folder, words)
    }

    fn managed(&self, folder: &Path) -> Result<usize, String> {
        Ok(process::run(&mut self.inside(folder, &["state", "list"]))?.stdout.lines().count())
    }
}

fn source(program: Program) -> String {
    let mut text = String::from("# Made by `cargo xtask bench`.\n");
    if program == Program::Empty {
        return text;
    }
    for chain in 0..CHAINS {
        for i in 0..LENGTH {
            let input = match i {
                0 => "x".to_owned(),
                _ => format!("${{terraform_data.c{chain}_{}.output}}x", i - 1),
            };
            // Writing to a string cannot fail.
            let _ =
                writeln!(text, "resource \"terraform_data\" \"c{chain}_{i}\" {{\n  input = \"{input}\"\n}}");
        }
    }
    text
}

/// Returns the path of a program, if it is installed.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(&file)).find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_has_as_many_resources_in_as_many_chains() {
        let source = source(Program::Chains);
        assert_eq!(source.matches("resource \"terraform_data\"").count(), CHAINS * LENGTH);
        assert_eq!(source.matches("input = \"x\"").count(), CHAINS);
        assert!(source.contains("input = \"${terraform_data.c9_98.output}x\""), "{source}");
    }

    #[test]
    fn a_program_that_is_not_installed_is_not_found() {
        assert!(on_path("a program that is not installed").is_none());
    }
}
