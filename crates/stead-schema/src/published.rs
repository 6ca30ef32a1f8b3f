//! Published AWS types as types of a catalog: `AWS::S3::Bucket` is `aws.s3.Bucket`. The type `aws.Provider` is stead's own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use stead_model::{PropertyPath, TypeToken};

use crate::cfn::{self, Class, bundle};
use crate::{Access, Property, PublishedForm, Shape, TypeSchema};

/// Provider of the published types.
pub(crate) const PROVIDER: &str = "aws";

/// Type of the resources that configure the provider.
pub const AWS_PROVIDER: &str = "aws.Provider";

/// Returns the token of a published type.
pub fn token_of(type_name: &str) -> Option<TypeToken> {
    let mut parts = type_name.split("::");
    let ("AWS", service, name) = (parts.next()?, parts.next()?, parts.next()?) else { return None };
    parts.next().is_none().then(|| TypeToken(format!("{PROVIDER}.{}.{name}", service.to_lowercase())))
}

/// Returns the published type that a token names.
pub fn type_name_of(token: &TypeToken) -> Option<&'static str> {
    let published = published();
    published.by_token.get(token).map(|at| published.names[*at])
}

/// Returns the type whose resources have the values that a list of a type needs, if one is known.
pub fn list_parent_of(type_name: &str) -> Option<cfn::ListParent> {
    let published = published();
    let schema = |name: &'static str| {
        let ty = published.get(&token_of(name)?)?;
        match ty.properties.first().map(|property| &property.shape) {
            Some(Shape::Published(form)) => Some(form.schema.as_ref()),
            _ => None,
        }
    };
    cfn::list_parent(type_name, published.names.iter().copied(), schema)
}

/// All published types, each parsed when it is first requested.
pub(crate) struct Published {
    names: Vec<&'static str>,
    by_token: BTreeMap<TypeToken, usize>,
    /// The provider's own type, parsed when it is first requested.
    provider: (TypeToken, OnceLock<Option<TypeSchema>>),
    types: Vec<OnceLock<Option<TypeSchema>>>,
}

pub(crate) fn published() -> &'static Published {
    static PUBLISHED: OnceLock<Published> = OnceLock::new();
    PUBLISHED.get_or_init(|| {
        let names: Vec<&'static str> = bundle::shipped().names().collect();
        let tokens = names.iter().enumerate().filter_map(|(at, name)| Some((token_of(name)?, at)));
        Published {
            by_token: tokens.collect(),
            provider: (TypeToken(AWS_PROVIDER.to_owned()), OnceLock::new()),
            types: names.iter().map(|_| OnceLock::new()).collect(),
            names,
        }
    })
}

impl Published {
    pub(crate) fn get(&self, token: &TypeToken) -> Option<&TypeSchema> {
        if *token == self.provider.0 {
            return self.provider.1.get_or_init(|| provider_schema(token)).as_ref();
        }
        let at = *self.by_token.get(token)?;
        let read = || bundle::shipped().schema(self.names[at]).map(|schema| type_schema(token, schema));
        self.types[at].get_or_init(read).as_ref()
    }

    pub(crate) fn tokens(&self) -> impl Iterator<Item = &TypeToken> {
        std::iter::once(&self.provider.0).chain(self.by_token.keys())
    }
}

impl fmt::Debug for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} published types", self.names.len())
    }
}

/// Returns the schema of `aws.Provider`.
fn provider_schema(token: &TypeToken) -> Option<TypeSchema> {
    let document = serde_json::from_str(include_str!("../data/provider.json")).ok()?;
    let doc = "An account and a region of AWS, and the tags of all resources there.".to_owned();
    Some(TypeSchema { doc, ..type_schema(token, cfn::parse(&document).ok()?) })
}

fn type_schema(token: &TypeToken, schema: cfn::Schema) -> TypeSchema {
    let schema = Arc::new(schema);
    let properties = schema.properties().map(|(name, form)| property(&schema, name, form)).collect();
    let doc = format!("{} on AWS.", schema.type_name);
    let replace_order = schema.replacement.unwrap_or_default();
    let timeouts = Default::default();
    TypeSchema { token: token.clone(), doc, properties, replace_order, timeouts }
}

fn property(schema: &Arc<cfn::Schema>, name: &str, form: cfn::FormId) -> Property {
    let path = PropertyPath::of(name);
    let is = |class: Class| schema.classes.of(class).covers(&path);
    // Services fill in properties that are left out. Only write-only properties stay as the program set them.
    let access = match schema.form(cfn::Schema::ROOT).required.contains(name) {
        _ if is(Class::ReadOnly) => Access::ReadOnly,
        true => Access::Required,
        false if is(Class::WriteOnly) => Access::Optional,
        false => Access::Filled,
    };
    let words: Vec<&str> = Class::ALL.into_iter().filter(|class| is(*class)).map(Class::word).collect();
    let shape = Shape::Published(PublishedForm { schema: schema.clone(), form });
    let property = Property::new(name, shape, access, &words.join(", "));
    // An update changes no identifier: it would be another resource.
    let identifies = schema
        .primary_identifier
        .iter()
        .chain(schema.additional_identifiers.iter().flatten())
        .any(|part| *part == path);
    let is_stable = || access == Access::ReadOnly && cfn::stable(&schema.type_name).contains(&name);
    if is(Class::CreateOnly) {
        property.create_only()
    } else if identifies || is_stable() {
        property.stable()
    } else {
        property
    }
}

#[cfg(test)]
mod tests {
    use crate::Catalog;
    use stead_model::TypeToken;

    #[test]
    fn key_of_a_list_names_the_type_that_has_its_value() {
        let parent = |type_name: &str| {
            let parent = super::list_parent_of(type_name)?;
            Some((parent.type_name, parent.properties.join(" ")))
        };
        let is = |type_name: &str, found: (&'static str, &str)| {
            assert_eq!(parent(type_name), Some((found.0, found.1.to_owned())));
        };
        is("AWS::EKS::Nodegroup", ("AWS::EKS::Cluster", "Name"));
        is("AWS::ApiGateway::Resource", ("AWS::ApiGateway::RestApi", "RestApiId"));
        is("AWS::ApiGatewayV2::Route", ("AWS::ApiGatewayV2::Api", "ApiId"));
        is("AWS::AccessAnalyzer::ArchiveRule", ("AWS::AccessAnalyzer::Analyzer", "AnalyzerName"));
        assert_eq!(parent("AWS::S3::Bucket"), None);
        let all = crate::cfn::bundle::shipped().names();
        let children: Vec<&str> = all.filter(|name| !crate::cfn::list_parent_keys(name).is_empty()).collect();
        let known = children.iter().filter(|name| super::list_parent_of(name).is_some()).count();
        assert!(known * 3 > children.len(), "{known} of {}", children.len());
    }

    #[test]
    fn identifiers_and_known_properties_survive_an_update() {
        let catalog = Catalog::default().with_published();
        let stable = |token: &str, property: &str| {
            let ty = catalog.get(&TypeToken(token.to_owned())).unwrap();
            ty.property(property).unwrap().stable
        };
        assert!(stable("aws.apigatewayv2.Integration", "IntegrationId"));
        assert!(stable("aws.lambda.Function", "Arn") && stable("aws.lambda.Function", "FunctionName"));
        assert!(!stable("aws.dynamodb.Table", "StreamArn"), "a changed stream has another one");
        assert!(!stable("aws.iam.Group", "Arn"), "it contains the path, which can change");
        assert!(!stable("aws.lambda.Function", "Description"));
    }
}
