//! Commands, one file each.

mod admission;
mod check;
mod cloud;
mod compile;
mod config;
mod destroy;
mod env;
mod explain;
mod find;
mod graph;
mod import;
mod init;
mod logs;
pub(crate) mod moves;
mod output;
mod pin;
mod plan;
mod policy;
mod provider;
mod refresh;
mod rename;
mod run;
mod secrets;
mod serve;
mod stack;
mod state;
mod stats;
mod test;
mod types;
mod unlock;
mod up;

use stead::ops::{Losses, Protection};

use crate::args::{
    AdmissionCommand, Arguments, CloudCommand, Command, PolicyCommand, StackCommand, StateCommand,
};
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

/// Runs a command, and returns the exit code of a command that did not fail.
pub(crate) async fn run(arguments: Arguments, ui: &Ui) -> Result<u8, Failure> {
    let Arguments { common, command } = arguments;
    let session = async || Session::open(&common, ui).await;
    let any_session = || Session::open_any(&common, ui);
    match command {
        Command::Init { name } => init::init(&common, name, ui),
        Command::Explain { code } => explain::explain(&code, ui),
        Command::Cloud(CloudCommand::Serve(arguments)) => cloud::serve(&common, &arguments, ui).await,
        Command::Serve(arguments) => serve::serve(&common, &arguments, ui).await,
        Command::Admission(AdmissionCommand::Manifests(arguments)) => {
            admission::manifests(&common, &arguments, ui)
        }
        Command::Provider(command) => provider::provider(command, ui),
        Command::Types => types::types(&any_session()?, ui),
        Command::Check => check::check(&any_session()?, ui).await,
        Command::Test(arguments) => test::test(&any_session()?, &arguments, ui).await,
        Command::Compile(arguments) => compile::compile(&session().await?, &arguments, ui).await,
        Command::Pin(command) => pin::pin(&session().await?, command, ui).await,
        Command::Graph => graph::graph(&session().await?, ui).await,
        Command::Plan(arguments) => plan::plan(&session().await?, &arguments, ui).await,
        Command::Up(arguments) => {
            // A saved plan names the environment that it was made for.
            let session = if arguments.plan.is_some() { any_session()? } else { session().await? };
            session.retry_on_conflict(ui, async || up::up(&session, &arguments, ui).await).await
        }
        Command::Destroy(arguments) => {
            let session = session().await?;
            session.retry_on_conflict(ui, async || destroy::destroy(&session, &arguments, ui).await).await
        }
        Command::Refresh(select) => {
            let session = session().await?;
            session.retry_on_conflict(ui, async || refresh::refresh(&session, &select, ui).await).await
        }
        Command::Rename(arguments) => rename::rename(&session().await?, &arguments, ui).await,
        Command::Import(arguments) => import::import(&session().await?, &arguments, ui).await,
        Command::Logs(arguments) => logs::logs(&session().await?, &arguments, ui).await,
        Command::Stats(arguments) => stats::stats(&session().await?, &arguments, ui).await,
        Command::Output(arguments) => output::output(&session().await?, &arguments, ui).await,
        Command::Find(arguments) => find::find(&common, &any_session()?, &arguments, ui).await,
        Command::Env(command) => env::env(&any_session()?, &command, ui).await,
        Command::Config(command) => config::config(&session().await?, &command, ui).await,
        Command::Secrets(command) => secrets::secrets(&common, &command, ui).await,
        Command::Stack(StackCommand::Rollback { run, program }) => {
            stack::rollback(&session().await?, &run, program, ui).await
        }
        Command::Unlock => unlock::unlock(&session().await?, ui).await,
        Command::Stack(StackCommand::Ls) => stack::ls(&any_session()?, ui).await,
        Command::Stack(StackCommand::History) => stack::history(&any_session()?, ui).await,
        Command::Stack(StackCommand::New) => stack::new(&any_session()?, ui).await,
        Command::Stack(StackCommand::Rm(arguments)) => stack::rm(&any_session()?, &arguments, ui).await,
        Command::Stack(StackCommand::Place { accept: false }) => {
            stack::show_place(&session().await?, ui).await
        }
        Command::Stack(StackCommand::Place { accept: true }) => {
            stack::accept_place(&session().await?, ui).await
        }
        Command::Stack(StackCommand::Rename { to }) => stack::rename(&session().await?, &to, ui).await,
        Command::Stack(StackCommand::Diff(arguments)) => stack::diff(&session().await?, &arguments, ui).await,
        Command::Stack(StackCommand::Export(flags)) => stack::export(&session().await?, flags, ui).await,
        Command::Stack(StackCommand::Import(arguments)) => {
            stack::import(&session().await?, &arguments, ui).await
        }
        Command::State(command) => run_on_state(&session().await?, command, ui).await,
        Command::Policy(PolicyCommand::Permissions(scope)) => {
            plan::permissions(&session().await?, *scope, ui).await
        }
        Command::Policy(PolicyCommand::Explain { name, marks }) => {
            policy::explain(&session().await?, &name, &marks, ui).await
        }
    }
}

/// Runs a command of the group `state`.
async fn run_on_state(session: &Session, command: StateCommand, ui: &Ui) -> Result<u8, Failure> {
    match command {
        StateCommand::Rm { name } => state::rm(session, &name, ui).await,
        StateCommand::Mv(arguments) => state::mv(session, &arguments, ui).await,
        StateCommand::Protect { name } => state::protect(session, &name, Protection::Set, ui).await,
        StateCommand::Unprotect { name } => state::protect(session, &name, Protection::Removed, ui).await,
        StateCommand::Owners { all } => state::owners(session, all, ui).await,
        StateCommand::Retained => state::retained(session, ui).await,
        StateCommand::Ls => state::ls(session, ui).await,
        StateCommand::Show { name } => state::show(session, &name, ui).await,
        StateCommand::Verify { file } => state::verify(session, file.as_deref(), ui).await,
        StateCommand::Repair { file, take, force } => {
            let losses = if force { Losses::Accept } else { Losses::Refuse };
            state::repair(session, file.as_deref(), take, losses, ui).await
        }
        StateCommand::Resolve(arguments) => state::resolve(session, &arguments, ui).await,
    }
}
