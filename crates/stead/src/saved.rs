//! Saved plans: a file is applied exactly as it was approved, or not at all.
//!
//! A saved plan holds the approval and the transcript of the evaluation, so that it can be applied without the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use stead_engine::ops::{Approval, OpError, Proposal, Stale, Workspace};
use stead_eval::UnknownBranches;
use stead_eval::config::{Config, Key};
use stead_model::{Binding, Ciphertext, Code, Crypter as _, Diagnostic, Hint, Name, NextStep};

use crate::program::{Program, ProgramSettings, Transcript};
use crate::project::FILE;
use crate::{FlagMarks, Project};

/// A file of another format is refused: a saved plan is short-lived, and making it anew loses nothing.
const FORMAT: u32 = 5;

/// Refuses to save a plan of a program with secrets for a stack without an open key.
fn no_key() -> OpError {
    let message = "the plan cannot be saved: the program has or looked up secrets, and the stack has no key to encrypt them";
    let problem = Diagnostic::error(Code::NO_SECRETS_MANAGER, message).note(
        "A saved plan holds config, sources and look-ups of the program, secrets included. Nothing was written.",
    );
    let init = Hint::from(NextStep::InitSecrets).and(" makes a key for the stack; then save the plan again");
    OpError::refused(problem.help(init))
}

/// Stands for the version of a provider that the target does not have.
const MISSING: &str = "a target without it";

/// An approved plan in a file.
#[derive(Serialize, Deserialize)]
pub struct SavedPlan {
    format: u32,
    stead: String,
    project: String,
    environment: String,
    target: String,
    main: String,
    /// Without the values of secret keys.
    config: Config,
    allow_unknown_branches: bool,
    #[serde(flatten)]
    approval: Approval,
    transcript: Transcript,
    /// Versions of the providers at the time of the plan; empty in a file without this field.
    #[serde(default)]
    providers: BTreeMap<String, String>,
}

/// A plan with secrets, as its file has it.
#[derive(Serialize, Deserialize)]
struct SealedPlan {
    format: u32,
    sealed: Ciphertext,
}

/// The place that the ciphertext of a saved plan is bound to.
const PLACE: Binding<'static> = Binding(&["saved plan"]);

/// Decrypts a saved plan with the key of its stack.
async fn open(workspace: &Workspace, sealed: &Ciphertext, file: &Path) -> Result<Vec<u8>, OpError> {
    let loaded = workspace.load().await?;
    workspace.require_secrets(&loaded.state).await?;
    workspace.stack.secrets.crypter().open(sealed, PLACE).map_err(|why| {
        let message = format!("{} cannot be decrypted: {why}", file.display());
        OpError::refused(Diagnostic::error(Code::SECRETS_LOCKED, message).note("Nothing was changed."))
    })
}

/// Setting of a plan, which must be the same when the plan is made and when it is applied.
struct MadeFor<'a> {
    stead: &'a str,
    project: &'a str,
    environment: &'a str,
    target: &'a str,
    providers: &'a BTreeMap<String, String>,
}

impl SavedPlan {
    /// Fails if the program has secrets and the stack has no key: the file holds config and sources of the program.
    pub fn new(
        project: &Project,
        workspace: &Workspace,
        program: &Program<'_>,
        proposal: &Proposal,
    ) -> Result<SavedPlan, OpError> {
        let seals = workspace.stack.secrets.opened().is_some();
        let transcript = program.transcript();
        if !seals && (workspace.makes_secrets(proposal.graph()) || transcript.has_secrets()) {
            return Err(no_key());
        }
        let approval = proposal.approval()?;
        let ProgramSettings { main, config, branches, .. } = program.settings().clone();
        Ok(SavedPlan {
            format: FORMAT,
            stead: env!("CARGO_PKG_VERSION").to_owned(),
            project: project.name.clone(),
            environment: workspace.environment().to_string(),
            target: workspace.target().to_owned(),
            main,
            config: if seals { config.exposed() } else { config.without_secrets() },
            allow_unknown_branches: branches == UnknownBranches::Allow,
            approval,
            transcript: if seals { transcript.exposed() } else { transcript },
            providers: versions(workspace),
        })
    }

    /// Returns the approval and the entry point of the program.
    pub fn approval(&self) -> (&Approval, &str) {
        (&self.approval, &self.main)
    }

    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    pub fn settings(&self) -> ProgramSettings {
        let branches =
            if self.allow_unknown_branches { UnknownBranches::Allow } else { UnknownBranches::Refuse };
        let levels = self.approval.request.outer.clone();
        ProgramSettings { main: self.main.clone(), config: self.config.clone(), branches, levels }
    }

