//! Resolves a rename: from the texts of a person to the new name of every resource that is meant.
//!
//! A text names one resource, or a place: a module or an instance of a class, with all resources in it. A text with two
//! readings is refused with both; the program tells which reading of a new name is meant.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{
    Code, Diagnostic, Hint, Lifecycle, Name, NameError, NameParts, NextStep, Place, Resource, ScopePart,
    check_id, nearest,
};
use stead_state::State;

use crate::ops::{OpError, find};

/// How many places an error names.
const MAX_PLACES: usize = 5;

/// A rename of a resource.
type Renamed<'a> = (&'a Resource, Name);

/// Returns the resources that `old` means, with their new names. `declared` are the names of the program, if known.
pub(super) fn renames<'a>(
    state: &'a State,
    old: &str,
    new: &str,
    declared: &BTreeSet<Name>,
) -> Result<Vec<Renamed<'a>>, OpError> {
    let renames = match meant(state, old)? {
        Meant::Resource(resource) => vec![(resource, new_name(&resource.name, new, declared)?)],
        Meant::Place(from) => {
            let readings = Place::readings(new, &from.environment).map_err(|error| unreadable(&error))?;
            let moves = |to: &Place| vec![(from.clone(), to.clone())];
            chosen(new, readings.iter().map(|to| moved(state, &moves(to))).collect(), declared)?
        }
        Meant::Class(instances) => {
            let own = &instances[0].environment;
            let readings = Place::readings(new, own).map_err(|error| unreadable(&error))?;
            let moves = |to: &Place| -> Vec<(Place, Place)> {
                instances.iter().map(|from| (from.clone(), with_id_of(to, from))).collect()
            };
            let candidates =
                readings.iter().filter(|to| instances.len() == 1 || keeps_ids(to)).collect::<Vec<_>>();
            if candidates.is_empty() {
                return Err(several_instances(state, old, &instances));
            }
            chosen(new, candidates.into_iter().map(|to| moved(state, &moves(to))).collect(), declared)?
        }
    };
    check(state, &renames)?;
    Ok(renames)
}

/// Returns the places of the program that declare all resources of a rename, under the same names inside the place.
///
/// A rename to one of these places is likely meant if the program does not declare the new names.
pub fn declared_places(declared: &BTreeSet<Name>, from: &Place, names: &[&Name]) -> Vec<Place> {
    let Some(first) = names.first() else { return Vec::new() };
    let candidates = declared.iter().filter_map(|name| around(name, first, from));
    let fits = |place: &Place| {
        names.iter().all(|name| from.renamed(name, place).is_some_and(|name| declared.contains(&name)))
    };
    let mut places: Vec<Place> = candidates.filter(fits).collect();
    places.dedup();
    places
}

/// Returns the place around `name` in which it is what `old` is in `from`.
fn around(name: &Name, old: &Name, from: &Place) -> Option<Place> {
    let (
        NameParts::Placed { scope, ty, id, .. },
        NameParts::Placed { scope: old, ty: old_ty, id: old_id, .. },
    ) = (&**name, &**old)
    else {
        return None;
    };
    let inside = old.get(from.scope.len()..)?;
    let same = ty == old_ty && id == old_id && scope.ends_with(inside);
    let place = name.place().filter(|_| same)?;
    Some(Place { scope: scope[..scope.len() - inside.len()].to_vec(), ..place })
}

/// The meaning of the old text of a rename.
enum Meant<'a> {
    Resource(&'a Resource),
    Place(Place),
    /// All instances of a class, which the text names without their ids.
    Class(Vec<Place>),
}

fn meant<'a>(state: &'a State, old: &str) -> Result<Meant<'a>, OpError> {
    if let Some(resource) = old.parse().ok().and_then(|name| state.by_name(&name)) {
        return Ok(Meant::Resource(resource));
    }
    let named = find(state, old);
    let own = current(state).next().map(|resource| resource.name.environment().clone());
    let readings = own.and_then(|own| Place::readings(old, &own).ok()).unwrap_or_default();
    let places = places_of(state);
    let recorded: Vec<&Place> = readings.iter().filter(|place| places.contains_key(place)).collect();
    match (named, recorded.as_slice()) {
        (Ok(resource), []) => Ok(Meant::Resource(resource)),
        (_, [first, ..]) if first.to_string() == old => Ok(Meant::Place((*first).clone())),
        (Err(_), [only]) => Ok(Meant::Place((*only).clone())),
        (Err(error), []) => {
            let instances = readings.iter().map(|class| instances_of(&places, class));
            match instances.filter(|found| !found.is_empty()).collect::<Vec<_>>().as_slice() {
                [instances] => Ok(Meant::Class(instances.clone())),
                _ => Err(no_such_place(&places, old).unwrap_or(error)),
            }
        }
        (named, places) => {
            let resource = named.ok().map(|resource| resource.name.to_string());
            let all = resource.into_iter().chain(places.iter().map(ToString::to_string));
            Err(two_readings(old, all))
        }
    }
}

fn current(state: &State) -> impl Iterator<Item = &Resource> {
    state.resources().into_iter().filter(|resource| resource.lifecycle != Lifecycle::Condemned)
}

/// Returns every place that has resources, with their number.
fn places_of(state: &State) -> BTreeMap<Place, usize> {
    let mut places: BTreeMap<Place, usize> = BTreeMap::new();
    for place in current(state).filter_map(|resource| resource.name.place()) {
        for depth in 0..=place.scope.len() {
            let around = Place { scope: place.scope[..depth].to_vec(), ..place.clone() };
            *places.entry(around).or_default() += 1;
        }
    }
    places
}

