//! The levels around a program: namespace, environment, project, and the flag on the command line.

use serde::{Deserialize, Serialize};
use stead_model::{Level, Marks, Resource, TypeToken};

use super::levels::resolve;
use super::read::{LevelMarks, service_of};

/// The levels around a program that have marks, nearest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OuterLevels(Vec<LevelMarks>);

impl OuterLevels {
    /// Takes the levels in order: namespace, environment, project, flag. Levels without marks are dropped.
    pub fn new(levels: impl IntoIterator<Item = LevelMarks>) -> OuterLevels {
        OuterLevels(levels.into_iter().filter(|level| !level.is_empty()).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn levels(&self) -> impl Iterator<Item = &LevelMarks> {
        self.0.iter()
    }

    /// Returns the marks that these levels set on a recorded resource that the program does not declare.
    ///
    /// Marks recorded from the resource and its parents take precedence and are not returned. Marks recorded from outer
    /// levels are ignored, because `self` holds their current values.
    pub fn marks_for(&self, resource: &Resource) -> Marks {
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

    /// Returns all levels without the flag, which is for one run.
    pub fn lasting(&self) -> OuterLevels {
        OuterLevels(self.levels().filter(|level| *level.level() != Level::Flag).cloned().collect())
    }

    /// Adds the marks of the flag to the marks that a declared resource has in the graph.
    pub fn with_flag(&self, marks: Marks, ty: &TypeToken) -> Marks {
        let Some(flag) = self.levels().find(|level| *level.level() == Level::Flag) else { return marks };
        let flag = resolve(&[flag], &service_of(ty));
        let prevents = marks.prevents_deletion() || !flag.prevents_deletion();
        Marks {
            prevent_delete: if prevents { marks.prevent_delete } else { flag.prevent_delete },
            deletion_policy: marks.deletion_policy.or(flag.deletion_policy),
        }
    }

    /// Returns true if the files have the same settings, regardless of their positions and of the flag.
    pub fn same_file_settings(&self, other: &OuterLevels) -> bool {
        let (OuterLevels(ours), OuterLevels(theirs)) = (self.lasting(), other.lasting());
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
