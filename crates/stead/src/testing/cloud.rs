//! Embedded clouds of a test file: empty at first, in memory, on a clock that does not wait.
//!
//! **Invariant:** no answer shows a secret of a program that was applied to the cloud.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stead_cloud::{
    Cloud, DEFAULT_ACCOUNT, Delay, FaultPlan, Injected, Place, Quotas, Rate, References, ResourceName,
    Settings,
};
use stead_engine::Stores;
use stead_eval::Refused;
use stead_model::{Map, Secret, TypeToken, Value};
use stead_schema::{Catalog, TypeSchema, cfn, token_of};
use stead_secrets::Redactor;
use stead_state::State;
use stead_store::Store;
use stead_world::{Entropy, SimulatedClock, Timestamp, World};

use super::provider::published;
use super::requests::{CloudRequest, CloudSettings, FaultPlanRequest, FaultRequest, misuse};

/// Start of the simulated time: 2026-01-01.
const START: Timestamp = Timestamp(1_767_225_600_000);

/// A cloud of a test file, with the clock of all stacks on it.
pub(super) struct TestCloud {
    pub(super) cloud: Cloud,
    pub(super) clock: SimulatedClock,
    /// Shared by the stacks on the cloud, so that no two of them draw the same token.
    pub(super) entropy: Arc<dyn Entropy>,
    pub(super) stores: Arc<TestStores>,
    region: String,
    redactor: Redactor,
}

/// The stores of the stacks on a cloud, by the names that owner marks have.
#[derive(Default)]
pub(super) struct TestStores(Mutex<HashMap<String, Arc<dyn Store>>>);

impl TestStores {
    /// Adds the store of a stack, and returns its name.
    pub(super) fn add(&self, store: Arc<dyn Store>) -> String {
        let mut stores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = format!("test-{}", stores.len() + 1);
        stores.insert(name.clone(), store);
        name
    }
}

impl Stores for TestStores {
    fn open(&self, store: &str) -> Option<Arc<dyn Store>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(store).cloned()
    }
}

impl TestCloud {
    pub(super) fn new(settings: &CloudSettings, region: String) -> TestCloud {
        let clock = SimulatedClock::starting_at(START);
        let delay = |milliseconds| Delay::of(Duration::from_millis(milliseconds));
        let settings = Settings {
            seed: settings.seed,
            operations: delay(settings.operations),
            consistency: delay(settings.consistency),
            rate: settings.rate.map(|rate| Rate { per_second: rate, burst: rate }),
            quotas: if settings.quotas == Some(false) { Quotas::Ignored } else { Quotas::Enforced },
            references: match settings.references {
                Some(false) => References::Ignored,
                _ => References::Checked,
            },
            ..Settings::default()
        };
        TestCloud {
            cloud: Cloud::new(Arc::new(clock.clone()), settings),
            clock,
            entropy: World::in_memory([]).entropy,
            stores: Arc::default(),
            region,
            redactor: Redactor::new(),
        }
    }

    /// Remembers the secrets of a stack that was applied to the cloud.
    pub(super) fn add_secrets(&self, state: &State) {
        let add = &mut |secret: &Secret, _: &[String]| {
            secret.reveal().iter().for_each(|value| self.redactor.add(value));
        };
        for resource in state.copies() {
            for value in resource.inputs.iter().chain(&resource.outputs).map(|(_, value)| value) {
                value.each_secret(&mut Vec::new(), add);
            }
        }
    }

    /// Returns a model without secrets: those of the schema, and those of the programs.
    fn shown(&self, ty: &TypeSchema, model: Map) -> Value {
        self.redacted(Value::Map(ty.conceal(model)).blinded())
    }

    fn redacted(&self, value: Value) -> Value {
        match value {
            Value::String(text) => match self.redactor.redact(&text) {
                Cow::Borrowed(_) => Value::String(text),
                Cow::Owned(redacted) => Value::from(redacted),
            },
            Value::List(items) => items.into_iter().map(|item| self.redacted(item)).collect(),
            Value::Map(map) => {
                Value::Map(map.into_iter().map(|(key, item)| (key, self.redacted(item))).collect())
            }
            other => other,
        }
    }

