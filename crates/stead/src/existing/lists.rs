//! Lists of real resources: types by themselves, and types within each resource of their parent.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::StreamExt as _;
use stead_engine::ops::{ListScope, Workspace};
use stead_model::{Map, PhysicalId, Text, TypeToken};
use stead_provider::{ListParent, Listed, LiveState};
use stead_state::State;

type Key = (TypeToken, PhysicalId);

/// Result of all lists.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) ids: Vec<Key>,
    /// Types that could not be listed, each with the reason.
    pub(super) unlisted: Vec<(TypeToken, String)>,
    /// Parents that were read for their properties.
    pub(super) read: BTreeMap<Key, LiveState>,
    /// Parents, and resources with an owner that is not known, that could not be read, each with the reason.
    pub(super) unread: Vec<(TypeToken, PhysicalId, String)>,
    /// Properties of all resources of the types that are parents. `None`: the type could not be listed.
    parents: BTreeMap<TypeToken, Option<Vec<Map>>>,
}

/// A type to list.
struct Subject {
    parent: ListParent,
    /// A parent of a wanted type need not be wanted itself.
    is_wanted: bool,
    is_parent: bool,
}

/// Resources of one type.
#[derive(Default)]
struct OfType {
    ids: Vec<PhysicalId>,
    /// Resources whose owner is not known, each with the reason.
    unread: Vec<(PhysicalId, String)>,
    failure: Option<String>,
    /// All ids, for a type that is a parent.
    all: Option<Vec<PhysicalId>>,
}

/// Lists types, parents before their children.
pub(super) async fn lists(
    workspace: &Workspace,
    types: Vec<TypeToken>,
    scope: ListScope,
    state: &State,
) -> Lists {
    let order: BTreeMap<TypeToken, usize> =
        types.iter().enumerate().rev().map(|(at, ty)| (ty.clone(), at)).collect();
    let mut left = subjects(workspace, types);
    let mut lists = Lists::default();
    while !left.is_empty() {
        let is_ready = |subject: &Subject| match &subject.parent.of {
            Some((parent, _)) if !subject.parent.keys.is_empty() => lists.parents.contains_key(parent),
            _ => true,
        };
        let ready: Vec<TypeToken> =
            left.iter().filter(|(_, subject)| is_ready(subject)).map(|(ty, _)| ty.clone()).collect();
        // Two types that are parents of each other are listed by nobody; each then tells what its list needs.
        let ready = if ready.is_empty() { left.keys().cloned().collect() } else { ready };
        let round: Vec<(TypeToken, Subject)> =
            ready.into_iter().filter_map(|ty| left.remove_entry(&ty)).collect();
        lists.add(workspace, &round, scope, state).await;
    }
    // The order of the types decides which resource gets the plain name.
    lists.unlisted.sort_by_key(|(ty, _)| order.get(ty).copied());
    lists.ids.sort_by_key(|(ty, _)| order.get(ty).copied());
    lists
}

/// Returns the types with their parents and the parents of these.
fn subjects(workspace: &Workspace, types: Vec<TypeToken>) -> BTreeMap<TypeToken, Subject> {
    let subject = |ty: &TypeToken| {
        let listing = workspace.engine.providers.of(ty).and_then(|provider| provider.listing());
        let parent = listing.map(|listing| listing.parent(ty)).unwrap_or_default();
        Subject { parent, is_wanted: false, is_parent: false }
    };
    let mut all: BTreeMap<TypeToken, Subject> = BTreeMap::new();
    let mut next = types.clone();
    while let Some(ty) = next.pop() {
        if all.contains_key(&ty) {
            continue;
        }
        let found = subject(&ty);
        next.extend(found.parent.of.iter().map(|(parent, _)| parent.clone()));
        all.insert(ty, found);
    }
    let parents: BTreeSet<TypeToken> =
        all.values().filter_map(|subject| Some(subject.parent.of.as_ref()?.0.clone())).collect();
    for (ty, subject) in &mut all {
        (subject.is_wanted, subject.is_parent) = (types.contains(ty), parents.contains(ty));
    }
    all
}

