//! Mark settings around a program: the tables in `stead.toml`, and the flags of one call.

use std::collections::BTreeMap;

use serde::Deserialize;
use stead_guard::{BadMark, LevelMarks, MarkReader, OuterLevels, RawMark, RawValue, Spelling, UnknownKeys};
use stead_model::{DeletionPolicy, Environment, Level, SourceRef, Value};
use toml::Spanned;

use super::{FILE, Project, position};

/// A table of marks in `stead.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct MarkTable(BTreeMap<Spanned<String>, Value>);

/// The table `[namespace.NAME]`, which holds only marks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamespaceSettings {
    #[serde(default)]
    pub marks: MarkTable,
}

/// All mark tables of a file, also the ones of other environments.
#[derive(Clone, Debug)]
pub(super) struct FileMarks {
    project: LevelMarks,
    environments: BTreeMap<String, LevelMarks>,
    namespaces: BTreeMap<String, LevelMarks>,
}

impl FileMarks {
    pub(super) fn read<'a>(
        text: &str,
        (project, marks): (&str, &'a MarkTable),
        environments: impl Iterator<Item = (&'a String, &'a MarkTable)>,
        namespaces: impl Iterator<Item = (&'a String, &'a MarkTable)>,
    ) -> Result<FileMarks, Vec<BadMark>> {
        let mut problems = Vec::new();
        let mut level = |level: Level, table: &MarkTable| {
            let reader = MarkReader { unknown_keys: UnknownKeys::Refused, service: None };
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
}

impl Project {
    /// Returns the mark settings around the program in an environment, nearest first.
    pub fn levels(&self, environment: &Environment, flags: &FlagMarks) -> OuterLevels {
        let FileMarks { project, environments, namespaces } = &self.marks;
        let namespace = environment.namespace.as_ref().and_then(|name| namespaces.get(name));
        let environment = environments.get(&environment.name);
        let files = namespace.into_iter().chain(environment).chain([project]).cloned();
        OuterLevels::new(files.chain([flags.level()]))
    }
}

fn entries(table: &MarkTable, text: &str) -> impl Iterator<Item = RawMark> {
    table.0.iter().map(|(key, value)| {
        let (line, column, _) = position(text, key.span());
        let place = Some(SourceRef { file: FILE.to_owned(), line, column });
        RawMark { key: key.get_ref().clone(), spelling: Spelling::Annotation, value: value.into(), place }
    })
}

/// Protection of all resources for one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prevention {
    #[default]
    NotAdded,
    Added,
}

/// Mark settings of one call, the weakest level.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlagMarks {
    pub deletion_policy: Option<DeletionPolicy>,
    pub prevent_delete: Prevention,
}

impl FlagMarks {
    fn level(&self) -> LevelMarks {
        let policy = self.deletion_policy.map(|policy| match policy {
            DeletionPolicy::Delete => "delete",
            DeletionPolicy::Retain => "retain",
        });
        let policy = policy.map(|policy| ("deletion-policy", RawValue::Text(policy.to_owned())));
        let prevented =
            (self.prevent_delete == Prevention::Added).then_some(("prevent-delete", RawValue::Bool(true)));
        let entries = policy.into_iter().chain(prevented).map(|(key, value)| RawMark {
            key: key.to_owned(),
            spelling: Spelling::Annotation,
            value,
            place: None,
        });
        let reader = MarkReader { unknown_keys: UnknownKeys::Refused, service: None };
        reader.read(Level::Flag, entries).unwrap_or_else(|_| LevelMarks::none(Level::Flag))
    }
}
