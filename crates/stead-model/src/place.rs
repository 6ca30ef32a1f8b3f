//! Places: the part of a name before the type, a module or an instance inside it. A place that moves takes all names in it along.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::{Environment, Module, Name, NameError, NameParts, Scope, ScopePart};

/// A module, or an instance of a class in it: `dev:lib.net`, `dev:main/Site#home`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub environment: Environment,
    pub module: Module,
    pub scope: Scope,
}

impl Place {
    /// Returns the place in another environment.
    #[must_use]
    pub fn in_environment(&self, environment: &Environment) -> Place {
        Place { environment: environment.clone(), ..self.clone() }
    }

    /// Returns true if the name is that of a resource in this place, at any depth.
    pub fn contains(&self, name: &Name) -> bool {
        matches!(&**name, NameParts::Placed { environment, module, scope, .. }
            if *environment == self.environment && *module == self.module && scope.starts_with(&self.scope))
    }

    /// Returns the name that a resource of this place has after the place became `to`; `None` for a name elsewhere.
    pub fn renamed(&self, name: &Name, to: &Place) -> Option<Name> {
        if !self.contains(name) {
            return None;
        }
        let NameParts::Placed { scope, ty, id, .. } = &**name else { return None };
        let inside = &scope[self.scope.len()..];
        let scope = to.scope.iter().chain(inside).cloned().collect();
        let (environment, module) = (to.environment.clone(), to.module.clone());
        Some(NameParts::Placed { environment, module, scope, ty: ty.clone(), id: id.clone() }.into())
    }

    /// Returns the innermost instance, if the place is not a whole module.
    pub fn instance(&self) -> Option<&ScopePart> {
        self.scope.last()
    }

    /// Returns the places that a typed text may mean. The first one is the reading of the grammar.
    ///
    /// A text without an environment is in `own`.
    pub fn readings(text: &str, own: &Environment) -> Result<Vec<Place>, NameError> {
        // Any type completes a place to a name.
        let whole = |text: &str| Name::readings(&format!("{text}:T"));
        let mut names = whole(text).unwrap_or_default();
        names.extend(whole(&format!("{own}:{text}")).unwrap_or_default());
        // `prod:main` without its environment could be a namespace, too: only the own environment counts.
        names.retain(|name| name.environment() == own);
        let mut places: Vec<Place> = Vec::new();
        for place in names.iter().filter_map(Name::place) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        if places.is_empty() { Err(NameError::Shape(text.to_owned())) } else { Ok(places) }
    }
}

impl Name {
    /// Returns the place of the resource; `None` for a global name.
    pub fn place(&self) -> Option<Place> {
        match &**self {
            NameParts::Global { .. } => None,
            NameParts::Placed { environment, module, scope, .. } => {
                Some(Place { environment: environment.clone(), module: module.clone(), scope: scope.clone() })
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.environment, self.module)?;
        self.scope.iter().try_for_each(|part| write!(f, "/{part}"))
    }
}

impl FromStr for Place {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Place, NameError> {
        let shape = || NameError::Shape(text.to_owned());
        format!("{text}:T").parse::<Name>()?.place().ok_or_else(shape)
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_place_move_with_it() {
        let place = |text: &str| text.parse::<Place>().unwrap();
        let moved = |from: &str, to: &str, name: &str| {
            place(from).renamed(&name.parse().unwrap(), &place(to)).map(|name| name.to_string())
        };
        let to = Some("dev:lib.net/Site#a:T#b".to_owned());
        assert_eq!(moved("dev:net", "dev:lib.net", "dev:net/Site#a:T#b"), to);
        assert_eq!(moved("dev:main/Web", "dev:lib.net/Site#a", "dev:main/Web:T#b"), to);
        assert_eq!(moved("dev:net", "dev:lib.net", "dev:network:T#b"), None);
        assert_eq!(moved("dev:net", "dev:lib.net", "prod:net:T#b"), None);
        assert_eq!(moved("dev:net", "dev:lib.net", "dev#b"), None);
        for text in ["dev:lib.net", "dev:eu:a%2Eb/Site#x"] {
            assert_eq!(place(text).to_string(), text);
        }
    }

    #[test]
    fn typed_place_has_every_reading_in_the_own_environment() {
        let own = Environment::new("dev");
        let readings = |text: &str| -> Vec<String> {
            Place::readings(text, &own).unwrap().iter().map(ToString::to_string).collect()
        };
        assert_eq!(readings("dev:network"), ["dev:network"]);
        assert_eq!(readings("network"), ["dev:network"]);
        assert_eq!(readings("dev:lib/net"), ["dev:lib/net", "dev:lib.net"]);
        assert_eq!(readings("lib%2Fnet"), ["dev:lib.net"]);
        assert_eq!(readings("main/Site#home"), ["dev:main/Site#home"]);
        assert!(Place::readings("", &own).is_err());
        assert!(Place::readings("prod:lib:x:y", &own).is_err());
    }
}
