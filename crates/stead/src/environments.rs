//! The environments of a project: declared in `stead.toml`, or known because a stack exists.
//!
//! **Invariant:** no operation makes a stack in an environment that is not known, because its name may be a typing error.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};
use stead_engine::ops::{OpError, Workspace};
use stead_journal::{StackKeys, read_head};
use stead_model::{Code, Diagnostic, Environment, Hint, NextStep, nearest};
use stead_state::Absent;
use stead_store::Key;

use crate::Project;

/// Why an environment is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KnownBy {
    /// The table `[env.NAME]` in `stead.toml`.
    Declared,
    /// The default environment of the project.
    Default,
    /// A stack that exists.
    Stack,
}

/// One stack of an environment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct KnownStack {
    /// The environment with its namespace.
    #[serde(serialize_with = "as_text")]
    pub environment: Environment,
    pub target: String,
}

fn as_text<S: Serializer>(environment: &Environment, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(environment)
}

/// One environment of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KnownEnvironment {
    pub name: String,
    pub known_by: BTreeSet<KnownBy>,
    pub stacks: Vec<KnownStack>,
}

/// Lists the environments of a project, by name.
pub async fn environments(
    project: &Project,
    workspace: &Workspace,
) -> Result<Vec<KnownEnvironment>, OpError> {
    let mut known: BTreeMap<String, KnownEnvironment> = BTreeMap::new();
    let mut add = |name: &str, by: KnownBy, stack: Option<KnownStack>| {
        let empty =
            || KnownEnvironment { name: name.to_owned(), known_by: BTreeSet::new(), stacks: Vec::new() };
        let entry = known.entry(name.to_owned()).or_insert_with(empty);
        entry.known_by.insert(by);
        entry.stacks.extend(stack);
    };
    project.declared_environments().for_each(|name| add(name, KnownBy::Declared, None));
    add(&project.default_environment()?.name, KnownBy::Default, None);
    for stack in stacks_of(project, workspace).await? {
        add(&stack.environment.name.clone(), KnownBy::Stack, Some(stack));
    }
    Ok(known.into_values().collect())
}

/// Fails unless the environment of a workspace is known.
pub async fn check_environment(project: &Project, workspace: &Workspace) -> Result<(), OpError> {
    let wanted = workspace.environment();
    check_colon(project, workspace).await?;
    let is_default = project.default_environment()?.name == wanted.name;
    if is_default || project.declared_environments().any(|name| name == wanted.name) {
        return Ok(());
    }
    let head = read_head(&workspace.stack.store, &workspace.stack.keys).await?;
    if head.is_some_and(|(head, _)| head.absent != Some(Absent::Removed)) {
        return Ok(());
    }
    check_known(project, workspace, &wanted.name).await
}

/// Fails unless the project has an environment of this name, whatever stacks it has.
pub async fn check_known(project: &Project, workspace: &Workspace, name: &str) -> Result<(), OpError> {
    let known = environments(project, workspace).await?;
    match known.iter().any(|environment| environment.name == name) {
        true => Ok(()),
        false => Err(unknown(name, &known)),
    }
}

/// Reports an environment that the project does not have.
pub(crate) fn unknown(wanted: &str, known: &[KnownEnvironment]) -> OpError {
    let names: Vec<&str> = known.iter().map(|environment| environment.name.as_str()).collect();
    let problem = Diagnostic::error(Code::NO_SUCH_ENVIRONMENT, format!("there is no environment {wanted:?}"))
        .note(format!("This project has: {}.", names.join(", ")))
        .note("Nothing was changed.");
    let problem = match nearest(wanted, names.iter().copied()) {
        Some(meant) => problem.help(format!("did you mean {meant:?}?")),
        None => problem,
    };
    let create = Hint::text("to make it: ").then(NextStep::CreateEnvironment { name: wanted.to_owned() });
    OpError::invalid(problem.help(create))
}

/// Fails if `environment:namespace` has no stack, and an environment whose name contains the colon has one.
///
/// An earlier version took the whole text for the name of an environment.
async fn check_colon(project: &Project, workspace: &Workspace) -> Result<(), OpError> {
    let Environment { name, namespace: Some(namespace) } = workspace.environment() else { return Ok(()) };
    let (store, keys) = (&workspace.stack.store, &workspace.stack.keys);
    let environment = Environment::new(&format!("{name}:{namespace}"));
    let old = StackKeys::new(&project.name, &environment.to_string(), workspace.target());
    let is_absent = |head: Option<(stead_state::Head, _)>| head.is_none_or(|(head, _)| head.absent.is_some());
    if is_absent(read_head(store, &old).await?) || !is_absent(read_head(store, keys).await?) {
        return Ok(());
    }
    let message = format!(
        "the namespace {namespace:?} of environment {name:?} has no stack, but the environment {environment} has one"
    );
    let problem = Diagnostic::error(Code::NO_SUCH_ENVIRONMENT, message).note("Nothing was changed.");
    let open = Hint::text("to use the existing stack: ").then(NextStep::SelectEnvironment { environment });
    let create = Hint::text("for a new, empty stack here: ").then(NextStep::CreateStack);
    Err(OpError::invalid(problem.help(open).help(create)))
}

/// Returns environment and target of each stack of the project, also of a damaged one. Removed stacks are left out.
async fn stacks_of(project: &Project, workspace: &Workspace) -> Result<BTreeSet<KnownStack>, OpError> {
    let store = &workspace.stack.store;
    let places: BTreeSet<(String, String)> = store
        .list(&Key::root().child(&project.name))
        .await?
        .iter()
        .filter_map(|key| {
            let mut segments = key.segments().skip(1);
            Some((segments.next()?, segments.next()?)).filter(|_| segments.next().is_some())
        })
        .collect();
    let mut stacks = BTreeSet::new();
    for (environment, target) in places {
        let keys = StackKeys::new(&project.name, &environment, &target);
        let head = read_head(store, &keys).await;
        let removed = matches!(&head, Ok(Some((head, _))) if head.absent == Some(Absent::Removed));
        if let (false, Ok(environment)) = (removed, environment.parse()) {
            stacks.insert(KnownStack { environment, target });
        }
    }
    Ok(stacks)
}
