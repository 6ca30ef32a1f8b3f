//! Arguments of `stead provider`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum ProviderCommand {
    /// List the resource types that programs can use
    Types {
        /// Text that the type's name contains; `*` matches any text
        pattern: Option<String>,
    },
    /// Show one type: the values of each property, and the effect of a change
    Schema {
        /// Type, such as AWS::S3::Bucket or aws.s3.Bucket
        name: String,
    },
    /// Show the update that turns a live resource into the wanted one, with a reason for each operation
    Patch(PatchArguments),
}

#[derive(Args)]
pub(crate) struct PatchArguments {
    #[command(flatten)]
    pub ty: PatchType,
    /// Last applied properties, as JSON [default: the wanted properties]
    #[arg(long, value_name = "FILE")]
    pub last: Option<PathBuf>,
    /// Properties that the service reports now, as JSON
    #[arg(long, value_name = "FILE")]
    pub live: PathBuf,
    /// Wanted properties, as JSON
    #[arg(long, value_name = "FILE")]
    pub want: PathBuf,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PatchType {
    /// Published type, such as AWS::S3::Bucket
    #[arg(long = "type", value_name = "TYPE")]
    pub name: Option<String>,
    /// Schema of a resource type, as JSON
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
}
