//! Moves resources to another stack of the project.

use std::collections::BTreeSet;

use stead_model::{Code, Diagnostic, Hint, Name, NextStep, ProviderPlace, ProviderPlaces, Resource, Uid};
use stead_plan::Follow;
use stead_state::{OutsideLinks, State, forget_digests, has_encrypted_values, relocated};

use super::names::taken;
use super::{EditChange, ProposedEdit, StackMove, Work};
use crate::ops::keys::locked_value_of;
use crate::ops::places::{does_not_tell, in_use, is_of_default, unknown};
use crate::ops::protection::missing_pins;
use crate::ops::{OpError, OpEvent, Wait, Workspace, find};
use crate::secrets::locked_record;

impl Workspace {
    pub(super) async fn move_to_stack(
        &self,
        names: &[String],
        to: &Workspace,
        dependencies: Follow,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<ProposedEdit, OpError> {
        if to.stack.keys == self.stack.keys {
            let message = format!("the resources are in environment {} already", to.environment());
            return Err(OpError::invalid(Diagnostic::error(Code::USAGE, message)));
        }
        self.load_existing().await?;
        to.load_existing().await?;
        let source = self.load_finished(wait, events).await?;
        let target = to.load_finished(wait, events).await?;
        let mut uids = BTreeSet::new();
        for name in names {
            uids.insert(find(&source.state, name)?.uid.clone());
        }
        if dependencies == Follow::Yes {
            uids.extend(source.state.outside_links(&uids).dependencies);
        }
        nothing_is_torn_apart(&source.state, &source.state.outside_links(&uids))?;
        let places = self.places_for(&source.state, (to, &target.state), &uids).await?;
        let environment = to.environment().clone();
        let named = uids.iter().filter_map(|uid| source.state.name_of(uid));
        let renamed =
            |from: &Name| EditChange::Renamed { from: from.clone(), to: from.in_environment(&environment) };
        let mut changes: Vec<EditChange> = named.map(renamed).collect();
        for change in &changes {
            if let EditChange::Renamed { to: name, .. } = change
                && target.state.by_name(name).is_some()
            {
                return Err(taken(name));
            }
        }
        let moved: Vec<Resource> = uids
            .iter()
            .flat_map(|uid| source.state.copies_of(uid))
            .map(|copy| relocated(copy, &environment))
            .collect();
        if moved.iter().any(has_encrypted_values) {
            self.require_both_keys(&source.state, to, &target.state).await?;
            if let Some(locked) = moved.iter().find_map(locked_record) {
                return Err(OpError::refused(locked_value_of(locked)));
            }
        }
        changes.extend(moved.into_iter().filter_map(|mut copy| {
            let properties = forget_digests(&mut copy);
            (!properties.is_empty()).then_some(EditChange::SentAgain { name: copy.name, properties })
        }));
        let copies = uids.iter().flat_map(|uid| source.state.copies_of(uid));
        let pins = missing_pins(copies, &self.listed_pins()?);
        let work = Work::MoveToStack(Box::new(StackMove {
            target: to.stack.clone(),
            version: target.version,
            environment,
            uids,
            pins,
            places,
        }));
        Ok(self.proposed_on(source, work, changes))
    }
}

impl Workspace {
    /// Returns the places that the target has to record for the moved resources. A target with resources in another place is
    /// refused, because an id belongs to its place. A stack whose place is not recorded is where its provider leads.
    async fn places_for(
        &self,
        source: &State,
        (to, target): (&Workspace, &State),
        uids: &BTreeSet<Uid>,
    ) -> Result<Option<ProviderPlaces>, OpError> {
        let providers = &self.engine.providers;
        let (bound, mut places) = (in_use(target, providers), target.places().clone());
        for provider in in_use(source, providers) {
            let mut copies = uids.iter().flat_map(|uid| source.copies_of(uid));
            if !copies.any(|copy| is_of_default(copy, &provider, providers)) {
                continue;
            }
            let here = self.place_of(source, &provider).await?;
            let there = match bound.contains(&provider) {
                true => Some(to.place_of(target, &provider).await?),
                // A place without resources binds to nothing.
                false => None,
            };
            match (here, there) {
                (Some(here), Some(Some(there))) if here != there => return Err(torn_places(&here, &there)),
                (Some(here), Some(Some(_)) | None) => drop(places.0.insert(provider, here)),
                (Some(_), Some(None)) | (None, Some(Some(_))) => {
                    return Err(OpError::Read(vec![unknown(&does_not_tell(&provider))]));
                }
                (None, Some(None) | None) => {}
            }
        }
        Ok(Some(places).filter(|places| places != target.places()))
    }
}

fn torn_places(here: &ProviderPlace, there: &ProviderPlace) -> OpError {
    let message = "the resources of the other stack are in another place than these";
    let problem = Diagnostic::error(Code::OTHER_PLACE, message)
        .note(format!("These are in {here}."))
        .note(format!("Those of the other stack are in {there}."))
        .note("Nothing was changed.");
    OpError::Guarded(vec![problem])
}

/// Moved resources take their dependencies along, and leave no dependent behind.
fn nothing_is_torn_apart(state: &State, bonds: &OutsideLinks) -> Result<(), OpError> {
    let names = |uids: &BTreeSet<Uid>| -> Vec<String> {
        let mut names: Vec<String> =
            uids.iter().filter_map(|uid| state.name_of(uid)).map(Name::to_string).collect();
        names.sort();
        names
    };
    let bound = |message: &str, uids: &BTreeSet<Uid>| {
        let problem = Diagnostic::error(Code::SPLIT_DEPENDENCY, message);
        names(uids).into_iter().fold(problem, Diagnostic::note)
    };
    let mut problems = Vec::new();
    if !bonds.dependencies.is_empty() {
        let hint = Hint::text("take them along with ").then(NextStep::SelectDependencies);
        let problem = bound("they depend on resources that would stay behind", &bonds.dependencies);
        problems.push(problem.help(hint).note("Nothing was changed."));
    }
    if !bonds.dependents.is_empty() {
        let problem = bound("resources that would stay behind depend on them", &bonds.dependents);
        problems.push(problem.help("move these too: name them as well").note("Nothing was changed."));
    }
    if problems.is_empty() { Ok(()) } else { Err(OpError::Refused(problems)) }
}
