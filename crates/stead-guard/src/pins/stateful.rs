//! Types that are pinned by default, because a deletion loses data.
//!
//! Databases, tables, buckets, volumes, queues, stores of keys and secrets, logs, and resources whose address is known
//! outside the stack. **Invariant:** a type is never removed from the list, which would unpin existing resources.

use stead_model::TypeToken;

/// Sorted for binary search.
const STATEFUL: &[&str] = &[
    "aws.aps.Workspace",
    "aws.backup.BackupVault",
    "aws.cassandra.Table",
    "aws.cloudformation.Stack",
    "aws.cloudfront.Distribution",
    "aws.codecommit.Repository",
    "aws.cognito.UserPool",
    "aws.docdb.DBCluster",
    "aws.docdb.DBInstance",
    "aws.dsql.Cluster",
    "aws.dynamodb.GlobalTable",
    "aws.dynamodb.Table",
    "aws.ec2.Volume",
    "aws.ecr.Repository",
    "aws.efs.FileSystem",
    "aws.elasticache.CacheCluster",
    "aws.elasticache.ReplicationGroup",
    "aws.elasticache.ServerlessCache",
    "aws.elasticsearch.Domain",
    "aws.emr.Cluster",
    "aws.fsx.FileSystem",
    "aws.glue.Database",
    "aws.glue.Table",
    "aws.kinesis.Stream",
    "aws.kms.Key",
    "aws.kms.ReplicaKey",
    "aws.logs.LogGroup",
    "aws.memorydb.Cluster",
    "aws.msk.Cluster",
    "aws.neptune.DBCluster",
    "aws.neptune.DBInstance",
    "aws.opensearchserverless.Collection",
    "aws.opensearchservice.Domain",
    "aws.organizations.Account",
    "aws.qldb.Ledger",
    "aws.rds.DBCluster",
    "aws.rds.DBInstance",
    "aws.rds.GlobalCluster",
    "aws.redshift.Cluster",
    "aws.redshiftserverless.Namespace",
    "aws.route53.HostedZone",
    "aws.s3.Bucket",
    "aws.s3express.DirectoryBucket",
    "aws.s3tables.Table",
    "aws.s3tables.TableBucket",
    "aws.s3vectors.VectorBucket",
    "aws.sdb.Domain",
    "aws.secretsmanager.Secret",
    "aws.sqs.Queue",
    "aws.ssm.Parameter",
    "aws.timestream.Database",
    "aws.timestream.InfluxDBInstance",
    "aws.timestream.Table",
    // The private key exists in its file only. A folder is not stateful, because it is deleted only when empty.
    "local.KeyPair",
];

/// Returns true if resources of this type are pinned by default.
pub fn is_stateful(resource: &TypeToken) -> bool {
    STATEFUL.binary_search(&resource.as_str()).is_ok()
}

/// Returns all types that are pinned by default, sorted.
pub fn stateful_types() -> &'static [&'static str] {
    STATEFUL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_sorted_without_duplicates() {
        assert!(STATEFUL.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(STATEFUL.iter().all(|token| is_stateful(&TypeToken((*token).to_owned()))));
        assert!(!is_stateful(&TypeToken("local.File".into())));
    }

    #[test]
    fn list_contains_all_known_types_that_lose_data() {
        let known = [
            "backup.BackupVault",
            "cloudformation.Stack",
            "cognito.UserPool",
            "docdb.DBCluster",
            "docdb.DBInstance",
            "dynamodb.GlobalTable",
            "dynamodb.Table",
            "ec2.Volume",
            "efs.FileSystem",
            "emr.Cluster",
            "elasticache.CacheCluster",
            "elasticache.ReplicationGroup",
            "elasticsearch.Domain",
            "fsx.FileSystem",
            "kms.Key",
            "logs.LogGroup",
            "neptune.DBCluster",
            "neptune.DBInstance",
            "opensearchservice.Domain",
            "organizations.Account",
            "qldb.Ledger",
            "rds.DBCluster",
            "rds.DBInstance",
            "redshift.Cluster",
            "s3.Bucket",
            "sdb.Domain",
            "sqs.Queue",
            "secretsmanager.Secret",
        ];
        assert_eq!(known.len(), 28);
        for token in known {
            let token = format!("aws.{token}");
            assert!(stateful_types().contains(&token.as_str()), "{token}");
            assert!(is_stateful(&TypeToken(token)));
        }
    }
}
