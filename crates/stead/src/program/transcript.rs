//! Transcripts of evaluations: questions with their answers, recorded and replayed.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stead_eval::{Entry, EntryKind, LookUpProvider, ProcessorClock, Sources, StackRef};
use stead_model::{Map, TypeToken, Value};

/// Questions of an evaluation with their answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    texts: BTreeMap<String, Option<String>>,
    /// Bytes of assets, in hex.
    assets: BTreeMap<String, Option<String>>,
    folders: BTreeMap<String, Option<Vec<(String, char)>>>,
    /// Paths behind symbolic links.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    links: BTreeMap<String, String>,
    /// Variables of the environment that the program may read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    environment: Vec<(String, String)>,
    /// Existing resources, by type and id.
    found: BTreeMap<String, Option<Map>>,
    /// Outputs of other stacks.
    stacks: BTreeMap<String, Option<Map>>,
    /// Settings of the provider resources that look-ups named, by place. A replay gets them from the program again.
    #[serde(skip)]
    providers: BTreeMap<String, Map>,
}

/// An existing resource that a program looked up.
pub(crate) struct LookUp<'a> {
    pub(crate) ty: TypeToken,
    pub(crate) id: &'a str,
    pub(crate) properties: &'a Map,
    /// Place and settings of the provider resource that answered.
    pub(crate) provider: Option<(&'a str, &'a Map)>,
}

impl Transcript {
    /// Returns the transcript with every secret as data in the clear, for the inside of an encrypted file.
    #[must_use]
    pub(crate) fn exposed(&self) -> Transcript {
        let mut exposed = self.clone();
        for answer in exposed.found.values_mut().chain(exposed.stacks.values_mut()).flatten() {
            *answer = answer.iter().map(|(key, value)| (key.clone(), value.exposed())).collect();
        }
        exposed
    }

    /// Returns true if an answer of a provider or of another stack has a secret.
    pub(crate) fn has_secrets(&self) -> bool {
        let answers = self.found.values().chain(self.stacks.values()).flatten();
        answers.into_iter().any(|answer| answer.values().any(Value::has_secrets))
    }

    /// Returns type and id of the existing resources that the program looked up.
    pub fn look_ups(&self) -> impl Iterator<Item = (TypeToken, &str)> {
        self.answered().map(|LookUp { ty, id, .. }| (ty, id))
    }

    /// Returns the existing resources that the program looked up.
    pub(crate) fn answered(&self) -> impl Iterator<Item = LookUp<'_>> {
        self.found.iter().filter_map(|(key, properties)| {
            let (token, rest) = key.split_once(' ')?;
            let (id, place) = rest.split_once(BY).map_or((rest, None), |(id, place)| (id, Some(place)));
            let provider = place.and_then(|place| Some((place, self.providers.get(place)?)));
            let ty = TypeToken(token.to_owned());
            Some(LookUp { ty, id, properties: properties.as_ref()?, provider })
        })
    }
}

/// Separates the id of a look-up from the provider resource that answered it.
const BY: char = '\n';

fn found_key(token: &TypeToken, id: &str, provider: Option<&LookUpProvider>) -> String {
    match provider {
        Some(LookUpProvider { place, .. }) => format!("{token} {id}{BY}{place}"),
        None => format!("{token} {id}"),
    }
}

/// Sources that pass questions on and record the answers.
pub(super) struct Recording<'a> {
    sources: &'a dyn Sources,
    transcript: RefCell<Transcript>,
}

impl<'a> Recording<'a> {
    pub(super) fn of(sources: &'a dyn Sources) -> Recording<'a> {
        Recording { sources, transcript: RefCell::default() }
    }

    pub(super) fn transcript(self) -> Transcript {
        self.transcript.into_inner()
    }
}

impl Sources for Recording<'_> {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        let text = self.sources.read(path)?;
        self.transcript.borrow_mut().texts.insert(path.to_owned(), text.clone());
        Ok(text)
    }

    fn read_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        let bytes = self.sources.read_bytes(path)?;
        let hex = bytes.as_deref().map(stead_model::hex);
        self.transcript.borrow_mut().assets.insert(path.to_owned(), hex);
        Ok(bytes)
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, String> {
        let entries = self.sources.list(folder)?;
        let kind = |entry: &Entry| match entry.kind {
            EntryKind::File => 'f',
            EntryKind::Folder => 'd',
            EntryKind::Other => '?',
        };
        let noted =
            entries.as_ref().map(|all| all.iter().map(|entry| (entry.name.clone(), kind(entry))).collect());
        self.transcript.borrow_mut().folders.insert(folder.to_owned(), noted);
        Ok(entries)
    }

    fn real_path(&self, path: &str) -> Result<String, String> {
        let real = self.sources.real_path(path)?;
        if real != path {
            self.transcript.borrow_mut().links.insert(path.to_owned(), real.clone());
        }
        Ok(real)
    }

    fn environment(&self) -> Result<Vec<(String, String)>, String> {
        let variables = self.sources.environment()?;
        self.transcript.borrow_mut().environment.clone_from(&variables);
        Ok(variables)
    }

    fn look_up(
        &self,
        token: &TypeToken,
        id: &str,
        provider: Option<&LookUpProvider>,
    ) -> Result<Option<Map>, String> {
        let key = found_key(token, id, provider);
        // A repeated question gets the first answer, so that an evaluation sees each resource in one state.
        if let Some(known) = self.transcript.borrow().found.get(&key) {
            return Ok(known.clone());
        }
        let found = self.sources.look_up(token, id, provider)?;
        let mut transcript = self.transcript.borrow_mut();
        transcript.found.insert(key, found.clone());
        transcript.providers.extend(provider.map(|by| (by.place.clone(), by.settings.clone())));
        Ok(found)
    }

    fn outputs(&self, stack: &StackRef) -> Result<Option<Map>, String> {
        if let Some(known) = self.transcript.borrow().stacks.get(&stack.to_string()) {
            return Ok(known.clone());
        }
        let outputs = self.sources.outputs(stack)?;
        self.transcript.borrow_mut().stacks.insert(stack.to_string(), outputs.clone());
        Ok(outputs)
    }

    fn processor_clock(&self) -> Option<ProcessorClock> {
        self.sources.processor_clock()
    }
}

