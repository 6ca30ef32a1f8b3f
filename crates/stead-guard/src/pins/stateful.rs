//! Types that are pinned unless somebody says otherwise: what is in them is lost with them.
//!
//! Databases, tables, buckets, volumes, queues, stores of keys and secrets, logs, and what others know by its
//! address. A type that is here stays here: taking one away would unpin what people rely on.

use stead_model::TypeToken;

/// Sorted, so that a type is found by halving.
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
    // The private key is in its file and nowhere else. A folder is no such thing: it is deleted only when empty.
    "local.KeyPair",
];

/// Whether what is of this type is pinned by default.
pub fn is_stateful(resource: &TypeToken) -> bool {
    STATEFUL.binary_search(&resource.as_str()).is_ok()
}

/// All of them, in order.
pub fn stateful_types() -> &'static [&'static str] {
    STATEFUL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_sorted_and_none_is_there_twice() {
        assert!(STATEFUL.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(STATEFUL.iter().all(|token| is_stateful(&TypeToken((*token).to_owned()))));
        assert!(!is_stateful(&TypeToken("local.File".into())));
    }

    #[test]
    fn the_types_that_lose_data_are_among_them() {
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
