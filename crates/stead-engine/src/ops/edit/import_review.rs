//! The guards of an import and of a repair of state: what they would lose, and what the user accepts.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use stead_guard::pins::{PinfileStatus, is_held};
use stead_guard::{OuterLevels, forget_refusal};
use stead_model::{
    Code, DeletionPolicy, Diagnostic, Hint, Name, NextStep, Operation, PhysicalId, ResolveAnswer, Resource,
    TypeToken,
};
use stead_state::{Snapshot, State};

use super::EditChange;
use crate::ops::OpError;
use crate::ops::guards::{pinned, several};

/// Losses of an import of state that the user accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepts {
    pub lineage: Lineage,
    pub losses: Losses,
}

/// Whether an export is of the stack that imports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lineage {
    #[default]
    Own,
    Other,
}

/// Whether an import of state may lose guarded records, marks and operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Losses {
    #[default]
    Refuse,
    Accept,
}

/// The reason why a record must not be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    PreventDelete,
    Pin,
    Retain,
}

/// Something that the guards keep, and that an import of state would lose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The record of a guarded resource.
    Record { name: Name, ty: TypeToken, id: Option<PhysicalId>, guard: Guard },
    /// The guard of a resource whose record stays.
    Guard { name: Name, ty: TypeToken, id: Option<PhysicalId>, guard: Guard },
    /// An operation in doubt, which would be forgotten and perhaps sent twice.
    Doubt { name: Name, operation: Operation },
    /// The changes since an old export.
    Newer { recorded: u64, imported: u64 },
}

/// The content of the stack that an import would replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// An empty stack has nothing to lose, but could delete the resources that it takes over.
    Nothing,
    Records,
}

/// The findings about an import of state that the guards judge.
pub(super) struct ImportReview {
    accepts: Accepts,
    holds: Holds,
    lineage: Lineage,
    older: Option<(u64, u64)>,
    pairs: Vec<(Arc<Resource>, Arc<Resource>)>,
    doubts: Vec<(Name, Operation)>,
}

impl ImportReview {
    pub(super) fn new(state: &State, imported: &Snapshot, accepts: Accepts) -> ImportReview {
        let kept: BTreeSet<&str> = imported.pending.iter().map(|pending| pending.intent.key()).collect();
        let lost = state.pending().filter(|pending| !kept.contains(pending.intent.key()));
        let doubts: Vec<(Name, Operation)> = lost
            .filter_map(|pending| Some((state.subject(&pending.intent)?, pending.intent.operation())))
            .collect();
        let empty = state.is_empty() && state.pending().next().is_none();
        let holds = if empty { Holds::Nothing } else { Holds::Records };
        ImportReview { accepts, holds, lineage: Lineage::Own, older: None, pairs: Vec::new(), doubts }
    }

    pub(super) fn of_lineage(self, lineage: Lineage) -> ImportReview {
        ImportReview { lineage, ..self }
    }

    /// Serials of two stacks do not compare. An old export that changes nothing does no harm.
    pub(super) fn of_age(self, (recorded, imported): (u64, u64), changes: &[EditChange]) -> ImportReview {
        let counts = self.lineage == Lineage::Own && self.holds == Holds::Records && !changes.is_empty();
        ImportReview { older: (counts && imported < recorded).then_some((recorded, imported)), ..self }
    }

    /// Keeps the recorded copies whose imported record has less protection, or another name: the pinfile may pin the old one.
    pub(super) fn of_pairs(self, pairs: &[(Arc<Resource>, Arc<Resource>)]) -> ImportReview {
        let weaker = |(old, new): &&(Arc<Resource>, Arc<Resource>)| {
            let lost = |guard: &Guard| guard.is_recorded(old) && !guard.is_recorded(new);
            old.name != new.name || [Guard::PreventDelete, Guard::Pin, Guard::Retain].iter().any(lost)
        };
        ImportReview { pairs: pairs.iter().filter(weaker).cloned().collect(), ..self }
    }

    /// Returns the losses that the user accepts, or every refusal.
    pub(super) fn permit(
        &self,
        forgets: &[Resource],
        levels: &OuterLevels,
        pins: &PinfileStatus,
    ) -> Result<Vec<Loss>, OpError> {
        let mut refused = Vec::new();
        if self.lineage == Lineage::Other && self.accepts.lineage == Lineage::Own {
            refused.push(other_stack(self.holds));
        }
        let found: Vec<(Loss, Diagnostic)> = self.losses(forgets, levels, pins);
        let (losses, problems): (Vec<Loss>, Vec<Diagnostic>) = found.into_iter().unzip();
        let lossy = self.accepts.losses == Losses::Refuse && !problems.is_empty();
        if lossy {
            refused.extend(problems);
        }
        let mut refused = several(refused);
        if let Some(last) = refused.last_mut().filter(|_| lossy) {
            let step = Hint::from(NextStep::AcceptLosses);
            last.help.push(step.and(" goes on all the same, and lists the losses before it asks"));
        }
        if refused.is_empty() { Ok(losses) } else { Err(OpError::Guarded(refused)) }
    }

    fn losses(
        &self,
        forgets: &[Resource],
        levels: &OuterLevels,
        pins: &PinfileStatus,
    ) -> Vec<(Loss, Diagnostic)> {
        let older = self.older.map(|(recorded, imported)| {
            (Loss::Newer { recorded, imported }, export_is_older(recorded, imported))
        });
        let records = forgets.iter().filter_map(|copy| record_loss(copy, levels, pins));
        let guards = self.pairs.iter().flat_map(|(old, new)| guard_losses(old, new, pins));
        let doubts = self.doubts.iter().map(|(name, operation)| doubt_loss(name, *operation));
        older.into_iter().chain(records).chain(guards).chain(doubts).collect()
    }
}

