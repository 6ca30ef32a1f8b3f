//! Catalog of the resource types that a program may use.

use std::collections::BTreeMap;
use std::sync::Arc;

use stead_model::TypeToken;

use crate::TypeSchema;
use crate::published::{PROVIDER, Published, published};

/// Resource types by token: the types of a run's providers and the types that AWS publishes.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Behind `Arc` because every engine clones the catalog.
    types: BTreeMap<TypeToken, Arc<TypeSchema>>,
    /// Opens the published types. A function, so that the bundle is not opened before a published type is requested.
    published: Option<fn() -> &'static Published>,
}

impl Catalog {
    pub fn add(&mut self, schema: TypeSchema) {
        self.types.insert(schema.token.clone(), Arc::new(schema));
    }

    /// Adds all types that AWS publishes. Each is parsed when it is first requested.
    #[must_use]
    pub fn with_published(self) -> Catalog {
        Catalog { published: Some(published), ..self }
    }

    /// Adds the types of another catalog.
    #[must_use]
    pub fn and(mut self, other: Catalog) -> Catalog {
        self.types.extend(other.types);
        Catalog { published: self.published.or(other.published), ..self }
    }

    pub fn get(&self, token: &TypeToken) -> Option<&TypeSchema> {
        let of_aws = || self.published.filter(|_| token.provider() == PROVIDER)?().get(token);
        self.types.get(token).map(Arc::as_ref).or_else(of_aws)
    }

    /// Returns the type tokens of one provider, in order, without parsing any schema.
    pub fn tokens_of<'a>(&'a self, provider: &'a str) -> impl Iterator<Item = &'a TypeToken> {
        let of_aws = self.published.filter(|_| provider == PROVIDER).into_iter();
        let of_aws = of_aws.flat_map(|published| published().tokens());
        self.types.keys().filter(move |token| token.provider() == provider).chain(of_aws)
    }

    /// Returns the types of one provider, in order.
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
