//! Embeds Stead: evaluates the program of a project, shows the plan, and applies it. Enter stops the run.
//!
//! `cargo run -p stead --example embed`, from the root of the repository.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example writes to the terminal")]

use std::path::Path;

use stead::ops::{OpError, OpEvent, PlanRequest};
use stead::plan::Request;
use stead::{ConfigInputs, Notice, Program, Project, Stop, UnknownBranches};
use stead_model::{Event, RunResult};
use stead_world::World;
use tokio::sync::watch;

pub(crate) async fn up(folder: &Path) -> Result<RunResult, OpError> {
    let world = World::real();
    let project = Project::read(&world, Project::locate(&world, folder)?)?;
    let environment = project.default_environment()?;
    let workspace = project.workspace(&environment, &project.default_target, 32)?;

    let levels = workspace.levels.clone();
    let notice = |notice: Notice<'_>| match notice {
        Notice::Console(line) => eprintln!("{line:?}"),
        Notice::Warning(warning) => eprintln!("warning: {}", warning.message),
    };
    let config = project.config(&environment.name, &ConfigInputs::default())?;
    let program = Program::of(&project, &workspace, config, UnknownBranches::Refuse, levels.clone(), &notice);

    let mut events = |event: OpEvent| {
        if let OpEvent::Run(Event::StepEnded { operation, name, end, .. }) = event {
            println!("{} {name}: {end:?}", operation.verb());
        }
    };
    let request = PlanRequest::up(Request { outer: levels, ..Request::default() });
    let proposal = workspace.preview(&program, request, &mut events).await?;
    println!("{:?}", proposal.plan().summary);
    proposal.plan().steps.iter().for_each(|step| println!("{}: {:?}", step.name, step.why));

    let permitted = proposal.permit()?;
    let (stop, stopped) = watch::channel(Stop::No);
    let keyboard = stop.clone();
    std::thread::spawn(move || {
        if std::io::stdin().read_line(&mut String::new()).is_ok_and(|length| length > 0) {
            let _ = keyboard.send(Stop::Finish);
        }
    });
    let report = permitted.apply(stopped, &mut events).await?;
    drop(stop);
    println!("{:?}: {} steps done; outputs {:?}", report.result, report.done, report.outputs);
    Ok(report.result)
}

fn main() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match runtime.block_on(up(Path::new("examples/local"))) {
        Ok(RunResult::Succeeded) => Ok(()),
        Ok(other) => Err(std::io::Error::other(format!("the run ended as {other:?}"))),
        Err(error) => Err(std::io::Error::other(format!("{:?}: {error:?}", error.class()))),
    }
}
