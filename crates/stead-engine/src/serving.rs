//! Chooses the provider of a resource: the default one of the target, or one that a provider resource configures.
//!
//! A record names its provider resource, so that `destroy`, `refresh` and recovery reach the same place without a program.
//! **Invariant:** a resource whose provider resource has no usable settings is served by no other provider.

use std::collections::HashMap;
use std::sync::Arc;

use stead_model::{Code, CopyRef, Diagnostic, Graph, Input, Inputs, Map, Node, NodeId, Resource, TypeToken};
use stead_plan::{Action, Certainty, PlaceChange, Plan, ServedBy, Step};
use stead_provider::{Completeness, Configuration, Provider, Refusal};
use stead_state::State;

use crate::Engine;
use crate::secrets::locked_record;

/// The provider of a declared resource, as far as it is known while planning.
pub(crate) struct PlannedProvider {
    pub(crate) provider: Arc<dyn Provider>,
    /// `Partial` if the provider cannot make requests before the run.
    pub(crate) completeness: Completeness,
}

impl Engine {
    /// Returns the provider of a recorded resource.
    pub(crate) fn serving(&self, resource: &Resource, state: &State) -> Result<Arc<dyn Provider>, Refusal> {
        match &resource.ties.provider {
            None => self.served_by(&resource.ty, None),
            Some(copy) => match state.resolve(copy) {
                Some(provider) => self.served_by(&resource.ty, Some(provider)),
                None => {
                    Err(Refusal::new(format!("the provider resource of {} is not recorded", resource.name)))
                }
            },
        }
    }

    /// Returns the provider of a type with the settings of a recorded provider resource.
    pub(crate) fn served_by(
        &self,
        ty: &TypeToken,
        provider: Option<&Resource>,
    ) -> Result<Arc<dyn Provider>, Refusal> {
        let default = self.default_of(ty)?;
        let Some(record) = provider else { return Ok(default.clone()) };
        if let Some(locked) = locked_record(record) {
            return Err(Refusal::new(locked));
        }
        let (settings, outputs) = (record.inputs.clone(), record.outputs.clone());
        let configuration = Configuration { settings, outputs, completeness: Completeness::Whole };
        self.providers.configured(default, configuration).map_err(|refusal| named(refusal, record))
    }

    /// Returns the provider of a type with settings that a program gives, or the default one.
    pub(crate) fn provider_with(
        &self,
        ty: &TypeToken,
        settings: Option<&Map>,
    ) -> Result<Arc<dyn Provider>, Refusal> {
        let default = self.default_of(ty)?;
        match settings {
            Some(settings) => {
                let configuration = Configuration { settings: settings.clone(), ..Configuration::default() };
                self.providers.configured(default, configuration)
            }
            None => Ok(default.clone()),
        }
    }

    /// Returns the provider that a question of the planner is for.
    pub(crate) fn planned(
        &self,
        ty: &TypeToken,
        served_by: Option<&ServedBy<'_>>,
    ) -> Result<PlannedProvider, Refusal> {
        let whole = |provider| PlannedProvider { provider, completeness: Completeness::Whole };
        match served_by {
            Some(ServedBy { settings: Some(settings), record }) => {
                let known = known_part(settings);
                let completeness = match known.len() == settings.len() {
                    true => Completeness::Whole,
                    false => Completeness::Partial,
                };
                let outputs = record.map(|record| record.outputs.clone()).unwrap_or_default();
                let configuration = Configuration { settings: known, outputs, completeness };
                let provider = self.providers.configured(self.default_of(ty)?, configuration)?;
                Ok(PlannedProvider { provider, completeness })
            }
            Some(ServedBy { settings: None, record }) => self.served_by(ty, *record).map(whole),
            None => self.served_by(ty, None).map(whole),
        }
    }

    fn default_of(&self, ty: &TypeToken) -> Result<&Arc<dyn Provider>, Refusal> {
        self.providers.of(ty).ok_or_else(|| Refusal::new(format!("no provider serves {ty}")))
    }

