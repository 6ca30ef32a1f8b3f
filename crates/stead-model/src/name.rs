//! Resource names: structured data with one parser and one printer, which are inverse to each other.
//!
//! `<env>#<gid>`, or `<env>:<module>[/<scope>]:<type>[#<id>]`; `<env>` is `environment` or
//! `environment:namespace`. Inside a part, `:`, `/`, `#` and `%` are percent-encoded. The folders of a module are joined by
//! `.`, and a `.` inside one of them is `%2E`. The spelling of earlier formats differs in the module alone.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::TypeToken;

/// The environment of a name, with an optional namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Environment {
    pub name: String,
    pub namespace: Option<String>,
}

/// How the text of a name spells the module `lib/a.b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `lib.a%2Eb`: the spelling of everything that is written and shown.
    Dotted,
    /// `lib%2Fa.b`: the spelling of the state formats 1 and 2, and of the digests in physical paths.
    Encoded,
}

/// The module that allocates the resource: its path in the project, without extension.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Module(pub String);

/// The chain of enclosing resource instances, outermost first.
pub type Scope = Vec<ScopePart>;

/// An enclosing instance: `Class` or `Class#id`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopePart {
    pub class: String,
    pub id: Option<String>,
}

/// The name of a resource. Clones share the parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<NameParts>);

/// The parts of a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameParts {
    /// A name by `gid`, which does not depend on the place in the program.
    Global {
        environment: Environment,
        gid: String,
    },
    Placed {
        environment: Environment,
        module: Module,
        scope: Scope,
        ty: TypeToken,
        id: Option<String>,
    },
}

/// The reason why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("a part of the name {0:?} is empty")]
    EmptyPart(String),
    #[error("{0:?} is not a name: it needs `env:module:type`, or `env#gid`")]
    Shape(String),
    #[error("{0:?} has a `%` that does not start an encoded character")]
    Encoding(String),
    #[error("{0:?} has a control character")]
    Control(String),
    #[error("the id {0:?} is a bare number; numbers are the counters of unnamed resources")]
    NumberAsId(String),
}

impl Environment {
    pub fn new(name: &str) -> Environment {
        Environment { name: name.to_owned(), namespace: None }
    }
}

impl From<NameParts> for Name {
    fn from(parts: NameParts) -> Name {
        Name(Arc::new(parts))
    }
}

impl Deref for Name {
    type Target = NameParts;

    fn deref(&self) -> &NameParts {
        &self.0
    }
}

impl Name {
    /// Returns the parts for changing. Clones of the name are not affected.
    pub fn parts_mut(&mut self) -> &mut NameParts {
        Arc::make_mut(&mut self.0)
    }

    pub fn environment(&self) -> &Environment {
        match &**self {
            NameParts::Global { environment, .. } | NameParts::Placed { environment, .. } => environment,
        }
    }

    /// Returns the name in another environment.
    #[must_use]
    pub fn in_environment(&self, environment: &Environment) -> Name {
        let mut name = self.clone();
        let (NameParts::Global { environment: of, .. } | NameParts::Placed { environment: of, .. }) =
            name.parts_mut();
        of.clone_from(environment);
        name
    }

    /// Returns the name with another id, or with another gid if it is global.
    #[must_use]
    pub fn with_id(&self, new: String) -> Name {
        let mut name = self.clone();
        match name.parts_mut() {
            NameParts::Global { gid, .. } => *gid = new,
            NameParts::Placed { id, .. } => *id = Some(new),
        }
        name
    }

    /// Parses a name whose module has this spelling.
    pub fn parse_spelled(text: &str, spelling: Spelling) -> Result<Name, NameError> {
        let (mut parts, mut count) = ([""; 5], 0);
        for (at, part) in text.split(':').take(5).enumerate() {
            (parts[at], count) = (part, at + 1);
        }
        let placed = |env, namespace, place, ty| placed(text, spelling, (env, namespace), place, ty);
        match &parts[..count] {
            [env] => global(text, env, None),
            [env, rest] => global(text, rest, Some(env)),
            [env, place, ty] => placed(env, None, place, ty),
            [env, namespace, place, ty] => placed(env, Some(*namespace), place, ty),
            _ => Err(NameError::Shape(text.to_owned())),
        }
    }

