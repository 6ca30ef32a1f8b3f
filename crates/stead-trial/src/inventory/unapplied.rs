//! Protection that no `up` applied yet: the program protects a file under another name than the recorded one.

use stead_engine::OnFailure;
use stead_engine::ops::{Approval, EarlierRun, Nothing, PlanRequest, Protecting, Wait};
use stead_model::{DeletionPolicy, Lifecycle, RunId, Value};
use stead_plan::{MovePolicy, Purpose, Request};
use stead_state::State;

use super::{DeclaredFile, Ended, FILES, Inventory, apply, is_at};
use crate::faults::process_faults::ProcessFaults;
use crate::life::operate::DeclaredGraph;

/// Drops siblings of a recorded file or gives it another id, protects it, and runs an operation that does not apply the program.
/// The file must stay. The edits are taken back afterwards.
pub(super) async fn protect_without_up(inventory: &mut Inventory, state: &State) -> Result<(), String> {
    let is_recorded = |declared: &&DeclaredFile| {
        state.copies().any(|copy| copy.lifecycle == Lifecycle::Live && is_at(copy, declared.file))
    };
    let recorded: Vec<u64> = inventory.program.iter().filter(is_recorded).map(|one| one.file).collect();
    let Some(file) = inventory.rng.pick(&recorded).copied() else { return Ok(()) };
    let Some(before) = inventory.text(file) else { return Ok(()) };
    let program = inventory.program.clone();
    let operation = inventory.rng.below(3);
    let saved = match operation {
        2 => save_deletion_of(inventory, file).await?,
        _ => None,
    };
    inventory.program.clone_from(&program);
    for at in (0..program.len()).rev() {
        if program[at].file != file && inventory.rng.one_in(2) {
            inventory.program.remove(at);
        }
    }
    if inventory.rng.one_in(3) {
        let respelled = inventory.rng.one_in(2);
        inventory.program.iter_mut().filter(|one| one.file == file).for_each(|one| {
            one.id = Some(format!("other{file}"));
            if respelled {
                one.respelled = !one.respelled;
                one.content = format!("not applied: {}", one.content);
            }
        });
    }
    inventory.protected = Some(file);
    inventory.trace.push(format!("{:?}, f{file} is protected", inventory.program));
    match (operation, saved) {
        (0, _) => destroy(inventory).await?,
        (1, _) => roll_back(inventory).await?,
        (_, Some((approval, earlier))) => up_saved(inventory, &approval, earlier).await?,
        (_, None) => {}
    }
    let after = inventory.text(file);
    inventory.protected = None;
    if operation == 1 {
        declare_recorded(inventory).await?;
    }
    if operation != 1 || still_fits(inventory, &program).await? {
        inventory.program = program;
    }
    match after {
        Some(after) if operation != 1 && after != before => {
            Err(format!("a refused operation changes nothing: f{file}"))
        }
        Some(_) => Ok(()),
        None => Err(format!("no file is deleted that the program protects: f{file}")),
    }
}

/// Returns true if a program fits the records after a rollback: none of its files has a record with another id, or exists without
/// one.
async fn still_fits(inventory: &mut Inventory, program: &[DeclaredFile]) -> Result<bool, String> {
    let state = inventory.state().await?;
    Ok(program.iter().all(|one| match state.copies().find(|copy| is_at(copy, one.file)) {
        Some(copy) => one.id.as_deref().is_none_or(|id| copy.name.short() == id),
        None => inventory.text(one.file).is_none(),
    }))
}