impl Lists {
    async fn add(
        &mut self,
        workspace: &Workspace,
        round: &[(TypeToken, Subject)],
        scope: ListScope,
        state: &State,
    ) {
        let questions: Vec<_> =
            round.iter().map(|(ty, subject)| (ty, subject, self.models(&subject.parent))).collect();
        let answers = futures_util::stream::iter(questions).map(|(ty, subject, models)| async move {
            let listed = match models {
                Ok(models) => list(workspace, ty, subject, &models, scope).await,
                Err(reason) => OfType { failure: Some(reason), ..OfType::default() },
            };
            (ty, subject, listed)
        });
        for (ty, subject, listed) in answers.buffered(workspace.engine.parallel).collect::<Vec<_>>().await {
            let OfType { ids, unread, failure, all } = listed;
            self.unlisted.extend(failure.filter(|_| subject.is_wanted).map(|reason| (ty.clone(), reason)));
            if subject.is_wanted {
                self.ids.extend(ids.into_iter().map(|id| (ty.clone(), id)));
                self.unread.extend(unread.into_iter().map(|(id, reason)| (ty.clone(), id, reason)));
            }
            if subject.is_parent {
                let properties = match all {
                    Some(ids) => Some(self.properties(workspace, ty, ids, state).await),
                    None => None,
                };
                self.parents.insert(ty.clone(), properties);
            }
        }
    }

    /// Returns the resource models to list a type with: one for each parent.
    fn models(&self, parent: &ListParent) -> Result<Vec<Map>, String> {
        if parent.keys.is_empty() {
            return Ok(vec![Map::new()]);
        }
        let needs = parent.keys.join(" and ");
        let Some((ty, properties)) = &parent.of else {
            return Err(format!("it is listed within a parent: {needs} is needed"));
        };
        let Some(Some(parents)) = self.parents.get(ty) else {
            return Err(format!("it is listed within its parent {ty}, which cannot be listed"));
        };
        let mut models: Vec<Map> = Vec::new();
        for found in parents {
            let pairs = parent.keys.iter().zip(properties);
            let model: Option<Map> = pairs
                .map(|(key, property)| {
                    Some((Text::from(key.as_str()), found.get(property.as_str())?.clone()))
                })
                .collect();
            models.extend(model.filter(|model| !models.contains(model)));
        }
        Ok(models)
    }

    /// Returns the properties of all resources of a type, from their records or from reads.
    async fn properties(
        &mut self,
        workspace: &Workspace,
        ty: &TypeToken,
        ids: Vec<PhysicalId>,
        state: &State,
    ) -> Vec<Map> {
        let recorded: BTreeMap<&PhysicalId, &Map> = state
            .copies()
            .filter(|copy| copy.ty == *ty)
            .filter_map(|copy| Some((copy.id.as_ref()?, &copy.outputs)))
            .collect();
        let (known, unknown): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| recorded.contains_key(id));
        let mut all: Vec<Map> = known.iter().map(|id| recorded[id].clone()).collect();
        let reads = futures_util::stream::iter(unknown).map(|id| async move {
            let read = workspace.engine.find(ty, &id, None).await;
            (id, read)
        });
        for (id, read) in reads.buffered(workspace.engine.parallel).collect::<Vec<_>>().await {
            match read {
                Ok(Some(live)) => {
                    all.push(live.outputs.clone());
                    self.read.insert((ty.clone(), id), live);
                }
                Ok(None) => {}
                Err(refusal) => self.unread.push((ty.clone(), id, refusal.message)),
            }
        }
        all
    }
}

/// Lists a type with each of the models.
async fn list(
    workspace: &Workspace,
    ty: &TypeToken,
    subject: &Subject,
    models: &[Map],
    scope: ListScope,
) -> OfType {
    let (listed, failure) = match subject.is_wanted {
        true => within(workspace, ty, models, scope).await,
        false => (Vec::new(), None),
    };
    let all = match (subject.is_parent, scope, subject.is_wanted) {
        (false, ..) => None,
        (true, ListScope::All, true) => Some((listed.clone(), failure.clone())),
        (true, ..) => Some(within(workspace, ty, models, ListScope::All).await),
    };
    let ids_of = |listed: Vec<Listed>| listed.into_iter().map(|one| one.id).collect();
    let all = all.and_then(|(all, failure)| (failure.is_none() || !all.is_empty()).then(|| ids_of(all)));
    let (mut ids, mut unread) = (Vec::new(), Vec::new());
    for one in listed {
        match one.unread {
            None => ids.push(one.id),
            Some(reason) => unread.push((one.id, reason)),
        }
    }
    OfType { ids, unread, failure, all }
}

/// Returns the resources of a type within each of the models, and why one of the lists failed.
async fn within(
    workspace: &Workspace,
    ty: &TypeToken,
    models: &[Map],
    scope: ListScope,
) -> (Vec<Listed>, Option<String>) {
    let Some(listing) = workspace.engine.providers.of(ty).and_then(|provider| provider.listing()) else {
        return (Vec::new(), Some("its provider cannot list resources".to_owned()));
    };
    let (mut ids, mut failure) = (BTreeSet::new(), None);
    for model in models {
        match listing.list(ty, scope, model).await {
            Ok(listed) => ids.extend(listed),
            Err(refusal) => failure = Some(refusal.message),
        }
    }
    (ids.into_iter().collect(), failure)
}
