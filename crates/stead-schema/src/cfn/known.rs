//! Facts about properties of common types that their published schemas do not tell, from tables.

use std::collections::HashMap;
use std::sync::OnceLock;

use stead_model::PathPattern;

use super::classes::{Cursor, PathSet};

/// Write-only properties that hold no secret.
const PUBLIC_WRITE_ONLY: &str = include_str!("../../data/public-write-only.txt");

/// Read-only properties that no update in place changes.
const STABLE: &str = include_str!("../../data/stable.txt");

/// Read-only properties with a secret that the service makes.
const SECRET_OUTPUTS: &str = include_str!("../../data/secret-outputs.txt");

type ByType = HashMap<&'static str, Vec<&'static str>>;

/// Returns the top-level properties of a type that are write-only and hold no secret.
pub(super) fn public_write_only(type_name: &str) -> &'static [&'static str] {
    static BY_TYPE: OnceLock<ByType> = OnceLock::new();
    of_type(BY_TYPE.get_or_init(|| read(PUBLIC_WRITE_ONLY)), type_name)
}

/// Returns the read-only properties of a type that no update in place changes, besides its identifiers.
pub(crate) fn stable(type_name: &str) -> &'static [&'static str] {
    static BY_TYPE: OnceLock<ByType> = OnceLock::new();
    of_type(BY_TYPE.get_or_init(|| read(STABLE)), type_name)
}

/// Secrets that a service makes for a type and returns.
#[derive(Default)]
pub(crate) struct SecretOutputs {
    paths: PathSet,
    /// For each of them the input without which the service makes none.
    needs: Vec<Option<&'static str>>,
}

impl SecretOutputs {
    /// Returns a cursor over the secrets.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        self.paths.cursor()
    }

    /// Returns true if the service makes one of the secrets for these inputs. `is_given`: the input has a value besides false.
    pub(crate) fn are_made(&self, is_given: impl Fn(&str) -> bool) -> bool {
        self.needs.iter().any(|needs| needs.is_none_or(&is_given))
    }
}

/// Returns the secrets that a service makes for a type and returns.
pub(crate) fn secret_outputs(type_name: &str) -> Option<&'static SecretOutputs> {
    static BY_TYPE: OnceLock<HashMap<&'static str, SecretOutputs>> = OnceLock::new();
    let parsed = || {
        let row = |(type_name, words): (&'static str, Vec<&'static str>)| {
            let rows = words.iter().filter_map(|word| {
                let (path, needs) =
                    word.split_once('?').map_or((*word, None), |(path, needs)| (path, Some(needs)));
                Some((path.parse::<PathPattern>().ok()?, needs))
            });
            let (paths, needs): (Vec<PathPattern>, Vec<_>) = rows.unzip();
            (type_name, SecretOutputs { paths: paths.into_iter().collect(), needs })
        };
        read(SECRET_OUTPUTS).into_iter().map(row).collect()
    };
    BY_TYPE.get_or_init(parsed).get(type_name)
}