    /// Returns the config for the program of today: the files of the project as they are now, and the settings that the plan was
    /// called with.
    pub fn config_of_call(&self, today: Config) -> Config {
        Config { variables: self.config.variables.clone(), call: self.config.call.clone(), ..today }
    }

    /// Fails if a setting of this call differs from the value that the plan was made with.
    pub fn check_call(&self, today: &Config, file: &Path) -> Result<(), OpError> {
        let (then, now) = (self.config.resolve(), today.resolve());
        let secret = |key: &Key| today.is_secret(key) || self.config.is_secret(key);
        let mut differing = Vec::new();
        for setting in today.call.iter().filter(|setting| !secret(&setting.key)) {
            let (was, is) = (then.value(&setting.key), now.value(&setting.key));
            if was != is {
                // The program may read any key as a secret, so that no value is shown.
                let was = if was.is_some() { "another value" } else { "no value" };
                let (key, origin) = (&setting.key, &setting.origin);
                differing.push(format!("config `{key}`: it was made with {was} than {origin} gives"));
            }
        }
        if differing.is_empty() { Ok(()) } else { Err(stale(file, &differing)) }
    }

    /// Writes the file, readable only for its owner, since it holds the config of the program. A plan with secrets is encrypted
    /// with the key of the stack.
    pub fn write(&self, workspace: &Workspace, file: &Path) -> Result<(), OpError> {
        let unwritable = |problem: String| {
            let message = format!("cannot write {}: {problem}", file.display());
            OpError::refused(Diagnostic::error(Code::STORE, message))
        };
        let body = serde_json::to_vec(self).map_err(|error| unwritable(error.to_string()))?;
        let mut bytes = match workspace.stack.secrets.opened() {
            None => body,
            Some(ring) => {
                let sealed = ring.crypter().seal(&body, PLACE).map_err(|why| unwritable(why.to_string()))?;
                let file = SealedPlan { format: FORMAT, sealed };
                serde_json::to_vec(&file).map_err(|error| unwritable(error.to_string()))?
            }
        };
        bytes.push(b'\n');
        let bytes = stead_state::seal(bytes);
        let world = &workspace.stack.world;
        let write = || {
            let unique = world.entropy.uuid()?;
            world.files.write_atomically(file, &bytes, 0o600, &unique)
        };
        write().map_err(|error| {
            let message = format!("cannot write {}: {error}", file.display());
            OpError::refused(Diagnostic::error(Code::STORE, message))
        })
    }

    /// Reads a file.
    ///
    /// Fails if the plan was made for another project, environment, target or version.
    pub async fn read(project: &Project, workspace: &Workspace, file: &Path) -> Result<SavedPlan, OpError> {
        let bytes = workspace.stack.world.files.read(file).map_err(|error| {
            let message = format!("cannot read {}: {error}", file.display());
            let problem = Diagnostic::error(Code::STORE, message).note("Nothing was changed.");
            OpError::refused(problem.help(NextStep::ApplySavedPlan))
        })?;
        let Some(body) = stead_state::unseal(&bytes) else {
            return Err(stale(file, &["the file is damaged, or no saved plan".to_owned()]));
        };
        #[derive(Deserialize)]
        struct AnyFormat {
            format: u32,
        }
        let other_version = || stale(file, &["it was made by another version of stead".to_owned()]);
        match serde_json::from_slice(body) {
            Ok(AnyFormat { format: FORMAT }) => {}
            _ => return Err(other_version()),
        }
        let opened = match serde_json::from_slice(body) {
            Ok(SealedPlan { sealed, .. }) => Some(open(workspace, &sealed, file).await?),
            Err(_) => None,
        };
        let body = opened.as_deref().unwrap_or(body);
        let saved: SavedPlan = serde_json::from_slice(body).map_err(|_| other_version())?;
        saved.fits(project, workspace, file)?;
        Ok(saved)
    }

    /// Returns the error for a plan that would be a different one now.
    pub fn stale(file: &Path, why: Stale) -> OpError {
        let why = match why {
            Stale::AnotherStack => vec!["it was made for a stack that is not this one".to_owned()],
            Stale::StateChanged { changed } => named("changed since the plan was made", &changed),
            Stale::ProgramChanged => vec!["the program now declares something else".to_owned()],
            Stale::PlanChanged { differing } if differing.is_empty() => {
                vec!["other resources changed since, and the program now gives another plan".to_owned()]
            }
            Stale::PlanChanged { differing } => {
                named("now has another step than the plan, because other resources changed", &differing)
            }
            Stale::NotReproduced => vec!["the same program and state now give another plan".to_owned()],
        };
        stale(file, &why)
    }

