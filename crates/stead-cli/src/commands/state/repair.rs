//! `stead state repair`: proposes and applies repairs of a state that is damaged or breaks a rule.

use std::path::Path;

use serde::Serialize;
use stead::ops::{EditOutcome, Losses, StateEdit};
use stead::{export, read_export, survey};
use stead_model::{Code, Diagnostic};
use stead_state::{Difference, Proposal, RepairMethod, Snapshot, compare, propose_repairs, verify};

use crate::confirm::confirm;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

/// Line of JSON for a proposal.
#[derive(Serialize)]
struct ProposalLine<'a> {
    number: usize,
    #[serde(flatten)]
    way: &'a RepairMethod,
    resources: usize,
    pending: usize,
    differences: Vec<Difference>,
}

pub(crate) async fn repair(
    session: &Session,
    file: Option<&Path>,
    take: Option<usize>,
    losses: Losses,
    ui: &Ui,
) -> Result<u8, Failure> {
    match file {
        Some(file) => repair_file(session, file, take, ui),
        None => repair_stack(session, take, losses, ui).await,
    }
}

async fn repair_stack(
    session: &Session,
    take: Option<usize>,
    losses: Losses,
    ui: &Ui,
) -> Result<u8, Failure> {
    let workspace = &session.workspace;
    let survey = survey(&workspace.stack.store, &workspace.stack.keys).await?;
    if survey.is_sound() {
        return report_sound(ui);
    }
    let violations = survey.violations.iter().map(ToString::to_string);
    let problems: Vec<String> = survey.problems.iter().cloned().chain(violations).collect();
    show(&problems, survey.recorded.as_ref(), &survey.proposals, ui);
    let (number, proposal) = choose(&survey.proposals, take)?;
    let resources = proposal.snapshot.resources.len();
    let edit = StateEdit::Repair { survey: Box::new(survey), number, losses };
    let edit = workspace.edit(edit, session.wait, &mut ui.listener()).await?.permit()?;
    if !edit.losses().is_empty() {
        ui.note("The repair loses what the guards keep:");
    }
    for loss in edit.losses() {
        ui.note(&format!("    {loss}"));
    }
    confirm(session, ui, &question(session))?;
    if let EditOutcome::Repaired { snapshot } = edit.apply(&mut ui.listener()).await?.outcome {
        ui.result(&format!(
            "Repaired: {resources} resources are recorded, snapshot {snapshot}. The old state is kept.\n"
        ));
    }
    ui.note("No real resource was changed. Check with `stead plan --refresh` before the next `stead up`.");
    Ok(0)
}

/// Writes the repaired state beside the file, which is not changed.
fn repair_file(session: &Session, file: &Path, take: Option<usize>, ui: &Ui) -> Result<u8, Failure> {
    let broken = read_export(session.project.world(), file)?.into_unsorted_snapshot();
    let violations = verify(&broken);
    if violations.is_empty() {
        return report_sound(ui);
    }
    let problems: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let proposals = propose_repairs(&broken);
    show(&problems, Some(&broken), &proposals, ui);
    let (_, proposal) = choose(&proposals, take)?;
    let mut beside = file.as_os_str().to_owned();
    beside.push(".repaired");
    let beside = Path::new(&beside);
    confirm(session, ui, &format!("Write {}?", beside.display()))?;
    let export = export(&session.project, &session.workspace, proposal.snapshot.clone());
    let text = serde_json::to_string_pretty(&export).unwrap_or_default() + "\n";
    session.project.world().files.create_synced(beside, text.as_bytes(), 0o600).map_err(|error| {
        let message = format!("cannot write {}: {error}", beside.display());
        Failure::new(Kind::Failed, Diagnostic::error(Code::STORE, message))
    })?;
    ui.result(&format!("Wrote {}; {} is unchanged.\n", beside.display(), file.display()));
    Ok(0)
}

fn report_sound(ui: &Ui) -> Result<u8, Failure> {
    ui.result("State is sound; there is nothing to repair.\n");
    Ok(0)
}

fn question(session: &Session) -> String {
    format!("Replace the state of environment {} on target {}?", session.environment(), session.target())
}

/// Returns the chosen proposal with its number. Without `--take`, the list itself is the result.
fn choose(proposals: &[Proposal], take: Option<usize>) -> Result<(usize, &Proposal), Failure> {
    if proposals.is_empty() {
        let problem = Diagnostic::error(Code::NOTHING_TO_REPAIR, "no repair leads to a sound state")
            .note("Nothing was changed.")
            .help("restore the whole state folder from a backup, or import an export");
        return Err(Failure::new(Kind::Unsound, problem));
    }
    let Some(take) = take else {
        let problem = Diagnostic::error(Code::INTEGRITY, "state is not sound")
            .note("Nothing was changed.")
            .help("choose one of the proposals: `stead state repair --take N`");
        return Err(Failure::new(Kind::Unsound, problem));
    };
    let chosen = take.checked_sub(1).and_then(|at| proposals.get(at)).map(|chosen| (take, chosen));
    chosen.ok_or_else(|| {
        let message = format!("there is no proposal {take}; there are {}", proposals.len());
        let problem = Diagnostic::error(Code::NOTHING_TO_REPAIR, message).note("Nothing was changed.");
        Failure::new(Kind::Usage, problem)
    })
}

fn show(problems: &[String], recorded: Option<&Snapshot>, proposals: &[Proposal], ui: &Ui) {
    for problem in problems {
        ui.note(problem);
    }
    for (at, Proposal { method: way, snapshot }) in proposals.iter().enumerate() {
        let number = at + 1;
        let empty = Snapshot::empty(snapshot.stack.clone());
        let differences = compare(recorded.unwrap_or(&empty), snapshot);
        ui.result(&describe(number, way, snapshot, recorded, &differences));
        let (resources, pending) = (snapshot.resources.len(), snapshot.pending.len());
        ui.json("proposal", &ProposalLine { number, way, resources, pending, differences });
    }
}

fn describe(
    number: usize,
    way: &RepairMethod,
    snapshot: &Snapshot,
    recorded: Option<&Snapshot>,
    differences: &[Difference],
) -> String {
    let mut lines = vec![match way {
        RepairMethod::Sort => "put the records in order; nothing is left out".to_owned(),
        RepairMethod::Prune { .. } => "leave out references that lead nowhere".to_owned(),
        RepairMethod::Rebuild { folded, unreadable: None } => {
            format!("rebuild the state from the last snapshot and {folded} records of the journal")
        }
        RepairMethod::Rebuild { folded, unreadable: Some(unreadable) } => format!(
            "rebuild the state from the last snapshot and the {folded} records before the unreadable one ({unreadable})"
        ),
        RepairMethod::History { run } => format!("go back to the state at the end of {run}"),
    }];
    if let RepairMethod::Prune { left_out } = way {
        lines.extend(left_out.iter().map(|reference| format!("    leaves out  {reference}")));
    }
    if recorded.is_none() {
        lines.push("    the recorded state is unreadable, so this would be the whole state:".to_owned());
    }
    for difference in differences {
        let (sign, name, generation) = match difference {
            Difference::Added { name, generation } => ('+', name, generation),
            Difference::Removed { name, generation } => ('-', name, generation),
            Difference::Changed { name, generation } => ('~', name, generation),
        };
        lines.push(format!("    {sign} {name} (copy {generation})"));
    }
    for pending in &snapshot.pending {
        let (verb, copy) = (pending.intent.operation().verb(), pending.intent.copy());
        lines.push(format!("    in doubt: the {verb} of {copy}"));
    }
    format!("{number}. {}\n", lines.join("\n"))
}
