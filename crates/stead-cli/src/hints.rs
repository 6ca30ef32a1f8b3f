//! Text of the operations that hints propose, in the syntax of this command line.

use stead_model::{NextStep, Operation, ResolveAnswer};

/// Returns the command or the flag of an operation, ready to paste.
pub(crate) fn phrase(step: &NextStep) -> String {
    match step {
        NextStep::Apply => "`stead up`".to_owned(),
        NextStep::ApplyUpdatingPins => "`stead up --update-pins`".to_owned(),
        NextStep::Compile => "`stead compile`".to_owned(),
        NextStep::Refresh => "`stead refresh`".to_owned(),
        NextStep::Import => "`stead import`".to_owned(),
        NextStep::Rename { from, to } => format!("`stead rename '{from}' '{to}'`"),
        NextStep::ListState => "`stead state ls`".to_owned(),
        NextStep::ShowGraph => "`stead graph`".to_owned(),
        NextStep::ListStacks => "`stead stack ls`".to_owned(),
        NextStep::ListPins => "`stead pin ls`".to_owned(),
        NextStep::RemovePin { path } => format!("stead pin rm {path}"),
        NextStep::MovePin { from, to } => format!("stead pin mv {from} {to}"),
        NextStep::RestorePins => "`stead pin restore`".to_owned(),
        NextStep::Unprotect { name } => format!("`stead state unprotect '{name}'`"),
        NextStep::Resolve { name, answer } => format!("stead state resolve '{name}' {}", flag(*answer)),
        NextStep::SelectDependencies => {
            "pass `--with-dependencies` to select its dependencies too".to_owned()
        }
        NextStep::SelectDependents => "pass `--with-dependents` to select its dependents too".to_owned(),
        NextStep::RefreshStack { environment, target } => {
            format!("`stead refresh -e {environment} -t {target}`")
        }
        NextStep::CreateStack => "`stead stack new`".to_owned(),
        NextStep::WithoutProgram => "`--without-program`".to_owned(),
        NextStep::ShowHistory => "`stead stack history`".to_owned(),
        NextStep::RenameFrom { from } => format!("stead rename '{from}' …"),
        NextStep::MoveToStack => "`--to-stack`".to_owned(),
        NextStep::Destroy { environment } => format!("`stead destroy -e {environment}`"),
        NextStep::StartProject => {
            "start a project here with `stead init`, or point to one with `-C DIR`".to_owned()
        }
        NextStep::Explain { code } => format!("see `stead explain {code}`"),
        NextStep::ExportStack => "`stead stack export > FILE`".to_owned(),
        NextStep::SavePlan { file } => format!("`stead plan --out {file}`"),
        NextStep::ApplySavedPlan => {
            "`up FILE` applies a plan that `stead plan --out FILE` saved; without FILE, `up` plans itself"
                .to_owned()
        }
        NextStep::ForgetResources => "`--forget-resources`".to_owned(),
    }
}

fn flag(answer: ResolveAnswer) -> &'static str {
    match answer {
        ResolveAnswer::Happened(Operation::Create) => "--created ID",
        ResolveAnswer::Happened(Operation::Update | Operation::Delete) => "--done",
        ResolveAnswer::DidNotHappen => "--not-created",
        ResolveAnswer::Retry => "--retry",
    }
}
