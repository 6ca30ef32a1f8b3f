//! Where a passphrase comes from: a variable, a file that a variable names, or a person.

use std::path::PathBuf;
use std::sync::Arc;

use stead_world::World;
use zeroize::Zeroizing;

use crate::search::tell_output_search;
use crate::{Ask, ManagerError, ManagerErrorClass, Question};

const VARIABLE: &str = "STEAD_PASSPHRASE";
const FILE_VARIABLE: &str = "STEAD_PASSPHRASE_FILE";

/// Source of a passphrase. It is read when the first key needs it.
#[derive(Clone)]
pub enum PassphraseSource {
    /// The passphrase itself.
    Given(Zeroizing<String>),
    /// A file whose text is the passphrase. One line break at its end is not part of it.
    File(PathBuf),
    /// A person.
    Asked(Arc<dyn Ask>),
    /// No variable is set, and there is no person to ask.
    Nowhere,
}

impl PassphraseSource {
    /// Returns the source that the environment names: `STEAD_PASSPHRASE`, else `STEAD_PASSPHRASE_FILE`, else the person.
    pub fn find(world: &World, ask: Option<Arc<dyn Ask>>) -> PassphraseSource {
        let variables = &world.host.variables;
        match (variables.get(VARIABLE), variables.get(FILE_VARIABLE), ask) {
            (Some(text), _, _) => PassphraseSource::Given(Zeroizing::new(text.to_owned())),
            (None, Some(path), _) => PassphraseSource::File(path.into()),
            (None, None, Some(ask)) => PassphraseSource::Asked(ask),
            (None, None, None) => PassphraseSource::Nowhere,
        }
    }

    /// Returns the passphrase, which is never empty.
    pub(super) async fn get(
        &self,
        world: &World,
        question: &Question,
    ) -> Result<Zeroizing<String>, ManagerError> {
        let (text, origin) = match self {
            PassphraseSource::Given(text) => (text.clone(), format!("the passphrase in {VARIABLE}")),
            PassphraseSource::File(path) => {
                (read(world, path.clone()).await?, format!("the passphrase in {}", path.display()))
            }
            PassphraseSource::Asked(ask) => {
                let answer = ask.ask(question).await.ok_or_else(|| missing("no passphrase was given"))?;
                (answer, "the passphrase".to_owned())
            }
            PassphraseSource::Nowhere => return Err(missing("no passphrase is set")),
        };
        if text.is_empty() {
            return Err(missing(&format!("{origin} is empty")));
        }
        Ok(text)
    }
}

async fn read(world: &World, path: PathBuf) -> Result<Zeroizing<String>, ManagerError> {
    let shown = path.display().to_string();
    let bytes = world.with_files(move |files| files.read(&path)).await;
    let bytes = bytes.map_err(|error| missing(&format!("{shown} cannot be read: {error}")))?;
    let bytes = Zeroizing::new(bytes);
    let text = str::from_utf8(&bytes).map_err(|_| missing(&format!("{shown} is not text")))?;
    let line = text.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let line = line.unwrap_or(text);
    tell_output_search(line);
    Ok(Zeroizing::new(line.to_owned()))
}

fn missing(what: &str) -> ManagerError {
    ManagerError::new(ManagerErrorClass::NotConfigured, format!("passphrase: {what}")).help(ways_to_give())
}

/// Returns advice on how to give a passphrase without a terminal.
pub(super) fn ways_to_give() -> String {
    format!("set {VARIABLE} to the passphrase, or {FILE_VARIABLE} to a file that contains it")
}
