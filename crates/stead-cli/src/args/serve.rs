//! The options of what is served to others.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Args)]
pub(crate) struct ServeArguments {
    /// The admission webhook for Kubernetes: deletions that a mark forbids are refused
    #[arg(long, required = true)]
    pub admission: bool,
    /// Where to listen; port 0 takes any that is free
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8443")]
    pub listen: String,
    /// The certificate and what signed it, as PEM; renewed when the file changes
    #[arg(long, value_name = "FILE")]
    pub tls_cert: PathBuf,
    /// The certificate's key, as PEM
    #[arg(long, value_name = "FILE")]
    pub tls_key: PathBuf,
    /// How to reach the API server [default: what KUBECONFIG says, else the pod's service account]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// A context of the kubeconfig [default: its current one]
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    #[command(flatten)]
    pub guarded: Guarded,
}

/// What is guarded, besides what marks say.
#[derive(Args)]
pub(crate) struct Guarded {
    /// Guard this API group too, besides those of the AWS controllers; may be repeated
    #[arg(long, value_name = "GROUP")]
    pub group: Vec<String>,
    /// Refuse every deletion of what is guarded, whatever marks say
    #[arg(long)]
    pub prevent_delete: bool,
}

#[derive(Subcommand)]
pub(crate) enum AdmissionCommand {
    /// Print what a cluster needs: the webhook, and policies that need no server
    Manifests(ManifestArguments),
}

#[derive(Args)]
pub(crate) struct ManifestArguments {
    /// Only the webhook with all that runs it, or only the policies
    #[arg(long, value_name = "PART")]
    pub only: Option<ManifestPart>,
    /// The namespace that the webhook runs in
    #[arg(long, value_name = "NAME", default_value = "stead-system")]
    pub install_namespace: String,
    /// The image that has this stead
    #[arg(long, value_name = "IMAGE", default_value = concat!("stead:", env!("CARGO_PKG_VERSION")))]
    pub image: String,
    /// The PEM file of the CA that signed the webhook's certificate [default: a gap to fill in]
    #[arg(long, value_name = "FILE")]
    pub ca_bundle: Option<PathBuf>,
    #[command(flatten)]
    pub guarded: Guarded,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ManifestPart {
    Webhook,
    Policy,
}
