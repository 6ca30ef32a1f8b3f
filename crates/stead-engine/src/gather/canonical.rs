//! Canonical identities for the planner: two spellings of one path are one real resource.
//!
//! Only providers whose identities have several spellings are asked, each once for all resources.

use stead_model::{Graph, Inputs, Node, PhysicalId, PhysicalIdentity, TypeToken};
use stead_plan::{CanonicalIdentities, Unidentified, Verdict};
use stead_provider::{Description, Provider};
use stead_schema::identity;
use stead_state::State;

use crate::Engine;
use crate::owners::identities_of;
use crate::serving::known_part;

impl Engine {
    /// Asks the providers for the identities that a comparison of the program with the records needs.
    pub(crate) async fn canonical_identities(&self, base: &State, graph: &Graph) -> CanonicalIdentities {
        let has_spellings = |ty: &TypeToken, has_provider: bool| {
            self.providers.of(ty).is_some_and(|provider| {
                // A provider without settings has one place, whatever serves the resource.
                spells(provider.as_ref()) && !(has_provider && provider.configurable().is_some())
            })
        };
        let questions = Unidentified::of(base, graph, &self.catalog, has_spellings);
        if questions.is_empty() {
            return CanonicalIdentities::default();
        }
        let described = |question: &Unidentified<'_>| {
            let (ty, inputs) = question.description();
            let provider = self.providers.of(&ty).cloned();
            (provider, Description { ty, id: None, properties: inputs })
        };
        let answers = identities_of(questions.iter().map(described).collect()).await;
        CanonicalIdentities::of(&questions, answers)
    }

    /// Returns the identities of an existing resource whose provider has several spellings of them; none if it cannot be read.
    pub(crate) async fn identities_of_existing(
        &self,
        ty: &TypeToken,
        id: &PhysicalId,
    ) -> Vec<PhysicalIdentity> {
        let Some(provider) = self.providers.of(ty).filter(|provider| spells(provider.as_ref())) else {
            return Vec::new();
        };
        let Ok(Some(live)) = self.read_existing_of(provider, ty, id).await else { return Vec::new() };
        // The identifier of some resources is an output.
        let mut described = live.outputs;
        described.extend(live.inputs);
        let described = Description { ty: ty.clone(), id: Some(id.clone()), properties: described };
        let described = vec![(Some(provider.clone()), described)];
        identities_of(described).await.pop().unwrap_or_default()
    }

    /// Adds the canonical identity to a verdict, if its inputs tell it and the inputs of the program do not.
    pub(super) async fn with_identity(
        &self,
        verdict: Verdict,
        provider: &dyn Provider,
        node: &Node,
        base: &State,
    ) -> Verdict {
        match verdict {
            Verdict::Valid { inputs, changes, order, found, place, impossible, .. } => {
                let identity = self.late_identity(provider, node, base, &inputs).await;
                Verdict::Valid { inputs, changes, order, found, place, identity, impossible }
            }
            other => other,
        }
    }

    async fn late_identity(
        &self,
        provider: &dyn Provider,
        node: &Node,
        base: &State,
        inputs: &Inputs,
    ) -> Vec<PhysicalIdentity> {
        let Some(schema) = self.catalog.get(&node.ty).filter(|_| spells(provider) && !base.is_empty()) else {
            return Vec::new();
        };
        if identity(schema).into_iter().all(|name| inputs.get(name) == node.inputs.get(name)) {
            return Vec::new();
        }
        match provider.ownership() {
            Some(ownership) => {
                let described =
                    vec![Description { ty: node.ty.clone(), id: None, properties: known_part(inputs) }];
                ownership.identities(described).await.pop().unwrap_or_default()
            }
            None => Vec::new(),
        }
    }
}

fn spells(provider: &dyn Provider) -> bool {
    provider.ownership().is_some_and(|ownership| ownership.has_spellings())
}
