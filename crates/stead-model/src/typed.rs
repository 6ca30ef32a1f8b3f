//! Names as people type them: the dotted spelling, and the spellings of earlier versions and of paths.
//!
//! A text with folders or dots may have several readings. Each caller looks which of them exists, and refuses the text if
//! more than one does. Stored names never pass through here.

use crate::{Environment, Module, Name, NameError, NameParts, Spelling};

impl Name {
    /// Returns the names that a typed text may mean. The first one is the reading of the grammar.
    ///
    /// `lib%2Fnet:T` is the module `lib/net` in the spelling of earlier versions, `a.b:T` may be the file `a.b.ts`, and
    /// `lib/net:T` may be the module `lib/net` or the class `net` in the module `lib`.
    pub fn readings(text: &str) -> Result<Vec<Name>, NameError> {
        let dotted = text.parse::<Name>();
        let encoded = Name::parse_spelled(text, Spelling::Encoded);
        let mut readings = match (dotted, encoded) {
            (Ok(dotted), Ok(encoded)) => vec![dotted, encoded],
            (Ok(one), Err(_)) | (Err(_), Ok(one)) => vec![one],
            (Err(error), Err(_)) => return Err(error),
        };
        readings.dedup();
        for at in 0..readings.len() {
            let folders = readings[at].scopes_as_folders();
            readings.extend(folders);
        }
        let mut seen = Vec::new();
        readings.retain(|name| {
            let new = !seen.contains(name);
            seen.extend(new.then(|| name.clone()));
            new
        });
        Ok(readings)
    }

    /// Returns the names that a typed text may mean, as [`Name::readings`] does. A text without an environment is in `own`.
    pub fn readings_in(text: &str, own: &Environment) -> Result<Vec<Name>, NameError> {
        let whole = Name::readings(text);
        // `a:b#c` may be a gid in namespace `b` or a type `b` in module `a`: only `own` tells them apart.
        let is_whole = match text.matches(':').count() {
            0 => !text.starts_with('#'),
            1 => whole.as_ref().is_ok_and(|names| names.iter().any(|name| name.environment() == own)),
            _ => true,
        };
        let separator = if text.starts_with('#') { "" } else { ":" };
        if is_whole { whole } else { Name::readings(&format!("{own}{separator}{text}")) }
    }

    /// Returns the other readings of the text of this name.
    pub fn other_readings(&self) -> Vec<Name> {
        let readings = Name::readings(&self.to_string()).unwrap_or_default();
        readings.into_iter().filter(|name| name != self).collect()
    }

    /// Returns the names whose modules have the first enclosing classes as folders, as far as these have no id.
    fn scopes_as_folders(&self) -> Vec<Name> {
        let NameParts::Placed { environment, module, scope, ty, id } = &**self else { return Vec::new() };
        let folders = scope.iter().take_while(|part| part.id.is_none()).count();
        let reading = |taken: usize| {
            let mut path = module.0.clone();
            for part in &scope[..taken] {
                path.push('/');
                path.push_str(&part.class);
            }
            NameParts::Placed {
                environment: environment.clone(),
                module: Module(path),
                scope: scope[taken..].to_vec(),
                ty: ty.clone(),
                id: id.clone(),
            }
            .into()
        };
        (1..=folders).map(reading).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(text: &str) -> Vec<String> {
        Name::readings(text).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn typed_name_has_every_reading_and_that_of_the_grammar_first() {
        for (text, expected) in [
            ("dev:main:T#a", &["dev:main:T#a"][..]),
            ("dev:lib%2Fnet:T", &["dev:lib.net:T"]),
            ("dev:lib%2Fzone.v2:T", &["dev:lib.zone%2Ev2:T"]),
            ("dev:lib.net:T", &["dev:lib.net:T", "dev:lib%2Enet:T"]),
            ("dev:lib%2Enet:T", &["dev:lib%2Enet:T"]),
            ("dev:lib/net:T", &["dev:lib/net:T", "dev:lib.net:T"]),
            (
                "dev:lib/net/Site#home/Page:T",
                &["dev:lib/net/Site#home/Page:T", "dev:lib.net/Site#home/Page:T"],
            ),
            ("dev#a.b", &["dev#a.b"]),
        ] {
            assert_eq!(readings(text), expected, "{text}");
        }
        assert!(Name::readings("dev:a%2Eb%2Fc:T").is_err(), "no grammar has both codes");
    }

    #[test]
    fn other_readings_of_a_name_leave_out_itself() {
        let name: Name = "dev:zone.v2:T".parse().unwrap();
        assert_eq!(name.other_readings(), ["dev:zone%2Ev2:T".parse().unwrap()]);
        assert_eq!("dev:main:T".parse::<Name>().unwrap().other_readings(), []);
    }
}