    /// Returns the text of the name with this spelling of the module.
    pub fn spelled(&self, spelling: Spelling) -> SpelledName<'_> {
        SpelledName { name: self, spelling }
    }

    /// Returns the first control character, if any. Only a manipulated file has one; printing it could drive a terminal.
    pub fn control_character(&self) -> Option<char> {
        self.to_string().chars().find(|c| c.is_control())
    }

    /// Returns the id, or the type if there is no id.
    pub fn short(&self) -> &str {
        match &**self {
            NameParts::Global { gid, .. } => gid,
            NameParts::Placed { id: Some(id), .. } if !is_counter(id) => id,
            NameParts::Placed { ty, .. } => ty.as_str(),
        }
    }
}

/// Returns true if the id is a counter that Stead gives to unnamed siblings.
fn is_counter(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())
}

/// Checks an id that a program gives: not empty, no control character, not a bare number.
pub fn check_id(id: &str) -> Result<(), NameError> {
    if id.is_empty() {
        return Err(NameError::EmptyPart(id.to_owned()));
    }
    if id.contains(char::is_control) {
        return Err(NameError::Control(id.to_owned()));
    }
    if is_counter(id) {
        return Err(NameError::NumberAsId(id.to_owned()));
    }
    Ok(())
}

/// Prints a part with `:`, `/`, `#` and `%` percent-encoded.
struct Encoded<'a>(&'a str);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        encode(self.0, |byte| matches!(byte, b':' | b'/' | b'#' | b'%'), f)
    }
}

/// Prints a text with these bytes, which are ASCII characters, percent-encoded.
fn encode(text: &str, encoded: fn(&u8) -> bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.as_bytes().iter().position(encoded) {
        f.write_str(&rest[..at])?;
        write!(f, "%{:02X}", rest.as_bytes()[at])?;
        rest = &rest[at + 1..];
    }
    f.write_str(rest)
}

/// The printed form is the dotted spelling.
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.split('/').enumerate() {
            if at > 0 {
                f.write_str(".")?;
            }
            encode(segment, |byte| matches!(byte, b':' | b'.' | b'#' | b'%'), f)?;
        }
        Ok(())
    }
}

/// A name, to be printed with one spelling of its module.
#[derive(Clone, Copy, Debug)]
pub struct SpelledName<'a> {
    name: &'a Name,
    spelling: Spelling,
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Encoded(&self.name))?;
        match &self.namespace {
            Some(namespace) => write!(f, ":{}", Encoded(namespace)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ScopePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Encoded(&self.class))?;
        match &self.id {
            Some(id) => write!(f, "#{}", Encoded(id)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spelled(Spelling::Dotted).fmt(f)
    }
}

impl fmt::Display for SpelledName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &**self.name {
            NameParts::Global { environment, gid } => write!(f, "{environment}#{}", Encoded(gid)),
            NameParts::Placed { environment, module, scope, ty, id } => {
                match self.spelling {
                    Spelling::Dotted => write!(f, "{environment}:{module}")?,
                    Spelling::Encoded => write!(f, "{environment}:{}", Encoded(&module.0))?,
                }
                for part in scope {
                    write!(f, "/{part}")?;
                }
                write!(f, ":{}", Encoded(ty.as_str()))?;
                match id {
                    Some(id) => write!(f, "#{}", Encoded(id)),
                    None => Ok(()),
                }
            }
        }
    }
}

