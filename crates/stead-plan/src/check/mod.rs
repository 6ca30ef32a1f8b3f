//! Checks that a partial plan leaves unselected resources and their records intact.

mod broken_dependencies;
mod cycle;
mod unselected_loss;

pub(crate) use broken_dependencies::broken_dependencies;
pub(crate) use unselected_loss::unselected_loss;
