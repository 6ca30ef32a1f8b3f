//! Saved plans: what was approved is what runs, to the step.
//!
//! A saved plan holds what the program was told, and digests of the state it was made on, of the graph and of the
//! plan itself. Applying it evaluates and plans again and refuses unless every digest is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use stead_engine::Pinning;
use stead_eval::UnknownBranches;
use stead_model::{Code, Diagnostic, Digest, Graph, Map};
use stead_plan::{Plan, Request};
use stead_state::State;

use crate::evaluate::Settings;
use crate::failure::{Failure, Kind};
use crate::marks::MarkFlags;
use crate::pins::{failed, orphans, place};
use crate::sealed;
use crate::session::Session;
use crate::transcript::Transcript;

const FORMAT: u32 = 2;

/// The version of a provider that is not there.
const MISSING: &str = "a target without it";

#[derive(Serialize, Deserialize)]
pub(crate) struct SavedPlan {
    format: u32,
    stead: String,
    project: String,
    environment: String,
    target: String,
    main: String,
    config: Map,
    allow_unknown_branches: bool,
    state: Digest,
    graph: Digest,
    plan: Digest,
    /// What the plan was asked for; a file that does not say so asked for everything.
    #[serde(default)]
    pub request: Request,
    pub transcript: Transcript,
    #[serde(default)]
    pins: SavedPins,
    /// The version of each provider that was asked; a file that does not say so asked none.
    #[serde(default)]
    providers: BTreeMap<String, String>,
}

/// The pinfile that a plan was made with.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct SavedPins {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinfile: Option<String>,
    #[serde(default)]
    pub update_pins: bool,
}

/// Where a plan is made, and where it is carried out: both must be the same.
struct Place<'a> {
    stead: &'a str,
    project: &'a str,
    environment: &'a str,
    target: &'a str,
    providers: &'a BTreeMap<String, String>,
}

impl SavedPlan {
    pub(crate) fn new(
        session: &Session,
        settings: Settings,
        base: &State,
        graph: &Graph,
        plan: &Plan,
        request: Request,
        transcript: Transcript,
    ) -> SavedPlan {
        SavedPlan {
            format: FORMAT,
            stead: env!("CARGO_PKG_VERSION").to_owned(),
            project: session.project.name.clone(),
            environment: session.environment.to_string(),
            target: session.target.clone(),
            main: settings.main,
            config: settings.config,
            allow_unknown_branches: settings.branches == UnknownBranches::Allow,
            state: state_digest(base),
            graph: digest(graph),
            plan: digest(plan),
            request,
            transcript,
            pins: SavedPins::default(),
            providers: versions(session),
        }
    }

    #[must_use]
    pub(crate) fn with_pins(self, pins: SavedPins) -> SavedPlan {
        SavedPlan { pins, ..self }
    }

    /// The pins as they were then. A file that says something else by now does not change the plan: it refuses it.
    pub(crate) fn pinning(&self, session: &Session) -> Result<Pinning, Failure> {
        let SavedPins { pinfile, update_pins } = &self.pins;
        let orphans = orphans(*update_pins);
        Pinning::of_saved(place(session), &self.main, pinfile.as_deref(), orphans).map_err(failed)
    }

    /// Only the owner may read it: it holds the program and its config.
    pub(crate) fn write(&self, session: &Session, file: &Path) -> Result<(), Failure> {
        // Our types always serialise.
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.push('\n');
        let text = sealed::seal(text);
        let write = || {
            let unique = session.world.entropy.uuid()?;
            session.world.files.write_atomically(file, text.as_bytes(), 0o600, &unique)
        };
        write().map_err(|error| {
            let message = format!("cannot write {}: {error}", file.display());
            Failure::new(Kind::Failed, Diagnostic::error(Code::STORE, message))
        })
    }

    pub(crate) fn read(session: &Session, file: &Path) -> Result<SavedPlan, Failure> {
        let bytes = session.world.files.read(file).map_err(|error| {
            let message = format!("cannot read {}: {error}", file.display());
            let problem = Diagnostic::error(Code::STORE, message).note("Nothing was changed.");
            let help = "`up FILE` carries out a plan that `stead plan --out FILE` saved; without FILE, it plans itself";
            Failure::new(Kind::Failed, problem.help(help))
        })?;
        let Some(body) = sealed::open(&bytes) else {
            return Err(stale(file, &["the file is damaged, or no saved plan".to_owned()]));
        };
        let saved: SavedPlan = serde_json::from_slice(body)
            .map_err(|_| stale(file, &["it was made by another version of stead".to_owned()]))?;
        saved.fits(session, file)?;
        Ok(saved)
    }