fn of_type(by_type: &'static ByType, type_name: &str) -> &'static [&'static str] {
    by_type.get(type_name).map(Vec::as_slice).unwrap_or_default()
}

fn read(table: &'static str) -> ByType {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let mut words = line.split(' ');
        Some((words.next()?, words.collect()))
    };
    rows.filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use stead_model::PatternPart;

    use super::*;
    use crate::cfn::{Class, Schema, bundle};

    /// Parts of names that a secret may have.
    const SUSPICIOUS: [&str; 9] = [
        "Secret",
        "Password",
        "Passphrase",
        "Token",
        "Key",
        "Credential",
        "PrivateKey",
        "Pem",
        "AuthorizationData",
    ];

    /// Ends of such names for values that are no secrets: a reference to one, or a public part of it.
    const HARMLESS_ENDS: [&str; 20] = [
        "Arn",
        "Arns",
        "Id",
        "Name",
        "Identifier",
        "Fingerprint",
        "JsonKey",
        "Source",
        "Origin",
        "State",
        "Usage",
        "Value1",
        "Value2",
        "Value3",
        "Name1",
        "Name2",
        "Name3",
        "SecretConfig",
        "TagKey",
        "ObjectKey",
    ];

    /// Read-only properties whose names look like those of secrets and that hold none, and why.
    const HARMLESS: [(&str, &str, &str); 9] = [
        ("AWS::AppConfig::ExperimentDefinition", "Control.Key", "the name of a treatment"),
        ("AWS::AppConfig::ExperimentDefinition", "Treatments[*].Key", "the name of a treatment"),
        ("AWS::BedrockAgentCore::GatewayTarget", "AuthorizationData", "an address that a person opens"),
        ("AWS::CodeArtifact::Domain", "EncryptionKey", "the ARN of a key"),
        ("AWS::EC2::IpamExternalResourceVerificationToken", "TokenValue", "published in DNS"),
        ("AWS::EVS::Environment", "Credentials", "ARNs of secrets"),
        ("AWS::IoTManagedIntegrations::ManagedThing", "CertificatePem", "a certificate"),
        ("AWS::Route53Profiles::Profile", "ClientToken", "the token of the request that made it"),
        ("AWS::S3Tables::Table", "VersionToken", "the version of a table"),
    ];

    fn every_row_names(table: &'static str, class: Class) {
        for (type_name, properties) in read(table) {
            let schema = bundle::shipped().schema(type_name).unwrap_or_else(|| panic!("{type_name}"));
            let patterns = schema.classes.of(class).patterns();
            for property in properties {
                let names = |part: Option<&PatternPart>| part == Some(&PatternPart::Key(property.to_owned()));
                assert!(patterns.iter().any(|path| names(path.parts().first())), "{type_name} {property}");
            }
        }
    }

    /// A new version of the schemas may have a new secret: its name belongs in one of the two lists.
    #[test]
    fn read_only_property_that_looks_like_a_secret_is_in_the_list_of_secrets_or_known_to_be_harmless() {
        let bundle = bundle::shipped();
        let mut unknown = Vec::new();
        for type_name in bundle.names() {
            let schema = bundle.schema(type_name).unwrap();
            let secrets = secret_outputs(type_name);
            for path in schema.classes.of(Class::ReadOnly).patterns() {
                let mut keys = path.parts().iter().filter_map(|part| match part {
                    PatternPart::Key(key) => Some(key.as_str()),
                    PatternPart::Any | PatternPart::Index(_) => None,
                });
                let last = keys.next_back().unwrap_or_default();
                let is_listed = secrets.is_some_and(|secrets| secrets.paths.patterns().contains(path));
                let is_harmless = HARMLESS_ENDS.iter().any(|end| last.ends_with(end))
                    || HARMLESS.iter().any(|(of, name, _)| *of == type_name && *name == path.to_string());
                if SUSPICIOUS.iter().any(|part| last.contains(part)) && !is_listed && !is_harmless {
                    unknown.push(format!("{type_name} {path}"));
                }
            }
        }
        assert!(unknown.is_empty(), "secrets or harmless?\n{}", unknown.join("\n"));
    }

    #[test]
    fn rows_of_secret_outputs_name_read_only_ones_and_settable_needs() {
        for (type_name, words) in read(SECRET_OUTPUTS) {
            let schema = bundle::shipped().schema(type_name).unwrap_or_else(|| panic!("{type_name}"));
            let secrets = secret_outputs(type_name).unwrap();
            assert_eq!(secrets.paths.patterns().len(), words.len(), "{type_name}");
            for path in secrets.paths.patterns() {
                let known = schema.classes.of(Class::ReadOnly).patterns().contains(path);
                assert!(known, "{type_name} {path}");
            }
            for needs in secrets.needs.iter().flatten() {
                assert!(schema.member(Schema::ROOT, needs).is_some(), "{type_name} {needs}");
            }
        }
        let client = secret_outputs("AWS::Cognito::UserPoolClient").unwrap();
        assert!(client.are_made(|input| input == "GenerateSecret") && !client.are_made(|_| false));
        assert!(secret_outputs("AWS::IAM::AccessKey").unwrap().are_made(|_| false));
    }

    #[test]
    fn rows_of_public_properties_name_write_only_ones() {
        every_row_names(PUBLIC_WRITE_ONLY, Class::WriteOnly);
    }

    #[test]
    fn rows_of_stable_properties_name_read_only_ones() {
        every_row_names(STABLE, Class::ReadOnly);
    }
}
