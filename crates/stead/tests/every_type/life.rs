//! The life of a resource of one type, stage by stage.

use std::collections::BTreeMap;

use stead::ops::{Import, Look, OpError, Proposal, Wait};
use stead_cloud::ResourceName;
use stead_model::{Map, Resource, Value};
use stead_schema::cfn::Class;

use crate::bench::{Bench, TestStack, apply, is_guarded, told};
use crate::best_patch::perfect_patch;
use crate::changes::{Changed, Hidden, NameAfter, in_place, removal, replacement};
use crate::look::differences;
use crate::program::TestProgram;
use crate::subject::{Declared, Subject, reaches};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Evaluate,
    Create,
    Unchanged,
    Change,
    ChangeHidden,
    Remove,
    Protect,
    Pin,
    Replace,
    ReplaceUnderSameName,
    Delete,
    Import,
    ImportDeclared,
}

impl Stage {
    pub(crate) const ALL: [Stage; 13] = [
        Stage::Evaluate,
        Stage::Create,
        Stage::Unchanged,
        Stage::Change,
        Stage::ChangeHidden,
        Stage::Remove,
        Stage::Protect,
        Stage::Pin,
        Stage::Replace,
        Stage::ReplaceUnderSameName,
        Stage::Delete,
        Stage::Import,
        Stage::ImportDeclared,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Stage::Evaluate => "evaluate the program",
            Stage::Create => "create",
            Stage::Unchanged => "nothing to do",
            Stage::Change => "change a property in place",
            Stage::ChangeHidden => "change a write-only property in place",
            Stage::Remove => "remove an optional property",
            Stage::Protect => "`preventDelete`: no deletion, no replacement",
            Stage::Pin => "pin: no deletion, no replacement",
            Stage::Replace => "replace by a change of the name",
            Stage::ReplaceUnderSameName => "replace by another create-only property",
            Stage::Delete => "delete",
            Stage::Import => "import what no program declares; a destroy keeps it",
            Stage::ImportDeclared => "import what the program declares; a removal deletes it",
        }
    }
}

/// Why a stage did not end well.
pub(crate) enum Shortfall {
    /// The type has no such step.
    NotApplicable(String),
    Failed(String),
}

impl From<String> for Shortfall {
    fn from(why: String) -> Shortfall {
        Shortfall::Failed(why)
    }
}

impl From<OpError> for Shortfall {
    fn from(error: OpError) -> Shortfall {
        Shortfall::Failed(told(&error))
    }
}

pub(crate) type Ended = Result<(), Shortfall>;
pub(crate) type Results = BTreeMap<Stage, Ended>;

/// A resource of one type on its way.
struct Life<'a> {
    bench: &'a Bench,
    stack: TestStack,
    program: TestProgram,
    all: Vec<Declared>,
}

/// Takes a resource through its life.
pub(crate) async fn live(bench: &Bench, elsewhere: &Bench, subject: &Subject) -> Results {
    let mut results = Results::new();
    let program = match TestProgram::of(subject) {
        Ok(program) => program,
        Err(why) => {
            results.insert(Stage::Evaluate, Err(Shortfall::Failed(why)));
            return results;
        }
    };
    results.insert(Stage::Evaluate, Ok(()));
    let mut life = Life { bench, stack: bench.stack(), program: program.clone(), all: subject.all.clone() };
    let created = life.create().await;
    let is_created = created.is_ok();
    results.insert(Stage::Create, created);
    if is_created {
        results.insert(Stage::Unchanged, life.unchanged().await);
        results.insert(Stage::Change, life.change(Hidden::No).await);
        results.insert(Stage::ChangeHidden, life.change(Hidden::Yes).await);
        results.insert(Stage::Remove, life.remove().await);
        results.insert(Stage::Protect, life.protect().await);
        results.insert(Stage::Pin, life.pin().await);
        results.insert(Stage::Replace, life.replace(NameAfter::Other).await);
        results.insert(Stage::ReplaceUnderSameName, life.replace(NameAfter::Same).await);
        results.insert(Stage::Delete, life.delete().await);
    }
    let ids = match found(elsewhere, subject) {
        Ok(ids) => ids,
        Err(why) => {
            results.insert(Stage::Import, Err(Shortfall::Failed(why)));
            return results;
        }
    };
    results.insert(Stage::Import, import(elsewhere, &program, subject.it(), ids.last().unwrap()).await);
    results.insert(Stage::ImportDeclared, import_declared(elsewhere, &program, subject, &ids).await);
    results
}

