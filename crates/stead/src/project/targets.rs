//! Targets: where a program is applied, and the providers that serve it there.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use stead_aws::{AwsProvider, RoleSettings, Settings};
use stead_cloud::Cloud;
use stead_engine::ops::OpError;
use stead_local::LocalProvider;
use stead_model::{Code, Diagnostic, Hint, NextStep};
use stead_provider::Providers;
use stead_schema::Catalog;
use stead_world::World;

use super::Project;

/// Built-in targets.
pub const TARGETS: &[&str] = &["local", "aws", "sim"];

/// Region of the embedded cloud, unless its table names another.
const SIM_REGION: &str = "us-east-1";

/// Folder of the embedded cloud, in the root of the project.
const SIM_FOLDER: &str = ".stead/sim";

/// The tables `[targets.aws]` and `[targets.sim]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TargetTables {
    #[serde(default)]
    aws: AwsTable,
    #[serde(default)]
    sim: SimTable,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct AwsTable {
    region: Option<String>,
    endpoint: Option<String>,
    profile: Option<String>,
    role: Option<RoleTable>,
    default_tags: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RoleTable {
    arn: String,
    #[serde(default)]
    external_id: Option<String>,
    #[serde(default)]
    session_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct SimTable {
    region: Option<String>,
    default_tags: BTreeMap<String, String>,
}

impl AwsTable {
    fn settings(&self) -> Settings {
        let role = self.role.clone().map(|RoleTable { arn, external_id, session_name }| RoleSettings {
            arn,
            external_id,
            session_name,
        });
        let AwsTable { region, endpoint, profile, default_tags, .. } = self.clone();
        Settings { region, endpoint, profile, role, default_tags }
    }
}

impl Project {
    /// Returns the providers of a target. Opens no connection.
    pub(super) fn providers(&self, target: &str) -> Result<Providers, OpError> {
        check_target(target)?;
        let (world, tables) = (self.world.clone(), &self.settings.targets);
        let local = local_providers(&world, &self.root);
        Ok(match target {
            "aws" => local.with(Arc::new(AwsProvider::new(world, tables.aws.settings()))),
            "sim" => {
                let cloud = Cloud::in_folder(&world, &self.root.join(SIM_FOLDER), Default::default());
                local.with(Arc::new(self.embedded_provider(target, World { http: Arc::new(cloud), ..world })))
            }
            _ => local,
        })
    }

    /// Returns the provider of AWS types for a cloud in this process: the `http` of the world.
    pub(crate) fn embedded_provider(&self, target: &str, world: World) -> AwsProvider {
        AwsProvider::embedded(world, self.embedded_settings(target))
    }

    /// Returns the settings of the provider of AWS types on a target.
    pub(crate) fn aws_settings(&self, target: &str) -> Settings {
        match target {
            "aws" => self.settings.targets.aws.settings(),
            _ => self.embedded_settings(target),
        }
    }

    fn embedded_settings(&self, target: &str) -> Settings {
        let TargetTables { aws, sim } = &self.settings.targets;
        let default_tags = if target == "aws" { &aws.default_tags } else { &sim.default_tags }.clone();
        let region = Some(self.embedded_region(target));
        Settings { region, default_tags, ..Settings::default() }
    }

    /// Returns the region of a cloud in this process.
    pub(crate) fn embedded_region(&self, target: &str) -> String {
        let TargetTables { aws, sim } = &self.settings.targets;
        let region = if target == "aws" { &aws.region } else { &sim.region };
        region.clone().unwrap_or_else(|| SIM_REGION.to_owned())
    }
}

/// Fails if there is no such target.
pub(super) fn check_target(target: &str) -> Result<(), OpError> {
    if TARGETS.contains(&target) {
        return Ok(());
    }
    let problem = Diagnostic::error(Code::USAGE, format!("there is no target {target:?}"));
    let problem = problem.help(format!("there is: {}", TARGETS.join(", ")));
    let select = Hint::text("a target is where the program is applied; to select resources: ");
    Err(OpError::invalid(problem.help(select.then(NextStep::SelectResources))))
}

fn local_providers(world: &World, root: &Path) -> Providers {
    Providers::default().with(Arc::new(LocalProvider::new(world.clone(), root.to_owned())))
}

/// Returns the types of the built-in providers, for callers without a project.
pub fn local_catalog(world: &World, root: &Path) -> Catalog {
    local_providers(world, root).catalog()
}