/// Replays the recorded answers. A question without one is an error.
impl Sources for Transcript {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        self.texts.get(path).cloned().ok_or_else(unasked)
    }

    fn read_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match self.assets.get(path).ok_or_else(unasked)? {
            Some(hex) => {
                stead_model::from_hex(hex).map(Some).ok_or_else(|| "the saved bytes are damaged".to_owned())
            }
            None => Ok(None),
        }
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, String> {
        let kind = |kind: char| match kind {
            'f' => EntryKind::File,
            'd' => EntryKind::Folder,
            _ => EntryKind::Other,
        };
        let entry = |(name, was): &(String, char)| Entry { name: name.clone(), kind: kind(*was) };
        let noted = self.folders.get(folder).ok_or_else(unasked)?;
        Ok(noted.as_ref().map(|all| all.iter().map(entry).collect()))
    }

    fn real_path(&self, path: &str) -> Result<String, String> {
        Ok(self.links.get(path).cloned().unwrap_or_else(|| path.to_owned()))
    }

    fn environment(&self) -> Result<Vec<(String, String)>, String> {
        Ok(self.environment.clone())
    }

    fn look_up(
        &self,
        token: &TypeToken,
        id: &str,
        provider: Option<&LookUpProvider>,
    ) -> Result<Option<Map>, String> {
        self.found.get(&found_key(token, id, provider)).cloned().ok_or_else(unasked)
    }

    fn outputs(&self, stack: &StackRef) -> Result<Option<Map>, String> {
        self.stacks.get(&stack.to_string()).cloned().ok_or_else(unasked)
    }

    fn processor_clock(&self) -> Option<ProcessorClock> {
        Some(stead_world::processor_time)
    }
}

fn unasked() -> String {
    "the saved plan does not have it".to_owned()
}

#[cfg(test)]
mod tests {
    use stead_model::Kept;

    use super::*;

    /// A look-up whose schema calls a property secret, and another stack with a secret output.
    struct Answers;

    impl Sources for Answers {
        fn read(&self, _: &str) -> Result<Option<String>, String> {
            Ok(None)
        }

        fn read_bytes(&self, _: &str) -> Result<Option<Vec<u8>>, String> {
            Ok(None)
        }

        fn list(&self, _: &str) -> Result<Option<Vec<Entry>>, String> {
            Ok(None)
        }

        fn look_up(&self, _: &TypeToken, _: &str, _: Option<&LookUpProvider>) -> Result<Option<Map>, String> {
            let password =
                Value::Secret(stead_model::Secret::kept(Value::from("correct horse"), Kept::Value));
            let mut found = Map::new();
            found.insert("password", password);
            found.insert("size", Value::from(3));
            Ok(Some(found))
        }

        fn outputs(&self, _: &StackRef) -> Result<Option<Map>, String> {
            Ok(None)
        }
    }

    #[test]
    fn secret_of_a_look_up_is_known_and_in_the_clear_only_inside_an_encrypted_file() {
        let recording = Recording::of(&Answers);
        recording.look_up(&TypeToken("test.Account".to_owned()), "a", None).unwrap();
        let transcript = recording.transcript();
        assert!(transcript.has_secrets());
        let text = |transcript: &Transcript| serde_json::to_string(transcript).unwrap();
        assert!(!text(&transcript).contains("horse"));
        assert!(text(&transcript.exposed()).contains("horse"));
        let read: Transcript = serde_json::from_str(&text(&transcript.exposed())).unwrap();
        assert!(read.has_secrets(), "the mark is in the file");
    }
}