    fn fits(&self, project: &Project, workspace: &Workspace, file: &Path) -> Result<(), OpError> {
        let now = MadeFor {
            stead: env!("CARGO_PKG_VERSION"),
            project: &project.name,
            environment: &workspace.environment().to_string(),
            target: workspace.target(),
            providers: &versions(workspace),
        };
        let then = MadeFor {
            stead: &self.stead,
            project: &self.project,
            environment: &self.environment,
            target: &self.target,
            providers: &self.providers,
        };
        let levels = project.levels(workspace.environment(), &FlagMarks::default());
        let marks = (!self.approval.request.outer.same_file_settings(&levels))
            .then(|| format!("the marks in {FILE} are not those it was made with"));
        let differing: Vec<String> = differences(&then, &now).into_iter().chain(marks).collect();
        if differing.is_empty() { Ok(()) } else { Err(stale(file, &differing)) }
    }
}

fn versions(workspace: &Workspace) -> BTreeMap<String, String> {
    let versions = workspace.engine.providers.versions();
    versions.map(|(name, version)| (name.to_owned(), version.to_owned())).collect()
}

/// Describes every difference between the two settings.
fn differences<'a>(then: &MadeFor<'a>, now: &MadeFor<'a>) -> Vec<String> {
    let mut pairs = vec![
        ("version of stead".to_owned(), then.stead, now.stead),
        ("project".to_owned(), then.project, now.project),
        ("environment".to_owned(), then.environment, now.environment),
        ("target".to_owned(), then.target, now.target),
    ];
    let names: BTreeSet<&String> = then.providers.keys().chain(now.providers.keys()).collect();
    for name in names {
        let version = |place: &MadeFor<'a>| place.providers.get(name).map_or(MISSING, String::as_str);
        pairs.push((format!("provider {name}"), version(then), version(now)));
    }
    let differing = pairs.iter().filter(|(_, was, is)| was != is);
    differing.map(|(what, was, is)| format!("{what}: it was made for {was}, and this is {is}")).collect()
}

/// The most resources that a message lists.
const MOST_NAMED: usize = 10;

/// Returns a line for each resource, and the number of those that are left out.
fn named(what: &str, names: &[Name]) -> Vec<String> {
    let left_out = names.len().saturating_sub(MOST_NAMED);
    let more = (left_out > 0).then(|| format!("and {left_out} more"));
    names.iter().take(MOST_NAMED).map(|name| format!("{name} {what}")).chain(more).collect()
}

fn stale(file: &Path, differing: &[String]) -> OpError {
    let problem = Diagnostic::error(Code::PLAN_STALE, format!("{} cannot be applied", file.display()));
    let problem = differing.iter().fold(problem, |problem, what| problem.note(what.clone()));
    let file = file.display().to_string();
    let hint =
        Hint::text("make it anew with ").then(NextStep::SavePlan { file }).and(", and look at it again");
    OpError::refused(problem.note("Nothing was changed.").help(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_named() {
        let versions = |all: &[(&str, &str)]| -> BTreeMap<String, String> {
            all.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect()
        };
        let (one, two) =
            (versions(&[("local", "1"), ("old", "1")]), versions(&[("local", "2"), ("new", "1")]));
        let then = || MadeFor {
            stead: "0.1.0",
            project: "shop",
            environment: "dev",
            target: "local",
            providers: &one,
        };
        assert!(differences(&then(), &then()).is_empty());
        let told = |now: MadeFor<'_>| differences(&then(), &now).join("; ");
        assert_eq!(
            told(MadeFor { stead: "0.2.0", ..then() }),
            "version of stead: it was made for 0.1.0, and this is 0.2.0"
        );
        assert_eq!(told(MadeFor { project: "x", ..then() }), "project: it was made for shop, and this is x");
        assert_eq!(
            told(MadeFor { environment: "prod", ..then() }),
            "environment: it was made for dev, and this is prod"
        );
        assert_eq!(
            told(MadeFor { target: "aws", ..then() }),
            "target: it was made for local, and this is aws"
        );
        assert_eq!(
            told(MadeFor { providers: &two, ..then() }),
            "provider local: it was made for 1, and this is 2; \
             provider new: it was made for a target without it, and this is 1; \
             provider old: it was made for 1, and this is a target without it"
        );
    }
}