/// Applies a program that declares the recorded files, without protection: a rollback recorded that of the program.
async fn declare_recorded(inventory: &mut Inventory) -> Result<(), String> {
    let state = inventory.state().await?;
    let mut recorded: Vec<(Option<u32>, DeclaredFile)> = Vec::new();
    for copy in state.copies().filter(|copy| copy.lifecycle == Lifecycle::Live && !copy.imported) {
        let Some(file) = (0..FILES).find(|file| is_at(copy, *file)) else { continue };
        let name = copy.name.to_string();
        let id = name.split_once('#').map_or("1", |(_, id)| id);
        let counter = id.parse().ok();
        let id = counter.is_none().then(|| id.to_owned());
        let content = inventory.text(file).ok_or(format!("a rollback loses no recorded file: f{file}"))?;
        let retained = copy.recorded_policy() == Some(DeletionPolicy::Retain);
        let path = copy.inputs.get("path").and_then(Value::as_str).unwrap_or_default();
        let respelled = path.starts_with("./");
        recorded.push((counter, DeclaredFile { file, content, id, retained, respelled }));
    }
    recorded.sort_by_key(|(counter, _)| *counter);
    inventory.program = recorded.into_iter().map(|(_, declared)| declared).collect();
    // The counters are those of the records.
    match inventory.up(ProcessFaults::NONE, MovePolicy::Refuse).await {
        Ended::Succeeded => Ok(()),
        ended => Err(format!("a program that declares what is recorded is applied: {ended:?}")),
    }
}

async fn destroy(inventory: &mut Inventory) -> Result<(), String> {
    let today = DeclaredGraph(inventory.graph()?);
    let (process, world) = inventory.process(ProcessFaults::NONE);
    let request = Request { purpose: Purpose::Destroy, moves: MovePolicy::Refuse, ..Request::default() };
    let (nothing, workspace) = (Nothing { program: Some(&today) }, inventory.workspace(world));
    let previewed = workspace.preview(&nothing, PlanRequest::destroy(request), &mut |_| ()).await;
    let ended = apply(previewed).await;
    process.end(&inventory.disk);
    inventory.trace.push(format!("destroy: {ended:?}"));
    Ok(())
}

async fn roll_back(inventory: &mut Inventory) -> Result<(), String> {
    let today = DeclaredGraph(inventory.graph()?);
    let (process, world) = inventory.process(ProcessFaults::NONE);
    let workspace = inventory.workspace(world);
    let head = workspace.stack.load().await.map_err(|error| error.to_string())?.head;
    let epoch = head.map_or(0, |head| head.epoch.0);
    let run = RunId(format!("run-{}", epoch.saturating_sub(1 + inventory.rng.below(4))));
    let earlier = EarlierRun { stack: workspace.stack.clone(), run: run.clone(), program: Some(&today) };
    let request = PlanRequest::rollback(Request::default());
    let ended = apply(workspace.preview(&earlier, request, &mut |_| ()).await).await;
    process.end(&inventory.disk);
    inventory.trace.push(format!("rollback to {run}: {ended:?}"));
    Ok(())
}

/// Saves a plan that deletes the file, and perhaps others. Returns it with its declarations.
async fn save_deletion_of(
    inventory: &mut Inventory,
    file: u64,
) -> Result<Option<(Approval, DeclaredGraph)>, String> {
    inventory.program.retain(|one| one.file != file);
    let declared = DeclaredGraph(inventory.graph()?);
    let (process, world) = inventory.process(ProcessFaults::NONE);
    let request = PlanRequest::up(Request { moves: MovePolicy::Suggest, ..Request::default() });
    let previewed = inventory.workspace(world).preview(&declared, request, &mut |_| ()).await;
    let approval = previewed.ok().and_then(|proposal| proposal.approval().ok());
    process.end(&inventory.disk);
    Ok(approval.map(|approval| (approval, declared)))
}

async fn up_saved(
    inventory: &mut Inventory,
    approval: &Approval,
    declared: DeclaredGraph,
) -> Result<(), String> {
    let today = DeclaredGraph(inventory.graph()?);
    let (process, world) = inventory.process(ProcessFaults::NONE);
    let workspace = inventory.workspace(world);
    let protecting = Protecting { declared: &declared, program: Some(&today) };
    let approved = (approval, workspace.pinfile.main.as_str());
    let failing = (OnFailure::GoOn, Vec::new());
    let previewed = workspace.preview_approved(&protecting, approved, failing, Wait::No, &mut |_| ()).await;
    let ended = apply(previewed).await;
    process.end(&inventory.disk);
    inventory.trace.push(format!("a saved plan: {ended:?}"));
    Ok(())
}
