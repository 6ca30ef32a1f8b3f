//! Configured instances behind the veil: settings are revealed, and the instance stands behind a veil of its own.

use std::sync::Arc;

use stead_model::TypeToken;

use super::Veil;
use super::marks::Marks;
use crate::{Configurable, Configuration, Provider, Refusal};

impl Configurable for Veil {
    fn settings_type(&self) -> TypeToken {
        self.inner.configurable().map(Configurable::settings_type).unwrap_or(TypeToken(String::new()))
    }

    fn configured(&self, configuration: &Configuration) -> Result<Arc<dyn Provider>, Refusal> {
        let Some(inner) = self.inner.configurable() else {
            return Err(Refusal::new(format!("the provider `{}` has no settings", self.name())));
        };
        let marks = Marks::default().with(&configuration.settings).with(&configuration.outputs);
        self.known.learn_from(&marks);
        let revealed = Configuration {
            settings: marks.revealed(&configuration.settings).into_owned(),
            outputs: marks.revealed(&configuration.outputs).into_owned(),
            completeness: configuration.completeness,
        };
        let made = inner.configured(&revealed).map_err(|refusal| self.refusal(&marks, refusal))?;
        Ok(Arc::new(Veil::new(made, self.known.clone(), self.reads.clone())))
    }
}