fn fail<T>(why: impl Into<String>) -> Result<T, Shortfall> {
    Err(Shortfall::Failed(why.into()))
}

/// Returns the kinds of steps of a plan, with the changed paths.
fn shown(proposal: &Proposal) -> String {
    let step = |step: &stead::plan::Step| {
        let paths: Vec<String> = step.changes.iter().map(|change| change.path.to_string()).collect();
        format!("{} {:?} {}", step.name.short(), step.why, paths.join(" "))
    };
    let steps: Vec<String> = proposal.plan().steps.iter().map(step).collect();
    steps.join("; ")
}

impl Life<'_> {
    fn it(&self) -> &Declared {
        self.all.last().unwrap()
    }

    async fn record(&self) -> Result<Resource, Shortfall> {
        match self.stack.record("it").await {
            Some(record) => Ok(record),
            None => fail("nothing is recorded"),
        }
    }

    fn name(&self, record: &Resource) -> ResourceName {
        let id = record.id.as_ref().map(|id| id.as_str()).unwrap_or_default();
        ResourceName::new(&self.bench.place(), self.it().schema().type_name.as_str(), id)
    }

    /// Returns the full model of the resource.
    async fn model(&self) -> Result<Map, Shortfall> {
        let name = self.name(&self.record().await?);
        match self.bench.cloud.model(&name).unwrap() {
            Some(model) => Ok(model),
            None => fail(format!("{} is not in the cloud", name.identifier)),
        }
    }

    /// Compares the cloud with the declared values.
    async fn look(&self) -> Ended {
        let (names, count) = (self.bench.cloud.resources().unwrap(), self.all.len());
        if names.len() != count {
            return fail(format!("the cloud has {} resources instead of {count}", names.len()));
        }
        let model = self.model().await?;
        let want = self.resolved().await?;
        match differences(self.it().schema(), &want, &model).first() {
            None => Ok(()),
            Some(first) => fail(format!("in the cloud, {first}")),
        }
    }

    /// Returns the inputs with the values that references lead to.
    async fn resolved(&self) -> Result<Map, Shortfall> {
        let mut inputs = self.it().inputs.clone();
        for link in &self.it().links {
            let Some(held) = self.stack.record(&link.to).await else {
                return fail("no record of a reference");
            };
            let Some(value) = held.outputs.get(link.property).and_then(Value::as_str) else {
                return fail(format!("{} has no {}", held.name, link.property));
            };
            let value = Value::from(format!("{}{value}", link.prefix));
            inputs = crate::leaves::replaced(&inputs, &link.path, value);
        }
        Ok(inputs)
    }

    async fn create(&self) -> Ended {
        let proposal = self.stack.plan(&self.program, Look::Recorded).await?;
        if proposal.plan().summary.create != self.program.len() {
            return fail(format!("the plan is {}", shown(&proposal)));
        }
        apply(proposal).await?;
        self.look().await
    }

    /// Checks that there is nothing to do, by the records and by the cloud.
    async fn unchanged(&self) -> Ended {
        for look in [Look::Recorded, Look::All] {
            let proposal = self.stack.plan(&self.program, look).await?;
            if !proposal.drift().is_empty() {
                let paths = proposal.drift().iter().flat_map(|drift| &drift.changes);
                let paths: Vec<String> = paths.map(|change| format!("{change:?}")).collect();
                return fail(format!("drift without a change outside: {}", paths.join(" ")));
            }
            if !proposal.is_empty() {
                return fail(format!("a plan without a change ({look:?}) is {}", shown(&proposal)));
            }
        }
        Ok(())
    }

    async fn change(&mut self, hidden: Hidden) -> Ended {
        let model = self.model().await?;
        let changed = in_place(self.it(), &model, hidden).map_err(Shortfall::NotApplicable)?;
        self.update(changed).await
    }

    async fn remove(&mut self) -> Ended {
        let model = self.model().await?;
        let changed = removal(self.it(), &model).map_err(Shortfall::NotApplicable)?;
        self.update(changed).await
    }

    /// Changes a property in place, and looks at the result.
    async fn update(&mut self, changed: Changed) -> Ended {
        let program = self.program.with(&changed.property, changed.value.as_ref());
        let proposal = self.stack.plan(&program, Look::Recorded).await?;
        let summary = proposal.plan().summary;
        if (summary.update, summary.create, summary.replace, summary.delete) != (1, 0, 0, 0) {
            return fail(format!("a change of {} is planned as {}", changed.property, shown(&proposal)));
        }
        apply(proposal).await?;
        self.program = program;
        self.all.last_mut().unwrap().inputs = changed.inputs;
        self.look().await?;
        self.unchanged().await
    }

    /// Checks that a protected resource is neither deleted nor replaced.
    async fn protect(&self) -> Ended {
        let protected = self.program.options(|options| options.prevent_delete = Some(true));
        apply(self.stack.plan(&protected, Look::Recorded).await?).await?;
        self.refused(self.stack.plan_destroy().await, "a destroy of a protected resource")?;
        self.refused(
            self.stack.plan(&protected.without_last(), Look::Recorded).await,
            "the removal of a protected resource",
        )?;
        for name in [NameAfter::Other, NameAfter::Same] {
            if let Ok(changed) = replacement(self.it(), name) {
                let replaced = protected.with(&changed.property, changed.value.as_ref());
                let planned = self.stack.plan(&replaced, Look::Recorded).await;
                self.refused(planned, "a replacement of a protected resource")?;
            }
        }
        apply(self.stack.plan(&self.program, Look::Recorded).await?).await?;
        self.look().await
    }

    /// Checks that a pinned resource is neither deleted nor replaced.
    async fn pin(&self) -> Ended {
        let pinned = self.program.options(|options| options.pinned = Some(true));
        apply(self.stack.plan(&pinned, Look::Recorded).await?).await?;
        self.refused(self.stack.plan_destroy().await, "a destroy of a pinned resource")?;
        self.refused(
            self.stack.plan(&pinned.without_last(), Look::Recorded).await,
            "the removal of a pinned resource",
        )?;
        if let Ok(changed) = replacement(self.it(), NameAfter::Same) {
            let replaced = pinned.with(&changed.property, changed.value.as_ref());
            self.refused(
                self.stack.plan(&replaced, Look::Recorded).await,
                "a replacement of a pinned resource",
            )?;
        }
        if let Ok(changed) = replacement(self.it(), NameAfter::Other) {
            let renamed = pinned.with(&changed.property, changed.value.as_ref());
            // The pinfile keeps the name, or refuses another one.
            match self.stack.plan(&renamed, Look::Recorded).await {
                Ok(proposal) if proposal.plan().summary.replace == 0 => {}
                planned => self.refused(planned, "another name of a pinned resource")?,
            }
        }
        let released = self.program.options(|options| options.pinned = Some(false));
        apply(self.stack.plan(&released, Look::Recorded).await?).await?;
        self.look().await
    }

    /// Fails unless a guard refuses a plan.
    fn refused(&self, planned: Result<Proposal, OpError>, what: &str) -> Ended {
        let refusal = match planned {
            Ok(proposal) => {
                let plan = shown(&proposal);
                proposal
                    .permit()
                    .map(drop)
                    .map_err(|error| (error, plan.clone()))
                    .map_or_else(Ok, |()| Err(plan))
            }
            Err(error) => Ok((error, String::new())),
        };
        match refusal {
            Ok((error, _)) if is_guarded(&error) => Ok(()),
            Ok((error, plan)) => fail(format!("{what}: {} ({plan})", told(&error))),
            Err(plan) => fail(format!("{what} is allowed: {plan}")),
        }
    }

    async fn replace(&mut self, name: NameAfter) -> Ended {
        let changed = replacement(self.it(), name).map_err(Shortfall::NotApplicable)?;
        let before = self.record().await?;
        let program = self.program.with(&changed.property, changed.value.as_ref());
        let proposal = self.stack.plan(&program, Look::Recorded).await?;
        let summary = proposal.plan().summary;
        if (summary.replace, summary.create, summary.update, summary.delete) != (1, 0, 0, 0) {
            return fail(format!("a change of {} is planned as {}", changed.property, shown(&proposal)));
        }
        let plan = shown(&proposal);
        apply(proposal).await.map_err(|why| format!("a change of {} ({plan}): {why}", changed.property))?;
        self.program = program;
        self.all.last_mut().unwrap().inputs = changed.inputs;
        self.look().await?;
        let after = self.record().await?;
        if (&before.uid, before.generation.0 + 1) != (&after.uid, after.generation.0) {
            return fail("the replaced resource has no new generation".to_owned());
        }
        self.unchanged().await
    }

    async fn delete(&self) -> Ended {
        let proposal = self.stack.plan(&self.program.without_last(), Look::Recorded).await?;
        let summary = proposal.plan().summary;
        if (summary.delete, summary.create, summary.update, summary.replace) != (1, 0, 0, 0) {
            return fail(format!("the removal is planned as {}", shown(&proposal)));
        }
        apply(proposal).await?;
        if self.bench.cloud.resources().unwrap().len() + 1 != self.all.len() {
            return fail("it is still in the cloud");
        }
        if self.all.len() > 1 {
            apply(self.stack.plan_destroy().await?).await?;
        }
        let state = self.stack.state().await;
        let left = state.copies().count() + state.pending().count() + state.retained().count();
        if left > 0 || !self.bench.cloud.resources().unwrap().is_empty() {
            return fail(format!("{left} records are left"));
        }
        Ok(())
    }
}

