//! Places of the default providers: recorded with the stack, and compared before a provider is called for it. A look-up of a program
//! may read before, because the program is evaluated while the state is loaded; no plan is made of its answer.
//!
//! A physical id is one of its place. **Invariant:** no operation reads or changes a real resource through a
//! default provider whose settings or credentials lead to another place than the recorded one. A place is recorded before
//! the first operation there.

use std::collections::BTreeSet;
use std::time::Duration;

use stead_model::{
    Code, Diagnostic, Graph, Hint, NextStep, NodeKind, ProviderPlace, ProviderPlaces, Resource, TypeToken,
};
use stead_provider::{Providers, Refusal};
use stead_state::{Intent, Pending, Record, State};

use crate::Engine;
use crate::ops::{OpError, Workspace};

/// Time in which a provider has to tell its place.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How a provider counts that does not tell its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Untold {
    /// Providers are called next, so that the operation ends here.
    Refuse,
    /// No provider is called yet.
    Note,
}

/// Result of a comparison in which no place was another one.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComparedPlaces {
    /// All places of the stack, if they are not recorded like this.
    pub(crate) new: Option<ProviderPlaces>,
    /// Sentences on the providers whose places could not be compared.
    pub(crate) untold: Vec<String>,
}

impl ComparedPlaces {
    /// Takes the record of the places, if there is one to write.
    pub(crate) fn record(&mut self) -> Option<Record> {
        Some(Record::Places { places: self.new.take()? })
    }

    /// Fails if a place could not be compared.
    pub(crate) fn all_told(&self) -> Result<(), OpError> {
        match self.untold.as_slice() {
            [] => Ok(()),
            untold => Err(OpError::Read(untold.iter().map(|message| unknown(message)).collect())),
        }
    }
}

/// A default provider of a stack, with the place of its resources.
#[derive(Clone, Debug)]
pub struct DefaultPlace {
    pub provider: String,
    /// The recorded place; `None` before the first run there.
    pub recorded: Option<ProviderPlace>,
    /// The place to which settings and credentials lead now, or why it is not known.
    pub now: Result<ProviderPlace, String>,
}

impl Workspace {
    /// Returns the default providers that have resources in the stack, with their places.
    pub async fn default_places(&self) -> Result<Vec<DefaultPlace>, OpError> {
        let state = self.load_existing().await?.state;
        let mut places = Vec::new();
        for provider in in_use(&state, &self.engine.providers) {
            let now = match self.engine.default_place(&provider, Untold::Refuse).await {
                Ok(Some(now)) => Ok(now),
                Ok(None) => Err(does_not_tell(&provider)),
                Err(refusal) => Err(refusal.message),
            };
            let recorded = state.places().of(&provider).cloned();
            places.push(DefaultPlace { provider, recorded, now });
        }
        Ok(places)
    }

    /// Compares the places of the default providers that serve recorded or declared resources, or one of `types`.
    pub(crate) async fn compare_places(
        &self,
        state: &State,
        (graph, types): (Option<&Graph>, &[&TypeToken]),
        untold: Untold,
    ) -> Result<ComparedPlaces, OpError> {
        let providers = &self.engine.providers;
        let bound = in_use(state, providers);
        let mut asked = bound.clone();
        asked.extend(graph.into_iter().flat_map(|graph| declared(graph, providers)));
        let placed = |ty: &&&TypeToken| providers.with_places().any(|name| name == ty.provider());
        asked.extend(types.iter().filter(placed).map(|ty| ty.provider().to_owned()));
        let (mut compared, mut problems) = (ComparedPlaces::default(), Vec::new());
        let mut places = state.places().clone();
        for provider in asked {
            // A place without resources binds to nothing.
            let recorded = state.places().of(&provider).filter(|_| bound.contains(&provider));
            let found = self.engine.default_place(&provider, untold).await;
            match (recorded, found) {
                (Some(recorded), Ok(Some(now))) if *recorded != now => {
                    problems.push(other_place(&provider, recorded, &now));
                }
                (Some(_), Ok(Some(_))) | (None, Ok(None) | Err(_)) => {}
                (None, Ok(Some(now))) => drop(places.0.insert(provider, now)),
                (Some(_), Ok(None)) => compared.untold.push(does_not_tell(&provider)),
                (Some(_), Err(Refusal { message, .. })) => {
                    compared.untold.push(format!("{}: {message}", does_not_tell(&provider)));
                }
            }
        }
        if !problems.is_empty() {
            return Err(OpError::Guarded(problems));
        }
        if untold == Untold::Refuse {
            compared.all_told()?;
        }
        compared.new = Some(places).filter(|places| places != state.places());
        Ok(compared)
    }
}

