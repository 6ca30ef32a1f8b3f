//! Marks around a program: the tables in `stead.toml`, and the flags.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use serde::Deserialize;
use stead_guard::{BadMark, Entry, Foreign, Given, LevelMarks, Outer, Reader, Written};
use stead_model::{Environment, Level, SourceRef, Value};
use toml::Spanned;

use crate::project::{FILE, place_in};

/// A table of marks as it stands in the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct MarkTable(BTreeMap<Spanned<String>, Value>);

/// `[namespace.NAME]`: nothing but marks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamespaceSettings {
    #[serde(default)]
    pub marks: MarkTable,
}

/// All tables of a file, read. Those of other environments are read too: what is wrong with them is wrong.
#[derive(Clone, Debug)]
pub(crate) struct FileMarks {
    project: LevelMarks,
    environments: BTreeMap<String, LevelMarks>,
    namespaces: BTreeMap<String, LevelMarks>,
}

impl FileMarks {
    pub(crate) fn read<'a>(
        text: &str,
        (project, marks): (&str, &'a MarkTable),
        environments: impl Iterator<Item = (&'a String, &'a MarkTable)>,
        namespaces: impl Iterator<Item = (&'a String, &'a MarkTable)>,
    ) -> Result<FileMarks, Vec<BadMark>> {
        let mut problems = Vec::new();
        let mut level = |level: Level, table: &MarkTable| {
            let reader = Reader { foreign: Foreign::Refused, service: None };
            reader.read(level.clone(), entries(table, text)).unwrap_or_else(|bad| {
                problems.extend(bad);
                LevelMarks::none(level)
            })
        };
        let project = level(Level::Project(project.to_owned()), marks);
        let environments =
            environments.map(|(name, table)| (name.clone(), level(Level::Environment(name.clone()), table)));
        let environments = environments.collect();
        let namespaces =
            namespaces.map(|(name, table)| (name.clone(), level(Level::Namespace(name.clone()), table)));
        let namespaces = namespaces.collect();
        if problems.is_empty() { Ok(FileMarks { project, environments, namespaces }) } else { Err(problems) }
    }

    /// Everything around a program in an environment, nearest first.
    pub(crate) fn outer(&self, environment: &Environment, flags: &MarkFlags) -> Outer {
        let namespace = environment.namespace.as_ref().and_then(|name| self.namespaces.get(name));
        let environment = self.environments.get(&environment.name);
        let files = namespace.into_iter().chain(environment).chain([&self.project]).cloned();
        Outer::new(files.chain([flags.level()]))
    }
}

fn entries(table: &MarkTable, text: &str) -> impl Iterator<Item = Entry> {
    table.0.iter().map(|(key, value)| {
        let (line, column, _) = place_in(text, key.span());
        let place = Some(SourceRef { file: FILE.to_owned(), line, column });
        Entry { key: key.get_ref().clone(), written: Written::Annotation, value: value.into(), place }
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Policy {
    Delete,
    Retain,
}

/// The weakest level.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct MarkFlags {
    /// What becomes of real things whose declaration goes, where nothing else says so [default: delete]
    #[arg(long, value_name = "POLICY", ignore_case = true)]
    pub deletion_policy: Option<Policy>,
    /// Delete, replace and forget nothing in this run, whatever the marks say
    #[arg(long)]
    pub prevent_delete: bool,
}

impl MarkFlags {
    fn level(&self) -> LevelMarks {
        let policy = self.deletion_policy.map(|policy| match policy {
            Policy::Delete => "delete",
            Policy::Retain => "retain",
        });
        let policy = policy.map(|policy| ("deletion-policy", Given::Text(policy.to_owned())));
        let prevented = self.prevent_delete.then_some(("prevent-delete", Given::Bool(true)));
        let entries = policy.into_iter().chain(prevented).map(|(key, value)| Entry {
            key: key.to_owned(),
            written: Written::Annotation,
            value,
            place: None,
        });
        let reader = Reader { foreign: Foreign::Refused, service: None };
        reader.read(Level::Flag, entries).unwrap_or_else(|_| LevelMarks::none(Level::Flag))
    }
}
