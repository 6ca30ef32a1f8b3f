//! Identifying properties of a type: the name, name prefix or identifier of the real resource.
//!
//! Only create-only properties count. A name that can be changed in place is a label.

use crate::{Property, Shape, TypeSchema};

/// Suffixes of properties that hold a name.
const ENDINGS: [&str; 5] = ["NamePrefix", "Prefix", "Name", "Identifier", "Id"];

/// Returns the settable properties that identify the real resource, in the order of the schema.
pub fn identity(schema: &TypeSchema) -> Vec<&str> {
    let named = |property: &&Property| {
        property.settable()
            && property.create_only
            && (is_identifier(property) || is_own_name(schema.class(), property) || is_path(property))
    };
    schema.properties.iter().filter(named).map(|property| property.name.as_str()).collect()
}

/// Returns true for a part of an identifier of the published schema.
fn is_identifier(property: &Property) -> bool {
    let Shape::Published(published) = &property.shape else { return false };
    let additional = published.schema.additional_identifiers.iter().flatten();
    let mut parts = published.schema.primary_identifier.iter().chain(additional);
    parts.any(|part| part.root() == Some(property.name.as_str()))
}

/// Returns true for `Name`, `BucketName` of a `Bucket`, `ClusterName` of a `CacheCluster`; false for `SubnetGroupName` of a
/// `Cluster`.
fn is_own_name(class: &str, property: &Property) -> bool {
    let name = property.name.as_str();
    let mut stems = ENDINGS.iter().filter_map(|ending| name.strip_suffix(ending));
    matches!(property.shape, Shape::String | Shape::Published(_)) && stems.any(|stem| class.ends_with(stem))
}

/// Returns true for `path`, which identifies a file.
fn is_path(property: &Property) -> bool {
    property.shape == Shape::String && property.name == "path"
}

#[cfg(test)]
mod tests {
    use stead_model::TypeToken;

    use super::*;
    use crate::{Access, Catalog};

    #[test]
    fn published_types_are_identified_by_their_names() {
        let catalog = Catalog::default().with_published();
        let tokens = [
            "s3.Bucket",
            "dynamodb.Table",
            "dynamodb.GlobalTable",
            "sqs.Queue",
            "logs.LogGroup",
            "rds.DBInstance",
            "rds.DBCluster",
            "kms.Key",
            "secretsmanager.Secret",
            "ec2.Volume",
            "efs.FileSystem",
            "ecr.Repository",
            "kinesis.Stream",
            "elasticache.ReplicationGroup",
            "opensearchservice.Domain",
            "backup.BackupVault",
            "redshift.Cluster",
            "cognito.UserPool",
            "glue.Table",
            "ssm.Parameter",
        ];
        let told = tokens.map(|token| {
            let schema = catalog.get(&TypeToken(format!("aws.{token}"))).unwrap();
            let others = schema.properties.iter().filter(|property| property.create_only).count();
            format!("{token}: {} of {others}", identity(schema).join(", "))
        });
        insta::assert_snapshot!(told.join("\n"), @"
        s3.Bucket: BucketName, BucketNamePrefix of 3
        dynamodb.Table: TableName of 2
        dynamodb.GlobalTable: TableName of 1
        sqs.Queue: QueueName of 2
        logs.LogGroup: LogGroupName of 1
        rds.DBInstance: DBInstanceIdentifier of 14
        rds.DBCluster: DBClusterIdentifier of 16
        kms.Key:  of 0
        secretsmanager.Secret: Name of 1
        ec2.Volume:  of 0
        efs.FileSystem:  of 4
        ecr.Repository: RepositoryName of 2
        kinesis.Stream: Name of 1
        elasticache.ReplicationGroup: ReplicationGroupId of 11
        opensearchservice.Domain: DomainName of 2
        backup.BackupVault: BackupVaultName of 2
        redshift.Cluster: ClusterIdentifier of 7
        cognito.UserPool:  of 0
        glue.Table: CatalogId, DatabaseName, Name of 3
        ssm.Parameter: Name of 1
        ");
    }

    #[test]
    fn changeable_properties_and_names_of_others_do_not_identify() {
        let text = |name| Property::new(name, Shape::String, Access::Optional, "");
        let schema = TypeSchema::new(
            "t.CacheCluster",
            "",
            vec![
                text("ClusterName").create_only(),
                text("NamePrefix").create_only(),
                text("path").create_only(),
                text("SubnetGroupName").create_only(),
                text("Zone").create_only(),
                text("CacheClusterName"),
                Property::new("Name", Shape::String, Access::ReadOnly, "").create_only(),
            ],
        );
        assert_eq!(identity(&schema), ["ClusterName", "NamePrefix", "path"]);
    }

    #[test]
    fn few_create_only_properties_identify() {
        let catalog = Catalog::default().with_published();
        let (mut create_only, mut identities) = (0, 0);
        for schema in catalog.of_provider("aws") {
            let found = identity(schema);
            for name in &found {
                assert!(
                    schema.property(name).is_some_and(|property| property.create_only && property.settable())
                );
            }
            identities += found.len();
            create_only += schema
                .properties
                .iter()
                .filter(|property| property.create_only && property.settable())
                .count();
        }
        assert!(identities > 500 && identities < create_only, "{identities} of {create_only}");
    }
}
