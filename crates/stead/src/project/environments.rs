//! The tables `[env.NAME]` of `stead.toml`: listed, added and removed. Comments and order of the file stay.

use stead_engine::ops::OpError;
use stead_model::{Code, Diagnostic, Environment, NameError};
use toml_edit::{DocumentMut, Item, Table};

use super::{FILE, Project, check, unusable};

impl Project {
    /// Returns the names of the tables `[env.NAME]`.
    pub fn declared_environments(&self) -> impl Iterator<Item = &str> {
        self.settings.env.keys().map(String::as_str)
    }

    /// Returns the environment that operations use if the caller names none.
    pub fn default_environment(&self) -> Result<Environment, OpError> {
        read_environment(&self.default_environment)
    }

    /// Adds the table `[env.NAME]` to `stead.toml`. Fails if the file has it.
    pub fn declare_environment(&self, name: &str) -> Result<(), OpError> {
        if read_environment(name)?.namespace.is_some() {
            let message = format!("{name:?} names a namespace; an environment is declared without one");
            return Err(OpError::invalid(Diagnostic::error(Code::USAGE, message)));
        }
        if self.declared_environments().any(|known| known == name) {
            let problem =
                Diagnostic::error(Code::NAME_TAKEN, format!("{FILE} has the environment {name:?} already"));
            return Err(OpError::refused(problem.note("Nothing was changed.")));
        }
        self.edit(|document| {
            let implicit = || {
                let mut table = Table::new();
                table.set_implicit(true);
                Item::Table(table)
            };
            let environments = document.entry("env").or_insert_with(implicit);
            environments.as_table_like_mut()?.insert(name, Item::Table(Table::new()));
            Some(())
        })
    }

    /// Removes the table `[env.NAME]`, with the tables in it, from `stead.toml`.
    pub fn remove_environment(&self, name: &str) -> Result<(), OpError> {
        self.edit(|document| {
            let environments = document.get_mut("env")?.as_table_like_mut()?;
            environments.remove(name)?;
            if environments.is_empty() {
                document.remove("env");
            }
            Some(())
        })
    }

    /// Changes `stead.toml` as one write, if the result is valid.
    pub(super) fn edit(&self, change: impl FnOnce(&mut DocumentMut) -> Option<()>) -> Result<(), OpError> {
        let (path, files) = (self.root.join(FILE), &self.world.files);
        let read = || Some(String::from_utf8(files.read(&path).ok()?).ok()?.parse::<DocumentMut>());
        let Some(Ok(mut document)) = read() else { return Err(unusable(&path, "it cannot be read")) };
        change(&mut document).ok_or_else(|| unusable(&path, "a key that has to be a table is a value"))?;
        let text = document.to_string();
        check(&text)?;
        let mode = files.metadata(&path).ok().flatten().map_or(0o644, |found| found.mode);
        let write = || {
            let unique = self.world.entropy.uuid()?;
            files.write_atomically(&path, text.as_bytes(), mode, &unique)
        };
        write().map_err(|error: std::io::Error| {
            let message = format!("cannot write {}: {error}", path.display());
            OpError::refused(Diagnostic::error(Code::STORE, message).note("Nothing was changed."))
        })
    }
}

/// Reads `environment` or `environment:namespace`. A `:` inside a part is written `%3A`.
pub fn read_environment(text: &str) -> Result<Environment, OpError> {
    text.parse().map_err(|error: NameError| {
        let problem = Diagnostic::error(Code::USAGE, format!("{text:?} is not an environment: {error}"));
        OpError::invalid(problem.help("write `environment` or `environment:namespace`"))
    })
}
