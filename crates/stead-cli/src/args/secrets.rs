//! Arguments of `stead secrets`.

#[cfg(feature = "age")]
use std::path::PathBuf;

use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum SecretsCommand {
    /// Make the data key of the stack, before its first secret
    Init,
    /// List the keys of the stack and of the config file, their managers, and which of them open here
    Status,
    /// Make a new data key, and encrypt the state and the config file with it
    Rotate,
    /// Let a person, a machine or a key manager open the secrets, and write it into stead.toml
    Add {
        /// Public key (age1…, ssh-ed25519 …, ssh-rsa …) or manager (passphrase, awskms://…, command:…)
        #[arg(value_name = "RECIPIENT|MANAGER")]
        manager: String,
        /// Name of the recipient in stead.toml
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Change every stack and every config file of the project
        #[arg(long)]
        all_environments: bool,
    },
    /// Take a person, a machine or a key manager away, and make a new data key without it
    Remove {
        /// Name of a recipient in stead.toml, or a manager
        #[arg(value_name = "NAME|MANAGER")]
        manager: String,
        /// Change every stack and every config file of the project
        #[arg(long)]
        all_environments: bool,
    },
    /// Replace a manager by another one, and make a new data key
    ///
    /// `stead secrets change-manager passphrase passphrase` sets a new passphrase: it is asked for, or taken from
    /// STEAD_NEW_PASSPHRASE.
    ChangeManager {
        /// Name of a recipient in stead.toml, or a manager
        old: String,
        /// Public key or manager
        new: String,
    },
    /// Make an age identity for this person or machine: the secret key in a file, the public key on stdout
    #[cfg(feature = "age")]
    Keygen {
        /// File of the secret key, which must not exist [default: ~/.config/stead/age.txt]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}
