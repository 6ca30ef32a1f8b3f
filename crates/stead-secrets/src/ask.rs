//! The port to the person at the terminal, for passphrases.

use std::path::PathBuf;

use async_trait::async_trait;
use zeroize::Zeroizing;

/// A question to a person, whose answer is a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The passphrase of the stack or the config file with this owner.
    Passphrase { owner: String },
    /// A new passphrase. It is asked for twice, because a typing error would lock everybody out.
    NewPassphrase { owner: String },
    /// The passphrase of an SSH key in this file.
    SshKey { file: PathBuf },
}

/// Asks a person. The command line implements it where there is a terminal.
#[async_trait]
pub trait Ask: Send + Sync {
    /// Returns the answer, or `None` if there is none.
    async fn ask(&self, question: &Question) -> Option<Zeroizing<String>>;
}
