//! Owners: one real resource belongs to one stack, and within a stack to one record.
//!
//! Marks at the providers name the owners. They are asked when a plan is made, and again at each call. **Invariants:** a
//! missing mark never refuses anything; a mark refuses only while the state that it names records the resource; marks
//! that cannot be read or written are a warning.

mod calls;
mod identities;
mod list;
mod marks;
mod retained;
mod verdict;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use stead_journal::{JournalError, StackKeys, load};
use stead_model::{Resource, StackId, Uid};
use stead_plan::Glob;
use stead_provider::{MarksUnavailable, OwnerMark, StatePlace};
use stead_state::{Intent, State};
use stead_store::Store;

pub(crate) use calls::RunOwners;
pub(crate) use identities::identities_of;
pub use list::OwnedThing;

/// Most renames of a stack that a mark is followed through.
const MAX_RENAMES: usize = 8;

/// Opens the stores that owner marks name.
pub trait Stores: Send + Sync {
    /// Returns the store, or `None` if this process has no access to it.
    fn open(&self, store: &str) -> Option<Arc<dyn Store>>;
}

/// The stack that claims real resources, and the way to look at other stacks.
#[derive(Clone)]
pub struct Owners {
    /// Where the state of this stack is.
    pub place: StatePlace,
    pub stores: Arc<dyn Stores>,
    /// Resources that may be taken from another stack.
    pub take_over: Vec<Glob>,
    problem: Arc<Mutex<Option<String>>>,
}

/// Whether the owner that a mark names still exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The mark names this stack.
    Own,
    /// Another stack records the resource.
    Living,
    /// No stack records the resource under this mark.
    Stale,
    /// The state that the mark names cannot be read, for this reason.
    Unreadable(String),
}

impl Owners {
    pub fn new(place: StatePlace, stores: Arc<dyn Stores>) -> Owners {
        Owners { place, stores, take_over: Vec::new(), problem: Arc::default() }
    }

    /// Returns the owners of another stack in the same store.
    #[must_use]
    pub fn of_sibling(&self, environment: &str, target: &str) -> Owners {
        let (environment, target) = (environment.to_owned(), target.to_owned());
        Owners { place: StatePlace { environment, target, ..self.place.clone() }, ..self.clone() }
    }

    /// Returns the mark of a record of this stack.
    pub(crate) fn mark(&self, stack: &StackId, resource: &Resource) -> OwnerMark {
        let (uid, name) = (resource.uid.clone(), resource.name.clone());
        OwnerMark { stack: stack.clone(), uid, name, place: self.place.clone() }
    }

    pub(crate) fn takes_over(&self, resource: &Resource) -> bool {
        self.take_over.iter().any(|glob| glob.matches(&resource.name))
    }

    /// Looks whether the state that a mark names records the resource.
    pub(crate) async fn standing(&self, mark: &OwnerMark) -> Standing {
        Stacks::default().standing(self, mark).await
    }

    /// Keeps the first reason why marks could not be read or written, for a warning.
    pub(crate) fn note(&self, MarksUnavailable(reason): MarksUnavailable) {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }

    /// Returns why marks could not be read or written, once.
    pub fn take_problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Other stacks, each read once for a plan or a list.
#[derive(Default)]
pub(crate) struct Stacks {
    read: HashMap<StatePlace, Found>,
}

/// A stack at the place that a mark names.
#[derive(Clone)]
enum Found {
    This,
    Other(Arc<State>),
    Unreadable(String),
}

impl Stacks {
    pub(crate) async fn standing(&mut self, owners: &Owners, mark: &OwnerMark) -> Standing {
        let found = match self.read.get(&mark.place) {
            Some(found) => found.clone(),
            None => {
                let found = owners.find(&mark.place).await;
                self.read.insert(mark.place.clone(), found.clone());
                found
            }
        };
        match found {
            Found::This => Standing::Own,
            Found::Other(state) if records(&state, &mark.uid) => Standing::Living,
            Found::Other(_) => Standing::Stale,
            Found::Unreadable(reason) => Standing::Unreadable(reason),
        }
    }
}

impl Owners {
    /// Reads the stack at a place, and follows the renames of that stack.
    async fn find(&self, place: &StatePlace) -> Found {
        let mut place = place.resolved(&self.place);
        if place.is_digest() {
            return Found::Unreadable("the mark has no room for its whole path".to_owned());
        }
        for _ in 0..MAX_RENAMES {
            if place == self.place {
                return Found::This;
            }
            let Some(store) = self.stores.open(&place.store) else {
                return Found::Unreadable("this process has no access to the store".to_owned());
            };
            match load(&store, &StackKeys::new(&place.project, &place.environment, &place.target)).await {
                Ok(loaded) => return Found::Other(loaded.state),
                Err(JournalError::Renamed { to }) => place.environment = to,
                Err(error) => return Found::Unreadable(error.to_string()),
            }
        }
        Found::Unreadable("the stack was renamed too many times".to_owned())
    }
}

/// Returns true if the state records the resource, or a create of it is under way.
fn records(state: &State, uid: &Uid) -> bool {
    let creates = |intent: &Intent| matches!(intent, Intent::Create { resource, .. } if resource.uid == *uid);
    state.copies_of(uid).next().is_some() || state.pending().any(|pending| creates(&pending.intent))
}