    /// Compares the place where a recorded resource is with the one where its declaration would have it.
    pub(crate) async fn place_change(
        &self,
        old: &Resource,
        base: &State,
        served_by: Option<&ServedBy<'_>>,
        planned: &PlannedProvider,
    ) -> Result<PlaceChange, Refusal> {
        let before = old.ties.provider.as_ref().and_then(|copy| base.resolve(copy));
        let now = served_by.and_then(|served_by| served_by.record);
        let unchanged = before.map(Resource::copy) == now.map(Resource::copy)
            && served_by.is_some() == old.ties.provider.is_some();
        if unchanged || planned.provider.configurable().is_none() {
            return Ok(PlaceChange::Untold);
        }
        if planned.completeness == Completeness::Partial {
            return Ok(PlaceChange::Moved(Certainty::Possible));
        }
        let (before, now) = (self.serving(old, base)?.place().await?, planned.provider.place().await?);
        Ok(match (before, now) {
            (Some(before), Some(now)) if before == now => PlaceChange::Same,
            (Some(_), Some(_)) => PlaceChange::Moved(Certainty::Certain),
            _ => PlaceChange::Moved(Certainty::Possible),
        })
    }

    /// Returns the providers of the steps of a plan, with `None` where the settings are not known before the run.
    pub(crate) fn step_providers<'p>(
        &self,
        plan: &'p Plan,
        base: &State,
        graph: &Graph,
    ) -> Vec<(&'p Step, Option<Arc<dyn Provider>>)> {
        let settings: HashMap<NodeId, &Inputs> = plan
            .steps
            .iter()
            .filter_map(|step| match &step.action {
                Action::Create { inputs, .. } | Action::Update { inputs, .. } => Some((step.node?, inputs)),
                _ => None,
            })
            .collect();
        let declared = |step: &Step| {
            let provider = step.node.and_then(|node| graph.node(node))?.options.provider;
            let Some(provider) = provider else { return self.served_by(&step.ty, None).ok() };
            let record = plan.existing.get(&provider).and_then(|copy| base.copy(copy));
            let settings = settings.get(&provider).map(|settings| (*settings).clone());
            let planned = self.planned(&step.ty, Some(&ServedBy { settings, record })).ok()?;
            (planned.completeness == Completeness::Whole).then_some(planned.provider)
        };
        let of = |step: &'p Step| match &step.action {
            Action::Update { copy, .. } | Action::Delete { copy, .. } => {
                base.copy(copy).and_then(|resource| self.serving(resource, base).ok())
            }
            _ => declared(step),
        };
        plan.steps.iter().map(|step| (step, of(step))).collect()
    }

    /// Returns a problem for each provider option that names no provider of the resource's type.
    pub(crate) fn misnamed_providers(&self, graph: &Graph) -> Vec<Diagnostic> {
        let problem = |node: &Node| {
            let named = graph.node(node.options.provider?)?;
            let configurable = self.providers.of(&node.ty)?.configurable()?;
            let wanted = configurable.settings_type();
            let message = match (named.ty == wanted, node.ty == wanted) {
                (_, true) => format!("{} has settings of its own, and no option `provider`", node.name),
                (false, _) => {
                    format!("{} needs a provider of the type {wanted}, not {}", node.name, named.ty)
                }
                (true, false) => return None,
            };
            let problem = Diagnostic::error(Code::NO_PROVIDER, message);
            Some(problem.at(node.source.clone(), 0, "declared here"))
        };
        graph.nodes.iter().filter_map(problem).collect()
    }
}

/// Provider resources that a run has created or changed, by copy.
#[derive(Default)]
pub(crate) struct ChangedProviders(HashMap<CopyRef, Resource>);

impl ChangedProviders {
    /// Keeps a record if it is one of a provider resource.
    pub(crate) fn note(&mut self, engine: &Engine, resource: &Resource) {
        if engine.providers.is_settings_type(&resource.ty) {
            self.0.insert(resource.copy(), resource.clone());
        }
    }

    /// Returns the present record of a provider resource.
    pub(crate) fn current<'a>(&'a self, base: &'a State, copy: &CopyRef) -> Option<&'a Resource> {
        self.0.get(copy).or_else(|| base.copy(copy)).or_else(|| base.resolve(copy))
    }
}

/// Returns the inputs whose values are known as a whole.
pub(crate) fn known_part(inputs: &Inputs) -> Map {
    let known = |(key, input): (&stead_model::Text, &Input)| Some((key.clone(), input.as_known()?.clone()));
    inputs.iter().filter_map(known).collect()
}

fn named(refusal: Refusal, provider: &Resource) -> Refusal {
    Refusal { message: format!("{}: {}", provider.name, refusal.message), ..refusal }
}
