//! Flags that set config for one call, and arguments of `stead config`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use stead::config::{PREFIX, Variable};
use stead::{ConfigArgument, ConfigFile, ConfigInputs};

use crate::wiring;

/// Config of one call.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ConfigFlags {
    /// Set a config value for this command, such as db.size=3; may be repeated
    #[arg(id = "config-values", long = "config", value_name = "KEY=VALUE", global = true)]
    pub values: Vec<String>,
    /// Read config values from a TOML or JSON file; may be repeated
    #[arg(id = "config-files", long = "config-file", value_name = "FILE", global = true)]
    pub files: Vec<PathBuf>,
}

impl ConfigFlags {
    /// Returns the settings of this call: environment variables and flags. Paths start from `folder`.
    pub(crate) fn inputs(&self, folder: &Path) -> ConfigInputs {
        let variables = wiring::variables(PREFIX).into_iter().map(|(name, text)| Variable { name, text });
        let files = self
            .files
            .iter()
            .map(|file| ConfigFile { shown: file.display().to_string(), path: folder.join(file) });
        let arguments = self
            .values
            .iter()
            .map(|text| ConfigArgument { text: text.clone(), named: "`--config`".to_owned() });
        ConfigInputs {
            variables: variables.collect(),
            files: files.collect(),
            arguments: arguments.collect(),
        }
    }
}

/// Another tool whose config files can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ForeignConfig {
    /// Pulumi.STACK.yaml, with secrets that a passphrase opens
    Pulumi,
}

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show where each value comes from: the settings of each key, and the one that holds
    Explain {
        /// Config key, such as db.size [default: all]
        key: Option<String>,
    },
    /// List the values that hold
    Ls,
    /// Print one value: text as it is, other values as JSON
    Get {
        /// Config key, such as db.size
        key: String,
        /// Show a secret, after confirmation
        #[arg(long)]
        show_secrets: bool,
    },
    /// Write a value into stead.ENV.toml; with --secret, encrypted
    Set {
        /// Encrypt the value
        #[arg(long)]
        secret: bool,
        /// Config key, such as db.size
        key: String,
        /// Value; `-` reads it from stdin. A secret without one is asked for
        #[arg(allow_hyphen_values = true)]
        value: Option<String>,
    },
    /// Take config and secrets over from another tool into stead.ENV.toml
    Import {
        /// The tool that wrote the file
        #[arg(long)]
        from: ForeignConfig,
        /// Config file, such as Pulumi.dev.yaml
        file: PathBuf,
    },
    /// Remove a value from stead.ENV.toml
    Rm {
        /// Config key, such as db.size
        key: String,
    },
}