impl Workspace {
    /// Returns the place of the resources that a default provider serves: the recorded one, or that to which its settings and
    /// credentials lead now. `None` if it does not tell.
    pub(crate) async fn place_of(
        &self,
        state: &State,
        provider: &str,
    ) -> Result<Option<ProviderPlace>, OpError> {
        if let Some(recorded) = state.places().of(provider) {
            return Ok(Some(recorded.clone()));
        }
        let now = self.engine.default_place(provider, Untold::Refuse).await;
        now.map_err(|Refusal { message, .. }| {
            OpError::Read(vec![unknown(&format!("{}: {message}", does_not_tell(provider)))])
        })
    }
}

impl Engine {
    /// Returns the place of a default provider; `None` if it does not tell.
    pub(crate) async fn default_place(
        &self,
        provider: &str,
        untold: Untold,
    ) -> Result<Option<ProviderPlace>, Refusal> {
        let Some(provider) = self.providers.named(provider) else { return Ok(None) };
        match untold {
            Untold::Refuse => self.with_retries(TIMEOUT, || provider.place()).await,
            // Without a network, a plan should not wait for it.
            Untold::Note => provider.place().await,
        }
    }
}

/// Returns the providers with places whose default instance serves a recorded resource, or an operation in doubt.
pub(crate) fn in_use(state: &State, providers: &Providers) -> BTreeSet<String> {
    let begun = |pending: &&'_ Pending| matches!(pending.intent, Intent::Create { .. });
    let serves = |name: &str| {
        let is_served = |resource: &Resource| is_of_default(resource, name, providers);
        state.copies().any(is_served)
            || state.pending().filter(begun).any(|pending| match &pending.intent {
                Intent::Create { resource, .. } => is_served(resource),
                Intent::Update { .. } | Intent::Delete { .. } => false,
            })
    };
    providers.with_places().filter(|name| serves(name)).map(str::to_owned).collect()
}

/// Returns true if the default instance of a provider serves the resource.
pub(crate) fn is_of_default(resource: &Resource, provider: &str, providers: &Providers) -> bool {
    resource.ties.provider.is_none()
        && resource.ty.provider() == provider
        && !providers.is_settings_type(&resource.ty)
}

/// Returns the providers with places whose default instance serves a declared resource.
fn declared<'a>(graph: &'a Graph, providers: &'a Providers) -> impl Iterator<Item = String> + 'a {
    let serves = |name: &str| {
        graph.nodes.iter().any(|node| {
            node.kind == NodeKind::Provisioned
                && node.options.provider.is_none()
                && node.ty.provider() == name
                && !providers.is_settings_type(&node.ty)
        })
    };
    providers.with_places().filter(move |name| serves(name)).map(str::to_owned)
}

/// Refuses a provider that leads to another place than the recorded one.
fn other_place(provider: &str, recorded: &ProviderPlace, now: &ProviderPlace) -> Diagnostic {
    let parts = recorded.differences(now).join(" and ");
    let message = format!(
        "the provider `{provider}` leads to another {parts} than the one where the resources of this stack are"
    );
    let same = Hint::text("if the same resources are reached there, such as at a new address: ");
    Diagnostic::error(Code::OTHER_PLACE, message)
        .note(format!("The resources are in {recorded}."))
        .note(format!("Settings and credentials lead to {now}."))
        .note("No resource was read or changed.")
        .help(format!("use settings and credentials that lead to {recorded}"))
        .help("for resources in a further place, declare a provider, or use another environment")
        .help(same.then(NextStep::AcceptPlace))
}

pub(crate) fn does_not_tell(provider: &str) -> String {
    format!("the provider `{provider}` does not tell where its settings and credentials lead")
}

pub(crate) fn unknown(message: &str) -> Diagnostic {
    Diagnostic::error(Code::CANNOT_READ, message)
        .note("The stack records where its resources are, and no other place is read or changed.")
        .help("check the credentials and the network")
}