impl Guard {
    /// Returns true if the record itself has the guard.
    fn is_recorded(self, resource: &Resource) -> bool {
        match self {
            Guard::PreventDelete => resource.prevents_deletion(),
            Guard::Pin => resource.pinned,
            Guard::Retain => resource.recorded_policy() == Some(DeletionPolicy::Retain),
        }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Guard::PreventDelete => "prevent-delete",
            Guard::Pin => "the pin",
            Guard::Retain => "the deletion policy retain",
        })
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |id: &Option<PhysicalId>| id.as_ref().map_or("no id", |id| id.as_str()).to_owned();
        match self {
            Loss::Record { name, ty, id, guard } => {
                write!(f, "the record of {name} ({ty} {}), which {guard} keeps", shown(id))
            }
            Loss::Guard { name, ty, id, guard } => write!(f, "{guard} of {name} ({ty} {})", shown(id)),
            Loss::Doubt { name, operation } => {
                write!(f, "the {} of {name}, which is in doubt", operation.verb())
            }
            Loss::Newer { recorded, imported } => write!(
                f,
                "the changes after the export, which has serial {imported}; the stack has serial {recorded}"
            ),
        }
    }
}

fn record_loss(copy: &Resource, levels: &OuterLevels, pins: &PinfileStatus) -> Option<(Loss, Diagnostic)> {
    let marks = levels.marks_for(copy);
    let prevented = || Some((Guard::PreventDelete, forget_refusal(copy, &marks)?));
    let is_pinned = || Some((Guard::Pin, pinned(copy, pins)?));
    let retained = || {
        let message = format!("cannot forget {}: its deletion policy is retain", copy.name);
        let problem = Diagnostic::error(Code::GUARDED, message)
            .note("The real resource would stay, and its record would be lost. Nothing was changed.");
        (marks.retains() || Guard::Retain.is_recorded(copy)).then_some((Guard::Retain, problem))
    };
    let (guard, problem) = prevented().or_else(is_pinned).or_else(retained)?;
    let (name, ty, id) = (copy.name.clone(), copy.ty.clone(), copy.id.clone());
    Some((Loss::Record { name, ty, id, guard }, problem))
}

/// Returns the guards that the record has and its successor has not. A pin that was released does not count.
fn guard_losses(
    old: &Resource,
    new: &Resource,
    pins: &PinfileStatus,
) -> impl Iterator<Item = (Loss, Diagnostic)> {
    let lost = |guard: &Guard| match guard {
        // The record keeps its pin even if the pinfile lists it too: the file may be lost later.
        Guard::Pin => is_held(old, pins) && (old.pinned && !new.pinned || !is_held(new, pins)),
        guard => guard.is_recorded(old) && !guard.is_recorded(new),
    };
    let guards: Vec<Guard> =
        [Guard::PreventDelete, Guard::Pin, Guard::Retain].into_iter().filter(lost).collect();
    let (name, ty, id) = (old.name.clone(), old.ty.clone(), old.id.clone());
    guards.into_iter().map(move |guard| {
        let code = if guard == Guard::Pin { Code::PINNED } else { Code::GUARDED };
        let problem = Diagnostic::error(code, format!("state would lose {guard} of {name}"))
            .note(
                "Only a change of the program or of the mark itself removes protection. Nothing was changed.",
            )
            .help("remove the protection first, then try again");
        (Loss::Guard { name: name.clone(), ty: ty.clone(), id: id.clone(), guard }, problem)
    })
}

fn doubt_loss(name: &Name, operation: Operation) -> (Loss, Diagnostic) {
    let verb = operation.verb();
    let answer = |answer| NextStep::Resolve { name: name.clone(), answer };
    let message = format!("state would lose the {verb} of {name}, which is in doubt");
    let problem = Diagnostic::error(Code::IN_DOUBT, message)
        .note("Without its record, the operation could be sent twice. Nothing was changed.")
        .help(Hint::text("if it happened: ").then(answer(ResolveAnswer::Happened(operation))))
        .help(Hint::text("if it did not happen: ").then(answer(ResolveAnswer::DidNotHappen)));
    (Loss::Doubt { name: name.clone(), operation }, problem)
}

fn other_stack(holds: Holds) -> Diagnostic {
    let (message, why) = match holds {
        Holds::Records => (
            "the file is an export of another stack, and this stack has records of its own",
            "The records of this stack would be replaced by those of the other one. Nothing was changed.",
        ),
        Holds::Nothing => (
            "the file is an export of another stack",
            "Both stacks would record the same real resources, and each could delete them. Nothing was changed.",
        ),
    };
    Diagnostic::error(Code::OTHER_STACK, message)
        .note(why)
        .help("check the environment and the target")
        .help(Hint::text("if this is intended, pass ").then(NextStep::AcceptOtherStack))
}

fn export_is_older(recorded: u64, imported: u64) -> Diagnostic {
    let message =
        format!("the file is older than the stack: it has serial {imported}, and the stack has {recorded}");
    Diagnostic::error(Code::EXPORT_OLDER, message)
        .note("The changes after the export would be lost from state. Nothing was changed.")
}