/// Makes the resources of a subject outside of stead, and returns their identifiers.
fn found(bench: &Bench, subject: &Subject) -> Result<Vec<String>, String> {
    let mut models: BTreeMap<&str, Map> = BTreeMap::new();
    let mut ids = Vec::new();
    for declared in &subject.all {
        let mut inputs = declared.inputs.clone();
        for link in &declared.links {
            let value =
                models[link.to.as_str()].get(link.property).and_then(Value::as_str).unwrap_or_default();
            inputs =
                crate::leaves::replaced(&inputs, &link.path, Value::from(format!("{}{value}", link.prefix)));
        }
        let type_name = &declared.schema().type_name;
        let made =
            bench.cloud.insert(&bench.place(), type_name, &inputs).map_err(|error| error.to_string())?;
        let model = bench.cloud.model(&made).unwrap().unwrap();
        models.insert(&declared.id, model);
        ids.push(made.identifier);
    }
    Ok(ids)
}

/// Imports a resource that no program declares, and checks that it is kept.
async fn import(bench: &Bench, program: &TestProgram, it: &Declared, id: &str) -> Ended {
    let stack = bench.stack();
    let import = Import::new(&stack.workspace, it.ty.as_str(), "it", id)?;
    let settings = (Wait::No, Vec::new());
    let nothing = program.empty();
    let proposal = stack.workspace.preview_import(&nothing, &import, settings, &mut |_| {}).await?;
    if proposal.plan().summary.import != 1 || proposal.plan().steps.len() != 1 {
        return fail(format!("the import is planned as {}", shown(&proposal)));
    }
    apply(proposal).await?;
    for look in [Look::Recorded, Look::All] {
        let proposal = stack.plan(&nothing, look).await?;
        if !proposal.is_empty() || proposal.undeclared_imports().len() != 1 {
            return fail(format!("after the import, the plan ({look:?}) is {}", shown(&proposal)));
        }
    }
    // An import that was never declared is forgotten, not deleted.
    let count = bench.cloud.resources().unwrap().len();
    apply(stack.plan_destroy().await?).await?;
    if bench.cloud.resources().unwrap().len() != count {
        return fail("the destroy deleted an undeclared import");
    }
    Ok(())
}

