//! Strategies that compute an update from desired inputs.

use stead_model::{Map, Value};
use stead_schema::cfn::Schema;

/// Inputs of a strategy.
pub(crate) struct Question<'a> {
    pub(crate) schema: &'a Schema,
    /// Inputs at the last create or update.
    pub(crate) last: &'a Map,
    /// Model that the service returned after that, if it is recorded.
    pub(crate) settled: Option<&'a Map>,
    /// Model that the service returns.
    pub(crate) live: &'a Map,
    pub(crate) want: &'a Map,
}

#[derive(Debug)]
pub(crate) enum Answer {
    Nothing,
    /// A patch document.
    Patch(Value),
    Replace,
    Impossible(String),
}

pub(crate) trait Strategy {
    fn name(&self) -> &'static str;

    fn answer(&self, question: &Question<'_>) -> Answer;
}
