//! The levels around a program: namespace, environment, project, command line.

use serde::{Deserialize, Serialize};
use stead_model::{Level, Marks, Resource};

use crate::levels::resolve;
use crate::marks::{LevelMarks, service_of};

/// What is set around the program, nearest first. Levels that say nothing are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Outer(Vec<LevelMarks>);

impl Outer {
    /// The levels in the order in which they count: namespace, environment, project, flag.
    pub fn new(levels: impl IntoIterator<Item = LevelMarks>) -> Outer {
        Outer(levels.into_iter().filter(|level| !level.is_empty()).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn levels(&self) -> impl Iterator<Item = &LevelMarks> {
        self.0.iter()
    }

    /// What is added by today's settings to what is recorded of a resource that no program speaks of. What was
    /// set near it is nearer, and stays in the record; what was set around it is read anew.
    pub fn over(&self, resource: &Resource) -> Marks {
        if self.is_empty() {
            return Marks::default();
        }
        let mut near = resource.recorded_marks();
        keep(&mut near, is_near);
        let near = LevelMarks::recorded(near, resource);
        let levels: Vec<&LevelMarks> = [&near].into_iter().chain(self.levels()).collect();
        let mut marks = resolve(&levels, &service_of(&resource.ty));
        keep(&mut marks, |level| !is_near(level));
        marks
    }

    /// The same settings in the files, whatever the command line says, and wherever they stand.
    pub fn same_files(&self, other: &Outer) -> bool {
        let files = |outer: &'_ Outer| -> Vec<LevelMarks> {
            outer.levels().filter(|level| *level.level() != Level::Flag).cloned().collect()
        };
        let (ours, theirs) = (files(self), files(other));
        ours.len() == theirs.len()
            && ours.iter().zip(&theirs).all(|(ours, theirs)| ours.same_settings(theirs))
    }
}

fn is_near(level: &Level) -> bool {
    matches!(level, Level::Resource(_) | Level::Enclosing(_))
}

fn keep(marks: &mut Marks, wanted: impl Fn(&Level) -> bool) {
    marks.prevent_delete.take_if(|mark| !wanted(&mark.source.level));
    marks.deletion_policy.take_if(|mark| !wanted(&mark.source.level));
}

#[cfg(test)]
mod tests;