impl FromStr for Environment {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Environment, NameError> {
        match text.split(':').collect::<Vec<_>>().as_slice() {
            [name] => environment(name, None),
            [name, namespace] => environment(name, Some(namespace)),
            _ => Err(NameError::Shape(text.to_owned())),
        }
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Name, NameError> {
        Name::parse_spelled(text, Spelling::Dotted)
    }
}

impl FromStr for Module {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Module, NameError> {
        if text.is_empty() {
            return Err(NameError::EmptyPart(text.to_owned()));
        }
        if !text.contains(['.', '%', '#', '/']) {
            return Ok(Module(text.to_owned()));
        }
        let mut path = String::with_capacity(text.len());
        for (at, segment) in text.split('.').enumerate() {
            if at > 0 {
                path.push('/');
            }
            decode_into(&mut path, segment, Escaped::Segment)?;
        }
        Ok(Module(path))
    }
}

fn global(text: &str, last: &str, first: Option<&str>) -> Result<Name, NameError> {
    let (tail, gid) = last.split_once('#').ok_or_else(|| NameError::Shape(text.to_owned()))?;
    let environment = match first {
        None => environment(tail, None)?,
        Some(first) => environment(first, Some(tail))?,
    };
    Ok(NameParts::Global { environment, gid: decode(gid)? }.into())
}

fn placed(
    text: &str,
    spelling: Spelling,
    (env, namespace): (&str, Option<&str>),
    place: &str,
    ty: &str,
) -> Result<Name, NameError> {
    if env.contains(['#', '/']) || ty.contains('/') {
        return Err(NameError::Shape(text.to_owned()));
    }
    let mut places = place.split('/');
    let module = places.next().unwrap_or_default();
    let module = match spelling {
        Spelling::Dotted => module.parse()?,
        Spelling::Encoded => Module(decode(module)?),
    };
    let scope = places
        .map(|part| {
            let (class, id) = with_id(part)?;
            Ok(ScopePart { class, id })
        })
        .collect::<Result<Scope, NameError>>()?;
    let (ty, id) = with_id(ty)?;
    let environment = environment(env, namespace)?;
    Ok(NameParts::Placed { environment, module, scope, ty: TypeToken(ty), id }.into())
}

fn environment(name: &str, namespace: Option<&str>) -> Result<Environment, NameError> {
    Ok(Environment { name: decode(name)?, namespace: namespace.map(decode).transpose()? })
}

fn with_id(part: &str) -> Result<(String, Option<String>), NameError> {
    match part.split_once('#') {
        Some((head, id)) => Ok((decode(head)?, Some(decode(id)?))),
        None => Ok((decode(part)?, None)),
    }
}

/// Decodes the output of [`Encoded`]. Any other encoding is an error, so that two texts never mean the same name.
fn decode(part: &str) -> Result<String, NameError> {
    if part.is_empty() {
        return Err(NameError::EmptyPart(part.to_owned()));
    }
    if !part.bytes().any(|byte| matches!(byte, b'%' | b'#' | b'/')) {
        return Ok(part.to_owned());
    }
    let mut out = String::with_capacity(part.len());
    decode_into(&mut out, part, Escaped::Part)?;
    Ok(out)
}

/// The characters that are percent-encoded.
#[derive(Clone, Copy)]
enum Escaped {
    /// `:`, `/`, `#` and `%`.
    Part,
    /// `:`, `.`, `#` and `%`: a `/` ends the segment.
    Segment,
}

fn decode_into(out: &mut String, part: &str, escaped: Escaped) -> Result<(), NameError> {
    let mut rest = part;
    while let Some(at) = rest.find(['%', '#', '/']) {
        out.push_str(&rest[..at]);
        let decoded = match (rest.get(at..at + 3), escaped) {
            (Some("%3A"), _) => ':',
            (Some("%2F"), Escaped::Part) => '/',
            (Some("%2E"), Escaped::Segment) => '.',
            (Some("%23"), _) => '#',
            (Some("%25"), _) => '%',
            _ => return Err(NameError::Encoding(part.to_owned())),
        };
        out.push(decoded);
        rest = &rest[at + 3..];
    }
    out.push_str(rest);
    Ok(())
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor)
    }
}

