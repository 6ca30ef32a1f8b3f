//! All types that a program may use.

use std::collections::BTreeMap;
use std::sync::Arc;

use stead_model::TypeToken;

use crate::TypeSchema;
use crate::published::{PROVIDER, Published, published};

/// Types by token: those of the providers of a run, and those that AWS publishes.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Shared: a catalog is cloned with every engine.
    types: BTreeMap<TypeToken, Arc<TypeSchema>>,
    /// Called when a type of theirs is asked for: until then the bundle is not even opened.
    published: Option<fn() -> &'static Published>,
}

impl Catalog {
    pub fn add(&mut self, schema: TypeSchema) {
        self.types.insert(schema.token.clone(), Arc::new(schema));
    }

    /// With all types that AWS publishes. None is read before it is asked for.
    #[must_use]
    pub fn with_published(self) -> Catalog {
        Catalog { published: Some(published), ..self }
    }

    pub fn get(&self, token: &TypeToken) -> Option<&TypeSchema> {
        let of_aws = || self.published.filter(|_| token.provider() == PROVIDER)?().get(token);
        self.types.get(token).map(Arc::as_ref).or_else(of_aws)
    }

    /// What the types of one provider are called, in order. Reads none of them.
    pub fn tokens_of<'a>(&'a self, provider: &'a str) -> impl Iterator<Item = &'a TypeToken> {
        let of_aws = self.published.filter(|_| provider == PROVIDER).into_iter();
        let of_aws = of_aws.flat_map(|published| published().tokens());
        self.types.keys().filter(move |token| token.provider() == provider).chain(of_aws)
    }

    /// The types of one provider, in order.
    pub fn of_provider<'a>(&'a self, provider: &'a str) -> impl Iterator<Item = &'a TypeSchema> {
        self.tokens_of(provider).filter_map(|token| self.get(token))
    }
}

impl FromIterator<TypeSchema> for Catalog {
    fn from_iter<I: IntoIterator<Item = TypeSchema>>(types: I) -> Self {
        let mut catalog = Catalog::default();
        types.into_iter().for_each(|schema| catalog.add(schema));
        catalog
    }
}
