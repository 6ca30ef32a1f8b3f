//! Turns decisions into steps and puts the steps in order: names first, deletions last.

mod deletions;
mod early;
mod in_the_way;
mod names;
mod steps;

pub(crate) use deletions::is_in;
pub(crate) use steps::assemble;