/// Returns the recorded instances of a class that is written without an id.
fn instances_of(places: &BTreeMap<Place, usize>, class: &Place) -> Vec<Place> {
    let Some((ScopePart { class: name, id: None }, outer)) = class.scope.split_last() else {
        return Vec::new();
    };
    let is_instance = |place: &&Place| {
        place.module == class.module
            && place.environment == class.environment
            && place.scope.split_last().is_some_and(|(last, rest)| last.class == *name && rest == outer)
    };
    places.keys().filter(is_instance).cloned().collect()
}

/// Returns true if the place is a class without an id, so that instances can keep theirs.
fn keeps_ids(to: &Place) -> bool {
    to.instance().is_some_and(|part| part.id.is_none())
}

/// Returns the new place of an instance. A class without an id keeps the id of the instance.
fn with_id_of(to: &Place, from: &Place) -> Place {
    let mut to = to.clone();
    if let (Some(part), Some(old)) = (to.scope.last_mut(), from.instance())
        && part.id.is_none()
    {
        part.id.clone_from(&old.id);
    }
    to
}

fn moved<'a>(state: &'a State, moves: &[(Place, Place)]) -> Vec<Renamed<'a>> {
    let new = |resource: &Resource| moves.iter().find_map(|(from, to)| from.renamed(&resource.name, to));
    current(state).filter_map(|resource| Some((resource, new(resource)?))).collect()
}

/// Returns the reading whose names the program declares, else the first one, which is that of the grammar.
fn chosen<'a>(
    text: &str,
    mut readings: Vec<Vec<Renamed<'a>>>,
    declared: &BTreeSet<Name>,
) -> Result<Vec<Renamed<'a>>, OpError> {
    let is_declared = |renames: &Vec<Renamed<'a>>| renames.iter().any(|(_, to)| declared.contains(to));
    let fitting: Vec<usize> = (0..readings.len()).filter(|at| is_declared(&readings[*at])).collect();
    match fitting.as_slice() {
        [] => Ok(readings.swap_remove(0)),
        [only] => Ok(readings.swap_remove(*only)),
        several => {
            let first = |at: &usize| readings[*at].first().map(|(_, to)| to.to_string());
            Err(two_readings(text, several.iter().filter_map(first)))
        }
    }
}

/// Returns the new name: a whole one, or the old one with another id.
fn new_name(old: &Name, new: &str, declared: &BTreeSet<Name>) -> Result<Name, OpError> {
    if !new.contains([':', '#']) {
        check_id(new).map_err(|error| unreadable(&error))?;
        return Ok(old.with_id(new.to_owned()));
    }
    let readings = Name::readings_in(new, old.environment()).map_err(|error| unreadable(&error))?;
    let mut fitting = readings.iter().filter(|name| declared.contains(name));
    match (fitting.next(), fitting.next()) {
        (Some(one), Some(other)) => Err(two_readings(new, [one.to_string(), other.to_string()])),
        (Some(one), None) => Ok(one.clone()),
        (None, _) => Ok(readings[0].clone()),
    }
}

fn check(state: &State, renames: &[Renamed<'_>]) -> Result<(), OpError> {
    for (resource, to) in renames {
        let cannot = |why: String| {
            Diagnostic::error(Code::CANNOT_RENAME, format!("{} cannot become {to}: {why}", resource.name))
        };
        if let NameParts::Placed { ty: said, .. } = &**to
            && *said != resource.ty
        {
            return Err(OpError::refused(cannot(format!("it is a {}", resource.ty))));
        }
        if let Some(holder) = state.by_name(to) {
            let hint = Hint::text("rename that one first: ")
                .then(NextStep::RenameFrom { from: holder.name.clone() });
            let problem = cannot("that is the name of another resource".to_owned()).help(hint);
            return Err(OpError::refused(problem));
        }
    }
    Ok(())
}

fn two_readings(text: &str, readings: impl IntoIterator<Item = String>) -> OpError {
    let problem = Diagnostic::error(Code::NOT_FOUND, format!("{text:?} has more than one meaning"));
    let problem = readings.into_iter().fold(problem.note("Nothing was changed."), |problem, reading| {
        problem.note(format!("it may mean {reading}"))
    });
    OpError::not_found(problem.help("use one of these names, with its environment"))
}

fn several_instances(state: &State, old: &str, instances: &[Place]) -> OpError {
    let places = places_of(state);
    let message = format!("{old:?} has {} instances, which cannot all get one id", instances.len());
    let problem = Diagnostic::error(Code::NOT_FOUND, message).note("Nothing was changed.");
    OpError::not_found(listed(problem, &places, instances.iter()))
}

/// Names the place that is nearest to a text.
fn no_such_place(places: &BTreeMap<Place, usize>, wanted: &str) -> Option<OpError> {
    let texts: BTreeMap<String, &Place> = places.keys().map(|place| (place.to_string(), place)).collect();
    let meant = nearest(wanted, texts.keys().map(String::as_str))?;
    let message = format!("no resource and no scope is called {wanted:?}");
    let problem = Diagnostic::error(Code::NOT_FOUND, message).note("Nothing was changed.");
    Some(OpError::not_found(listed(problem, places, texts.get(meant).copied())))
}

fn listed<'p>(
    problem: Diagnostic,
    places: &BTreeMap<Place, usize>,
    meant: impl IntoIterator<Item = &'p Place>,
) -> Diagnostic {
    meant.into_iter().take(MAX_PLACES).fold(problem, |problem, place| {
        let count = places.get(place).copied().unwrap_or_default();
        let inside = if count == 1 { "1 resource is".to_owned() } else { format!("{count} resources are") };
        problem.help(format!("did you mean \"{place}\"? {inside} in it"))
    })
}

fn unreadable(problem: &NameError) -> OpError {
    OpError::invalid(Diagnostic::error(Code::CANNOT_RENAME, problem.to_string()))
}
