//! Edits of names and of the protection on a record.

use std::collections::BTreeSet;

use stead_guard::pins::physical_path;
use stead_model::{Code, Diagnostic, Hint, Name, NameParts, NextStep, Resource, check_id};
use stead_state::{Record, State};

use super::renames::renames;
use super::{Change, EditChange, ProposedEdit, Protection, Work};
use crate::ops::protection::with_pin;
use crate::ops::{OpError, OpEvent, RunKind, Wait, Workspace, find};

impl Workspace {
    pub(super) async fn rename(
        &self,
        from: &str,
        to: &str,
        declared: &BTreeSet<Name>,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<ProposedEdit, OpError> {
        let loaded = self.load_settled(wait, events).await?;
        let pins = self.listed_pins()?;
        let renames = renames(&loaded.state, from, to, declared)?;
        let record = |(resource, to): &(&Resource, Name)| Record::Amend {
            resource: Box::new(renamed(&loaded.state, with_pin(resource, &pins), to)),
        };
        let records = renames.iter().map(record).collect();
        let change = |(resource, to): &(&Resource, Name)| EditChange::Renamed {
            from: resource.name.clone(),
            to: to.clone(),
        };
        let changes = renames.iter().map(change).collect();
        let work = Work::Append { kind: RunKind::Rename, records };
        Ok(self.proposed_on(loaded, work, changes))
    }

    pub(super) async fn move_name(
        &self,
        from: &str,
        to: &str,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<ProposedEdit, OpError> {
        self.load_existing().await?;
        let loaded = self.load_settled(wait, events).await?;
        let resource = find(&loaded.state, from)?;
        let (from, to) = (resource.name.clone(), moved_name(resource, to)?);
        if loaded.state.by_name(&to).is_some() {
            return Err(taken(&to));
        }
        let copies = loaded.state.copies_of(&resource.uid);
        let pins = self.listed_pins()?;
        let renamed = copies.map(|copy| Resource { name: to.clone(), ..with_pin(copy, &pins) });
        let records = renamed.map(|resource| Record::Amend { resource: Box::new(resource) }).collect();
        let work = Work::Append { kind: RunKind::Move, records };
        Ok(self.proposed_on(loaded, work, vec![EditChange::Renamed { from, to }]))
    }

    pub(super) async fn protect(
        &self,
        name: &str,
        protection: Protection,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<ProposedEdit, OpError> {
        let loaded = self.load_settled(wait, events).await?;
        let resource = find(&loaded.state, name)?;
        let protected = protection == Protection::Set;
        let differing =
            loaded.state.copies_of(&resource.uid).filter(|copy| copy.marks.protected != protected);
        let records: Vec<Record> = differing
            .cloned()
            .map(|mut copy| {
                copy.marks.protected = protected;
                Record::Amend { resource: Box::new(copy) }
            })
            .collect();
        let still_set_by = if protected { None } else { program_mark(resource) };
        let changes = if records.is_empty() { Change::None } else { Change::Made };
        let change = EditChange::Protection { name: resource.name.clone(), changes, still_set_by };
        let kind = if protected { RunKind::Protect } else { RunKind::Unprotect };
        let work = match changes {
            Change::Made => Work::Append { kind, records },
            Change::None => Work::Nothing,
        };
        Ok(self.proposed_on(loaded, work, vec![change]))
    }
}

impl Workspace {
    /// Ends recorded pins. Operations of an interrupted run are left to the next run, which may need them.
    pub(super) async fn end_pins(
        &self,
        paths: &BTreeSet<String>,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<ProposedEdit, OpError> {
        let loaded = self.load_in_turn(wait, events).await?;
        let is_meant = |copy: &&Resource| copy.pinned && paths.contains(&physical_path(&copy.name, &copy.ty));
        let mut ended: Vec<&Resource> = loaded.state.copies().filter(is_meant).collect();
        ended.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        if !ended.is_empty() && loaded.state.pending().next().is_some() {
            let message = "an interrupted run left operations that are not finished";
            return Err(OpError::refused(Diagnostic::error(Code::IN_DOUBT, message)));
        }
        let unpinned = |copy: &&Resource| Resource { pinned: false, ..(*copy).clone() };
        let records = ended.iter().map(unpinned).map(|copy| Record::Amend { resource: Box::new(copy) });
        let records: Vec<Record> = records.collect();
        let mut changes: Vec<EditChange> =
            ended.iter().map(|copy| EditChange::PinEnded { name: copy.name.clone() }).collect();
        changes.dedup();
        let work = match records.is_empty() {
            true => Work::Nothing,
            false => Work::Append { kind: RunKind::EndPin, records },
        };
        Ok(self.proposed_on(loaded, work, changes))
    }
}

pub(super) fn taken(name: &Name) -> OpError {
    let problem = Diagnostic::error(Code::NAME_TAKEN, format!("there is a resource {name} already"));
    OpError::refused(problem.note("Nothing was changed."))
}

/// The setting of prevent-delete in the program or around it, as recorded.
fn program_mark(resource: &Resource) -> Option<String> {
    let mut bare = resource.clone();
    bare.marks.protected = false;
    bare.recorded_marks().prevent_delete.filter(|mark| mark.value).map(|mark| mark.source.to_string())
}

/// The record under its new name. The old name becomes an alias, so that a program that still has it finds the resource.
fn renamed(state: &State, resource: Resource, to: &Name) -> Resource {
    let old = resource.name.clone();
    let mut record = Resource { name: to.clone(), ..resource };
    let aliases = &mut record.ties.aliases;
    // A former name belongs to one resource: the one that had it first keeps it.
    if state.by_former_name(&old).is_none_or(|uid| *uid == record.uid) {
        aliases.push(old);
    }
    aliases.retain(|alias| alias != to);
    aliases.sort_unstable();
    aliases.dedup();
    record
}

/// Returns the new name: a whole one, or the old one with another id. Environment and type stay the same.
fn moved_name(resource: &Resource, text: &str) -> Result<Name, OpError> {
    let usage = |message: String| Diagnostic::error(Code::USAGE, message);
    let parsed: Result<Name, _> = match text.contains([':', '#']) {
        true => {
            Name::readings_in(text, resource.name.environment()).map(|mut readings| readings.swap_remove(0))
        }
        false => check_id(text).map(|()| resource.name.with_id(text.to_owned())),
    };
    let name =
        parsed.map_err(|error| OpError::invalid(usage(format!("cannot use {text:?} as a name: {error}"))))?;
    if name.environment() != resource.name.environment() {
        let problem = usage(format!("{name} is a name of another environment"));
        return Err(OpError::invalid(
            problem.help(Hint::text("move it there with ").then(NextStep::MoveToStack)),
        ));
    }
    if let NameParts::Placed { ty: token, .. } = &*name
        && *token != resource.ty
    {
        let message = format!("{name} is a name of another type; this is a {}", resource.ty);
        return Err(OpError::invalid(usage(message)));
    }
    Ok(name)
}