    pub(crate) fn settings(&self) -> Settings {
        let branches =
            if self.allow_unknown_branches { UnknownBranches::Allow } else { UnknownBranches::Refuse };
        let outer = self.request.outer.clone();
        Settings { main: self.main.clone(), config: self.config.clone(), branches, outer }
    }

    fn fits(&self, session: &Session, file: &Path) -> Result<(), Failure> {
        let now = Place {
            stead: env!("CARGO_PKG_VERSION"),
            project: &session.project.name,
            environment: &session.environment.to_string(),
            target: &session.target,
            providers: &versions(session),
        };
        let then = Place {
            stead: &self.stead,
            project: &self.project,
            environment: &self.environment,
            target: &self.target,
            providers: &self.providers,
        };
        let marks = session.outer(&MarkFlags::default());
        let marks = (!self.request.outer.same_files(&marks))
            .then(|| format!("the marks in {} are not those it was made with", crate::project::FILE));
        let differing: Vec<String> = differences(&then, &now).into_iter().chain(marks).collect();
        if differing.is_empty() { Ok(()) } else { Err(stale(file, &differing)) }
    }

    /// The state must be the one that the plan was made on.
    pub(crate) fn check_state(&self, base: &State, file: &Path) -> Result<(), Failure> {
        if self.state == state_digest(base) {
            return Ok(());
        }
        Err(stale(file, &["the state of the stack changed since".to_owned()]))
    }

    /// Evaluated and planned again, everything must come out the same.
    pub(crate) fn check_plan(&self, graph: &Graph, plan: &Plan, file: &Path) -> Result<(), Failure> {
        if self.graph != digest(graph) {
            return Err(stale(file, &["the program now declares something else".to_owned()]));
        }
        if self.plan != digest(plan) {
            return Err(stale(file, &["the same program and state now give another plan".to_owned()]));
        }
        Ok(())
    }
}

fn versions(session: &Session) -> BTreeMap<String, String> {
    let versions = session.engine.providers.versions();
    versions.map(|(name, version)| (name.to_owned(), version.to_owned())).collect()
}

/// Everything in which two places differ, in words.
fn differences<'a>(then: &Place<'a>, now: &Place<'a>) -> Vec<String> {
    let mut pairs = vec![
        ("version of stead".to_owned(), then.stead, now.stead),
        ("project".to_owned(), then.project, now.project),
        ("environment".to_owned(), then.environment, now.environment),
        ("target".to_owned(), then.target, now.target),
    ];
    let names: BTreeSet<&String> = then.providers.keys().chain(now.providers.keys()).collect();
    for name in names {
        let version = |place: &Place<'a>| place.providers.get(name).map_or(MISSING, String::as_str);
        pairs.push((format!("provider {name}"), version(then), version(now)));
    }
    let differing = pairs.iter().filter(|(_, was, is)| was != is);
    differing.map(|(what, was, is)| format!("{what}: it was made for {was}, and this is {is}")).collect()
}

fn digest<T: Serialize>(value: &T) -> Digest {
    Digest::of(&serde_json::to_vec(value).unwrap_or_default())
}

fn state_digest(state: &State) -> Digest {
    state.snapshot(None).encode().1
}

fn stale(file: &Path, differing: &[String]) -> Failure {
    let problem = Diagnostic::error(Code::PLAN_STALE, format!("{} cannot be applied", file.display()));
    let problem = differing.iter().fold(problem, |problem, what| problem.note(what.clone()));
    let help = format!("make it anew with `stead plan --out {}`, and look at it again", file.display());
    Failure::new(Kind::Failed, problem.note("Nothing was changed.").help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_told_and_none_is_passed_over() {
        let versions = |all: &[(&str, &str)]| -> BTreeMap<String, String> {
            all.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect()
        };
        let (one, two) =
            (versions(&[("local", "1"), ("old", "1")]), versions(&[("local", "2"), ("new", "1")]));
        let then = || Place {
            stead: "0.1.0",
            project: "shop",
            environment: "dev",
            target: "local",
            providers: &one,
        };
        assert!(differences(&then(), &then()).is_empty());
        let told = |now: Place<'_>| differences(&then(), &now).join("; ");
        assert_eq!(
            told(Place { stead: "0.2.0", ..then() }),
            "version of stead: it was made for 0.1.0, and this is 0.2.0"
        );
        assert_eq!(told(Place { project: "x", ..then() }), "project: it was made for shop, and this is x");
        assert_eq!(
            told(Place { environment: "prod", ..then() }),
            "environment: it was made for dev, and this is prod"
        );
        assert_eq!(told(Place { target: "aws", ..then() }), "target: it was made for local, and this is aws");
        assert_eq!(
            told(Place { providers: &two, ..then() }),
            "provider local: it was made for 1, and this is 2; \
             provider new: it was made for a target without it, and this is 1; \
             provider old: it was made for 1, and this is a target without it"
        );
    }
}