    /// Carries out a request about resources.
    pub(super) fn answer(
        &self,
        request: &str,
        asked: &CloudRequest,
        catalog: &Catalog,
    ) -> Result<Value, Refused> {
        if request == "resources" {
            return self.resources(asked, catalog);
        }
        let (ty, schema) = published_type(catalog, asked.ty.as_deref().unwrap_or_default())?;
        if request == "create" {
            let place = Place::new(DEFAULT_ACCOUNT, &*self.region);
            let made = self.cloud.insert(&place, &schema.type_name, &asked.properties).map_err(failed)?;
            return Ok(Value::from(made.identifier));
        }
        let name = self.find(&schema.type_name, asked.id.as_deref().unwrap_or_default());
        let Some(name) = name? else {
            let id = asked.id.as_deref().unwrap_or_default();
            return match request {
                "model" => Ok(Value::Null),
                _ => Err(misuse(format!("the cloud has no {} with the id `{id}`", schema.type_name))),
            };
        };
        match request {
            "model" => {
                let model = self.cloud.model(&name).map_err(failed)?;
                return Ok(model.map_or(Value::Null, |model| self.shown(ty, model)));
            }
            "drift" => self.drift(&name, &asked.change)?,
            "remove" => self.cloud.remove(&name).map_err(failed)?,
            "fill" => self.cloud.set_contents(&name, asked.count).map_err(failed)?,
            other => return Err(misuse(format!("there is no request `cloud.{other}`"))),
        }
        Ok(Value::Null)
    }

    fn find(&self, type_name: &str, id: &str) -> Result<Option<ResourceName>, Refused> {
        let all = self.cloud.resources().map_err(failed)?;
        Ok(all.into_iter().find(|name| name.type_name == type_name && name.identifier == id))
    }

    fn resources(&self, asked: &CloudRequest, catalog: &Catalog) -> Result<Value, Refused> {
        let wanted = asked.ty.as_deref().map(|ty| published_type(catalog, ty)).transpose()?;
        let wanted = wanted.map(|(_, schema)| schema.type_name.as_str());
        let all = self.cloud.resources().map_err(failed)?;
        let all = all.into_iter().filter(|name| wanted.is_none_or(|wanted| name.type_name == wanted));
        let one = |name: ResourceName| {
            let (ty, schema) = published_type(catalog, &name.type_name)?;
            let model = self.cloud.model(&name).map_err(failed)?.unwrap_or_default();
            let members = [
                ("type", Value::from(name.type_name)),
                ("id", Value::from(name.identifier)),
                ("account", Value::from(name.place.account)),
                ("region", Value::from(name.place.region)),
                ("properties", self.shown(ty, stead_cloud::read(schema, &model))),
            ];
            Ok(Value::Map(members.into_iter().collect()))
        };
        all.map(one).collect::<Result<Vec<Value>, Refused>>().map(Value::from)
    }

    /// Changes a resource from outside: by a JSON Patch, or by properties to set and to remove.
    fn drift(&self, name: &ResourceName, change: &Value) -> Result<(), Refused> {
        let patch = match change {
            Value::List(_) => change.clone(),
            Value::Map(properties) => properties.iter().map(operation).collect(),
            _ => return Err(misuse("a drift is an object with properties, or a JSON Patch")),
        };
        self.cloud.drift(name, &patch).map_err(failed)
    }

    pub(super) fn fail_next(&self, asked: FaultRequest, catalog: &Catalog) -> Result<Value, Refused> {
        let FaultRequest { fault, call, ty, times, .. } = asked;
        let type_name = match ty {
            Some(ty) => Some(published_type(catalog, &ty)?.1.type_name.clone()),
            None => None,
        };
        self.cloud.fail_next(Injected { fault, call, type_name, times: times.unwrap_or(1) });
        Ok(Value::Null)
    }

    pub(super) fn set_faults(&self, asked: &FaultPlanRequest) -> Value {
        let plan = asked.plan.as_ref();
        self.cloud.set_faults(plan.map(|share| FaultPlan { seed: share.seed, rate: share.rate }));
        Value::Null
    }

    pub(super) fn calls(&self) -> Value {
        let calls = self.cloud.calls().into_iter();
        Value::Map(calls.map(|(call, count)| (call, Value::from(count as i64))).collect())
    }
}

/// Returns the operation of a JSON Patch that sets a property, or removes it.
fn operation((property, value): (&stead_model::Text, &Value)) -> Value {
    let path = format!("/{}", property.replace('~', "~0").replace('/', "~1"));
    let members = match value {
        Value::Null => vec![("op", Value::from("remove")), ("path", Value::from(path))],
        value => vec![("op", Value::from("add")), ("path", Value::from(path)), ("value", value.clone())],
    };
    Value::Map(members.into_iter().collect())
}

/// Returns a published type by its name in AWS or in programs.
fn published_type<'a>(catalog: &'a Catalog, ty: &str) -> Result<(&'a TypeSchema, &'a cfn::Schema), Refused> {
    let token = token_of(ty).unwrap_or_else(|| TypeToken(ty.to_owned()));
    let found = catalog.get(&token).and_then(|ty| Some((ty, published(ty)?)));
    found.ok_or_else(|| {
        misuse(format!("AWS has no type `{ty}`; a type is `AWS::S3::Bucket` or `aws.s3.Bucket`"))
    })
}

fn failed(error: std::io::Error) -> Refused {
    misuse(format!("the cloud cannot do this: {error}"))
}
