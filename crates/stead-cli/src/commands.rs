//! Commands, one file each.

mod admission;
mod check;
mod compile;
mod destroy;
mod explain;
mod graph;
mod import;
mod init;
pub(crate) mod moves;
mod pin;
mod plan;
mod policy;
mod provider;
mod refresh;
mod rename;
mod run;
mod serve;
mod stack;
mod state;
mod types;
mod unlock;
mod up;

use stead::ops::Protection;

use crate::args::{AdmissionCommand, Arguments, Command, PolicyCommand, StackCommand, StateCommand};
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

/// Runs a command, and returns the exit code of a command that did not fail.
pub(crate) async fn run(arguments: Arguments, ui: &Ui) -> Result<u8, Failure> {
    let Arguments { common, command } = arguments;
    let session = || Session::open(&common, ui);
    match command {
        Command::Init { name } => init::init(&common, name, ui),
        Command::Explain { code } => explain::explain(&code, ui),
        Command::Serve(arguments) => serve::serve(&common, &arguments, ui).await,
        Command::Admission(AdmissionCommand::Manifests(arguments)) => {
            admission::manifests(&common, &arguments, ui)
        }
        Command::Provider(command) => provider::provider(command, ui),
        Command::Types => types::types(&session()?, ui),
        Command::Check => check::check(&session()?, ui).await,
        Command::Compile(arguments) => compile::compile(&session()?, &arguments, ui).await,
        Command::Pin(command) => pin::pin(&session()?, command, ui).await,
        Command::Graph => graph::graph(&session()?, ui).await,
        Command::Plan(arguments) => plan::plan(&session()?, &arguments, ui).await,
        Command::Up(arguments) => {
            let session = session()?;
            session.retry_on_conflict(ui, async || up::up(&session, &arguments, ui).await).await
        }
        Command::Destroy(arguments) => {
            let session = session()?;
            session.retry_on_conflict(ui, async || destroy::destroy(&session, &arguments, ui).await).await
        }
        Command::Refresh(select) => {
            let session = session()?;
            session.retry_on_conflict(ui, async || refresh::refresh(&session, &select, ui).await).await
        }
        Command::Rename(arguments) => rename::rename(&session()?, &arguments, ui).await,
        Command::Import(arguments) => import::import(&session()?, &arguments, ui).await,
        Command::Stack(StackCommand::Rollback { run, program }) => {
            stack::rollback(&session()?, &run, program, ui).await
        }
        Command::Unlock => unlock::unlock(&session()?, ui).await,
        Command::Stack(StackCommand::Ls) => stack::ls(&session()?, ui).await,
        Command::Stack(StackCommand::History) => stack::history(&session()?, ui).await,
        Command::Stack(StackCommand::New) => stack::new(&session()?, ui).await,
        Command::Stack(StackCommand::Rm(arguments)) => stack::rm(&session()?, &arguments, ui).await,
        Command::Stack(StackCommand::Rename { to }) => stack::rename(&session()?, &to, ui).await,
        Command::Stack(StackCommand::Diff(arguments)) => stack::diff(&session()?, &arguments, ui).await,
        Command::Stack(StackCommand::Export) => stack::export(&session()?, ui).await,
        Command::Stack(StackCommand::Import { file }) => stack::import(&session()?, &file, ui).await,
        Command::State(StateCommand::Rm { name }) => state::rm(&session()?, &name, ui).await,
        Command::State(StateCommand::Mv(arguments)) => state::mv(&session()?, &arguments, ui).await,
        Command::Policy(PolicyCommand::Explain { name, marks }) => {
            policy::explain(&session()?, &name, &marks, ui).await
        }
        Command::State(StateCommand::Protect { name }) => {
            state::protect(&session()?, &name, Protection::Set, ui).await
        }
        Command::State(StateCommand::Unprotect { name }) => {
            state::protect(&session()?, &name, Protection::Removed, ui).await
        }
        Command::State(StateCommand::Retained) => state::retained(&session()?, ui).await,
        Command::State(StateCommand::Ls) => state::ls(&session()?, ui).await,
        Command::State(StateCommand::Show { name }) => state::show(&session()?, &name, ui).await,
        Command::State(StateCommand::Verify { file }) => {
            state::verify(&session()?, file.as_deref(), ui).await
        }
        Command::State(StateCommand::Repair { file, take }) => {
            state::repair(&session()?, file.as_deref(), take, ui).await
        }
        Command::State(StateCommand::Resolve(arguments)) => state::resolve(&session()?, &arguments, ui).await,
    }
}