/// Parses a name without copying its text.
struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Name, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::option;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_forms_of_a_name_parse() {
        for text in [
            "prod#orders-db",
            "prod:main:local.File",
            "prod:main:local.File#readme",
            "prod:net.vpc/Network:aws.s3.Bucket",
            "prod:net.vpc%2Eprod:aws.s3.Bucket",
            "prod:@acme.lodash%2Emerge.src.index:aws.s3.Bucket#a.b",
            "prod:acme:main/Network#a/Inner:aws.s3.Bucket#2",
        ] {
            assert_eq!(text.parse::<Name>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn invalid_name_gives_the_reason() {
        assert!(matches!("prod".parse::<Name>(), Err(NameError::Shape(_))));
        assert!(matches!("prod::local.File".parse::<Name>(), Err(NameError::EmptyPart(_))));
        assert!(matches!("prod:a%2eb:T".parse::<Name>(), Err(NameError::Encoding(_))));
        assert!(matches!("prod:a%2Fb:T".parse::<Name>(), Err(NameError::Encoding(_))));
        assert!(matches!("prod:a:T#b%2Ec".parse::<Name>(), Err(NameError::Encoding(_))));
        assert!(matches!("a:b:c:d:e".parse::<Name>(), Err(NameError::Shape(_))));
        assert_eq!(check_id("12"), Err(NameError::NumberAsId("12".into())));
        assert!(check_id("a12").is_ok());
        assert!(matches!(check_id("a\u{1b}"), Err(NameError::Control(_))));
    }

    #[test]
    fn both_spellings_of_a_module_mean_the_same_name() {
        for (dotted, encoded) in [
            ("dev:lib.net:local.File#a.b", "dev:lib%2Fnet:local.File#a.b"),
            ("dev:zone%2Ev2:local.File", "dev:zone.v2:local.File"),
            ("dev:lib.deep.zone%2Ev2/Site#home.page:T", "dev:lib%2Fdeep%2Fzone.v2/Site#home.page:T"),
            ("dev:@acme.lodash%2Emerge.index:T", "dev:@acme%2Flodash.merge%2Findex:T"),
            ("dev:main:T#x%2Fy", "dev:main:T#x%2Fy"),
            ("dev#a%2Fb.c", "dev#a%2Fb.c"),
        ] {
            let name: Name = dotted.parse().unwrap();
            assert_eq!(Name::parse_spelled(encoded, Spelling::Encoded).unwrap(), name);
            assert_eq!(name.spelled(Spelling::Encoded).to_string(), encoded);
        }
    }

    #[test]
    fn name_moves_between_environments() {
        let acme: Environment = "prod:acme".parse().unwrap();
        let name: Name = "dev:main:local.File#a".parse().unwrap();
        assert_eq!(name.in_environment(&acme).to_string(), "prod:acme:main:local.File#a");
        assert_eq!(name.in_environment(&acme).in_environment(name.environment()), name);
        assert!("a:b:c".parse::<Environment>().is_err() && "".parse::<Environment>().is_err());
    }

    fn part() -> impl Strategy<Value = String> {
        "[a-z:/#%.é ]{1,8}"
    }

    fn environments() -> impl Strategy<Value = Environment> {
        (part(), option::of(part())).prop_map(|(name, namespace)| Environment { name, namespace })
    }

    fn names() -> impl Strategy<Value = Name> {
        let scope = (part(), option::of(part())).prop_map(|(class, id)| ScopePart { class, id });
        let placed =
            (environments(), part(), proptest::collection::vec(scope, 0..4), part(), option::of(part()))
                .prop_map(|(environment, module, scope, ty, id)| NameParts::Placed {
                    environment,
                    module: Module(module),
                    scope,
                    ty: TypeToken(ty),
                    id,
                });
        let global =
            (environments(), part()).prop_map(|(environment, gid)| NameParts::Global { environment, gid });
        prop_oneof![placed, global].prop_map(Name::from)
    }

    proptest! {
        #[test]
        fn printing_and_parsing_are_inverses(name in names()) {
            let text = name.to_string();
            prop_assert_eq!(&text.parse::<Name>().unwrap(), &name);
            let encoded = name.spelled(Spelling::Encoded).to_string();
            prop_assert_eq!(Name::parse_spelled(&encoded, Spelling::Encoded).unwrap(), name);
        }

        #[test]
        fn text_that_parses_prints_as_itself(text in "([a-z:/#%.0-9A-F]|%2E|%2F|%3A){0,20}") {
            for spelling in [Spelling::Dotted, Spelling::Encoded] {
                if let Ok(name) = Name::parse_spelled(&text, spelling) {
                    prop_assert_eq!(name.spelled(spelling).to_string(), text.clone());
                }
            }
        }
    }
}