/// Imports the resources that a program declares, and checks that they become its own.
async fn import_declared(bench: &Bench, program: &TestProgram, subject: &Subject, ids: &[String]) -> Ended {
    let stack = bench.stack();
    let program = program.importing(ids);
    let proposal = match stack.plan(&program, Look::Recorded).await {
        Err(_) if hides_what_cannot_change(bench, subject.it(), ids.last().unwrap()) => {
            let reason = "refused, because a declared write-only value can neither be compared nor be changed in place";
            return Err(Shortfall::NotApplicable(reason.to_owned()));
        }
        planned => planned?,
    };
    let summary = proposal.plan().summary;
    if (summary.import, summary.create, summary.replace, summary.delete) != (ids.len(), 0, 0, 0) {
        return fail(format!("the import is planned as {}", shown(&proposal)));
    }
    let plan = shown(&proposal);
    apply(proposal).await.map_err(|why| format!("{plan}: {why}"))?;
    let life = Life { bench, stack, program, all: subject.all.clone() };
    life.unchanged().await?;
    life.look().await?;
    life.delete().await
}

/// Returns true if the inputs have a write-only value, and the service refuses every update.
fn hides_what_cannot_change(bench: &Bench, it: &Declared, id: &str) -> bool {
    let schema = it.schema();
    let name = ResourceName::new(&bench.place(), schema.type_name.as_str(), id);
    let model = bench.cloud.model(&name).unwrap().unwrap();
    let hides = it.inputs.keys().any(|name| reaches(schema, Class::WriteOnly, name));
    hides && stead_cloud::update(schema, &model, &perfect_patch(schema, &model, &model)).is_err()
}
