//! All types that the providers of a run serve.

use std::collections::BTreeMap;

use stead_model::TypeToken;

use crate::TypeSchema;

/// Types by token.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    types: BTreeMap<TypeToken, TypeSchema>,
}

impl Catalog {
    pub fn add(&mut self, schema: TypeSchema) {
        self.types.insert(schema.token.clone(), schema);
    }

    pub fn get(&self, token: &TypeToken) -> Option<&TypeSchema> {
        self.types.get(token)
    }

    /// The types of one provider, in order.
    pub fn of_provider<'a>(&'a self, provider: &'a str) -> impl Iterator<Item = &'a TypeSchema> {
        self.types.values().filter(move |schema| schema.token.provider() == provider)
    }

    pub fn iter(&self) -> impl Iterator<Item = &TypeSchema> {
        self.types.values()
    }
}

impl FromIterator<TypeSchema> for Catalog {
    fn from_iter<I: IntoIterator<Item = TypeSchema>>(types: I) -> Self {
        let mut catalog = Catalog::default();
        types.into_iter().for_each(|schema| catalog.add(schema));
        catalog
    }
}
