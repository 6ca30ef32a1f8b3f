//! Flags of the admission webhook and of its manifests.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Args)]
pub(crate) struct ServeArguments {
    /// Run the admission webhook for Kubernetes, which refuses deletions that a mark forbids
    #[arg(long, required = true)]
    pub admission: bool,
    /// Address to listen on; port 0 takes any free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8443")]
    pub listen: String,
    /// Certificate chain, as PEM; read again when the file changes
    #[arg(long, value_name = "FILE")]
    pub tls_cert: PathBuf,
    /// Private key of the certificate, as PEM
    #[arg(long, value_name = "FILE")]
    pub tls_key: PathBuf,
    /// Kubeconfig that names the API server [default: KUBECONFIG, else the pod's service account]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig [default: its current context]
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    #[command(flatten)]
    pub guard: GuardFlags,
}

/// Flags that extend the set of guarded resources and the strength of the guard.
#[derive(Args)]
pub(crate) struct GuardFlags {
    /// Guard this API group too, besides those of the AWS controllers; may be repeated
    #[arg(long, value_name = "GROUP")]
    pub group: Vec<String>,
    /// Refuse every deletion of a guarded resource, whatever its marks say
    #[arg(long)]
    pub prevent_delete: bool,
}

#[derive(Subcommand)]
pub(crate) enum AdmissionCommand {
    /// Print the manifests: the webhook, and policies that need no server
    Manifests(ManifestArguments),
}

#[derive(Args)]
pub(crate) struct ManifestArguments {
    /// Only the webhook with its server, or only the policies
    #[arg(long, value_name = "PART")]
    pub only: Option<ManifestPart>,
    /// Namespace that the webhook runs in
    #[arg(long, value_name = "NAME", default_value = "stead-system")]
    pub install_namespace: String,
    /// Container image of this version of stead
    #[arg(long, value_name = "IMAGE", default_value = concat!("stead:", env!("CARGO_PKG_VERSION")))]
    pub image: String,
    /// PEM file of the CA that signed the webhook's certificate [default: cert-manager adds it]
    #[arg(long, value_name = "FILE")]
    pub ca_bundle: Option<PathBuf>,
    #[command(flatten)]
    pub guard: GuardFlags,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ManifestPart {
    Webhook,
    Policy,
}
