//! The pinfile, `<entrypoint>.pin.json`: reading, with positions for messages, and printing.
//!
//! **Invariants:** a file with an unknown key is refused as a whole; equal pins are printed as equal bytes.

use std::collections::BTreeMap;

use stead_model::{
    Code, Diagnostic, Digest, Environment, Hint, Map, NextStep, SourceRef, TypeToken, Value, nearest,
};

use super::json::{self, Kind, Member, ParseError, Span, Tree};
use super::path::split_path;

/// The version of the format.
const VERSION: &str = "1";

/// The maximum size of a pinfile, more than any program needs.
const MAX_BYTES: usize = 32 << 20;

/// One pinned leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinEntry {
    pub resource: TypeToken,
    /// The path under which the leaf was first pinned, if it was moved since.
    pub original_path: Option<String>,
    pub status: EntryStatus,
    /// Frozen values, which take precedence over the program's.
    pub attributes: Map,
    /// Frozen values of single environments, which take precedence over `attributes` there: names that a provider generates.
    pub environments: BTreeMap<String, Map>,
}

impl PinEntry {
    /// Makes an entry without a former path or values.
    pub fn new(resource: TypeToken, status: EntryStatus) -> PinEntry {
        PinEntry {
            resource,
            original_path: None,
            status,
            attributes: Map::new(),
            environments: BTreeMap::new(),
        }
    }

    /// Returns the frozen values that apply in an environment.
    pub fn frozen_in(&self, environment: &Environment) -> Map {
        let mut frozen = self.attributes.clone();
        let own = self.environments.get(&environment.to_string());
        frozen.extend(own.into_iter().flatten().map(|(property, value)| (property.clone(), value.clone())));
        frozen
    }

    /// Returns the properties of all frozen values, with their parts of the entry.
    pub(crate) fn values(&self) -> impl Iterator<Item = (String, EntryPart)> {
        let shared =
            self.attributes.keys().map(|name| (name.to_string(), EntryPart::Attribute(name.to_string())));
        let own = self.environments.iter().flat_map(|(environment, frozen)| {
            let part = |name: &str| EntryPart::OfEnvironment(environment.clone(), name.to_owned());
            frozen.keys().map(move |name| (name.to_string(), part(name)))
        });
        shared.chain(own)
    }
}

/// Whether an entry pins its resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryStatus {
    #[default]
    Pinned,
    /// A person ended the pin. The entry stays until the release was applied in every environment.
    Released,
}

/// The pins of one target, or of one environment on it, by physical path.
pub type Section = BTreeMap<String, PinEntry>;

/// A pinfile as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pinfile {
    /// The path of the file in the project, for messages.
    pub name: String,
    pub sections: BTreeMap<String, Section>,
    /// The digest of the bytes that were read; `None` if the file does not exist.
    pub digest: Option<Digest>,
    places: BTreeMap<(String, String, EntryPart), Span>,
}

/// A part of an entry that has a position in the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryPart {
    Key,
    OriginalPath,
    Attribute(String),
    /// A frozen value of one environment.
    OfEnvironment(String, String),
}

/// An update of the pinfile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinfileUpdate {
    Unchanged,
    /// Write this text.
    Write(String),
    /// Remove the file, because it has no pins any more.
    Remove,
}

impl Pinfile {
    /// Reads a pinfile from its bytes; `None` if the file does not exist.
    pub fn read(name: &str, bytes: Option<&[u8]>) -> Result<Pinfile, Diagnostic> {
        let mut pinfile = Pinfile { name: name.to_owned(), ..Pinfile::default() };
        let Some(bytes) = bytes else { return Ok(pinfile) };
        if bytes.len() > MAX_BYTES {
            let message = format!("{name} has {} bytes; at most {MAX_BYTES} are read", bytes.len());
            return Err(Diagnostic::error(Code::BAD_PINFILE, message));
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(Diagnostic::error(Code::BAD_PINFILE, format!("{name} is not UTF-8")));
        };
        if let Some(problem) = conflict(name, text) {
            return Err(problem);
        }
        let diagnostic = |ParseError { span, message }| invalid(name, span, &message);
        let tree = json::parse(text).map_err(diagnostic)?;
        pinfile.read_top(&tree).map_err(diagnostic)?;
        pinfile.digest = Some(Digest::of(bytes));
        Ok(pinfile)
    }

    fn read_top(&mut self, tree: &Tree) -> Result<(), ParseError> {
        let members = object(tree, "a pinfile")?;
        let version =
            member(members, "version").ok_or_else(|| error_at(tree.span, "`version` is missing"))?;
        match version.value.value() {
            Value::String(text) if text == VERSION => {}
            other => {
                let message = format!("unknown version {}; this stead reads \"1\"", other.to_json());
                return Err(error_at(version.value.span, &message));
            }
        }
        only(members, &["version", "pinned"])?;
        let Some(pinned) = member(members, "pinned") else {
            return Err(error_at(tree.span, "`pinned` is missing"));
        };
        for section in object(&pinned.value, "`pinned`")? {
            self.read_section(section)?;
        }
        Ok(())
    }

    fn read_section(&mut self, member: &Member) -> Result<(), ParseError> {
        let key = &member.key;
        if key.split(':').any(str::is_empty) || key.contains(|c: char| c.is_control() || c.is_whitespace()) {
            let message = format!("{key:?} is neither a target nor `target:environment`");
            return Err(error_at(member.span, &message));
        }
        let mut entries = Section::new();
        let mut originals: BTreeMap<String, &str> = BTreeMap::new();
        for pin in object(&member.value, "a target's pins")? {
            let (entry, parts) = read_entry(pin)?;
            for (part, span) in parts {
                if part == EntryPart::OriginalPath
                    && let Some(original) = &entry.original_path
                    && let Some(other) = originals.insert(original.clone(), &pin.key)
                {
                    let message = format!(
                        "{other:?} was already moved from {original:?}; one resource cannot have two paths"
                    );
                    return Err(error_at(span, &message));
                }
                self.places.insert((key.clone(), pin.key.clone(), part), span);
            }
            entries.insert(pin.key.clone(), entry);
        }
        self.sections.insert(key.clone(), entries);
        Ok(())
    }

    /// Returns the position and length of an entry's key.
    pub fn place(&self, section: &str, path: &str) -> Option<(SourceRef, usize)> {
        self.place_in(section, path, &EntryPart::Key)
    }

    pub(crate) fn place_in(&self, section: &str, path: &str, part: &EntryPart) -> Option<(SourceRef, usize)> {
        let span = self.places.get(&(section.to_owned(), path.to_owned(), part.clone()))?;
        Some((place(&self.name, *span), span.length))
    }

    pub fn is_missing(&self) -> bool {
        self.digest.is_none()
    }
}

/// Returns the text of a pinfile with these sections.
pub fn print(sections: &BTreeMap<String, Section>) -> String {
    let mut text = String::from("{\n  \"version\": \"1\",\n  \"pinned\": ");
    let sections: Vec<_> = sections.iter().map(|(key, section)| (key, print_section(section))).collect();
    print_members(&mut text, 1, sections.into_iter());
    text.push_str("\n}\n");
    text
}

fn print_section(section: &Section) -> String {
    let mut text = String::new();
    print_members(&mut text, 2, section.iter().map(|(path, entry)| (path, print_entry(entry))));
    text
}

fn print_entry(entry: &PinEntry) -> String {
    let quoted = |text: &str| Value::from(text).to_json();
    let mut members = vec![("type".to_owned(), quoted(entry.resource.as_str()))];
    members.extend(entry.original_path.iter().map(|path| ("originalPath".to_owned(), quoted(path))));
    if entry.status == EntryStatus::Released {
        members.push(("released".to_owned(), "true".to_owned()));
    }
    members.push(("attributes".to_owned(), print_value(&Value::Map(entry.attributes.clone()), 4)));
    if !entry.environments.is_empty() {
        let of_each = entry.environments.iter();
        let of_each = of_each.map(|(key, frozen)| (key, print_value(&Value::Map(frozen.clone()), 5)));
        let mut text = String::new();
        print_members(&mut text, 4, of_each);
        members.push(("environments".to_owned(), text));
    }
    let mut text = String::new();
    print_members(&mut text, 3, members.iter().map(|(key, value)| (key, value.clone())));
    text
}

fn print_value(value: &Value, depth: usize) -> String {
    let mut text = String::new();
    match value {
        Value::Map(map) => {
            print_members(
                &mut text,
                depth,
                map.iter().map(|(key, value)| (key, print_value(value, depth + 1))),
            );
        }
        Value::List(items) if !items.is_empty() => {
            let pad = "  ".repeat(depth + 1);
            let items: Vec<String> =
                items.iter().map(|item| format!("{pad}{}", print_value(item, depth + 1))).collect();
            text = format!("[\n{}\n{}]", items.join(",\n"), "  ".repeat(depth));
        }
        plain => text = plain.to_json(),
    }
    text
}

fn print_members(out: &mut String, depth: usize, members: impl Iterator<Item = (impl AsRef<str>, String)>) {
    let pad = "  ".repeat(depth + 1);
    let members: Vec<String> = members
        .map(|(key, value)| format!("{pad}{}: {value}", Value::from(key.as_ref()).to_json()))
        .collect();
    match members.is_empty() {
        true => out.push_str("{}"),
        false => out.push_str(&format!("{{\n{}\n{}}}", members.join(",\n"), "  ".repeat(depth))),
    }
}

/// Reads an entry and the positions of its parts.
fn read_entry(pin: &Member) -> Result<(PinEntry, Vec<(EntryPart, Span)>), ParseError> {
    let Some((resource, _)) = split_path(&pin.key) else {
        let message = format!("{:?} is not a path of the form `type.id`", pin.key);
        return Err(error_at(pin.span, &message));
    };
    let members = object(&pin.value, "a pin")?;
    only(members, &["type", "fqn", "originalPath", "released", "attributes", "environments"])?;
    let types = [member(members, "type"), member(members, "fqn")];
    if types.iter().all(Option::is_none) {
        return Err(error_at(pin.span, &format!("`type` is missing; the type in the key is {resource:?}")));
    }
    for member in types.into_iter().flatten() {
        if text(member)? != resource {
            let message = format!("`{}` differs from the type in the key, {resource:?}", member.key);
            return Err(error_at(member.value.span, &message));
        }
    }
    let original = member(members, "originalPath");
    let original_path = original.map(|original| original_path(original, pin, resource)).transpose()?;
    let status = member(members, "released").map(released).transpose()?.unwrap_or_default();
    let attributes = match member(members, "attributes") {
        Some(attributes) => object(&attributes.value, "`attributes`")?,
        None => &[],
    };
    let mut parts = vec![(EntryPart::Key, pin.span)];
    parts.extend(original.map(|original| (EntryPart::OriginalPath, original.value.span)));
    parts.extend(attributes.iter().map(|member| (EntryPart::Attribute(member.key.clone()), member.span)));
    let environments = read_environments(member(members, "environments"), &mut parts)?;
    let (resource, attributes) = (TypeToken(resource.to_owned()), json::map(attributes));
    Ok((PinEntry { resource, original_path, status, attributes, environments }, parts))
}

/// Reads the frozen values of single environments.
fn read_environments(
    found: Option<&Member>,
    parts: &mut Vec<(EntryPart, Span)>,
) -> Result<BTreeMap<String, Map>, ParseError> {
    let mut environments = BTreeMap::new();
    let Some(found) = found else { return Ok(environments) };
    for environment in object(&found.value, "`environments`")? {
        let key = &environment.key;
        if key.parse::<Environment>().ok().is_none_or(|read| read.to_string() != *key) {
            let message = format!("{key:?} is neither an environment nor `environment:namespace`");
            return Err(error_at(environment.span, &message));
        }
        let frozen = object(&environment.value, "the values of an environment")?;
        let part = |member: &Member| (EntryPart::OfEnvironment(key.clone(), member.key.clone()), member.span);
        parts.extend(frozen.iter().map(part));
        environments.insert(key.clone(), json::map(frozen));
    }
    Ok(environments)
}

fn original_path(original: &Member, pin: &Member, resource: &str) -> Result<String, ParseError> {
    let path = text(original)?;
    let invalid = |message: String| Err(error_at(original.value.span, &message));
    match split_path(&path) {
        None => invalid(format!("{path:?} is not a path of the form `type.id`")),
        Some((other, _)) if other != resource => {
            invalid(format!("a {other} cannot be moved to a {resource}: the types differ"))
        }
        Some(_) if path == pin.key => invalid("`originalPath` equals the key".to_owned()),
        Some(_) => Ok(path),
    }
}

fn released(member: &Member) -> Result<EntryStatus, ParseError> {
    match &member.value.kind {
        Kind::Plain(Value::Bool(true)) => Ok(EntryStatus::Released),
        Kind::Plain(Value::Bool(false)) => Ok(EntryStatus::Pinned),
        _ => {
            let message = format!("`released` must be true or false, not {}", member.value.kind_name());
            Err(error_at(member.value.span, &message))
        }
    }
}

fn object<'a>(tree: &'a Tree, what: &str) -> Result<&'a [Member], ParseError> {
    match &tree.kind {
        Kind::Object(members) => Ok(members),
        _ => Err(error_at(tree.span, &format!("{what} must be an object, not {}", tree.kind_name()))),
    }
}

fn text(member: &Member) -> Result<String, ParseError> {
    match &member.value.kind {
        Kind::Plain(Value::String(text)) => Ok(text.to_string()),
        _ => {
            let message = format!("`{}` must be a string, not {}", member.key, member.value.kind_name());
            Err(error_at(member.value.span, &message))
        }
    }
}

fn member<'a>(members: &'a [Member], key: &str) -> Option<&'a Member> {
    members.iter().find(|member| member.key == key)
}

/// Refuses unknown keys.
fn only(members: &[Member], known: &[&str]) -> Result<(), ParseError> {
    match members.iter().find(|member| !known.contains(&member.key.as_str())) {
        None => Ok(()),
        Some(member) => {
            let meant = nearest(&member.key, known.iter().copied());
            let hint = meant.map_or(format!("the keys are: {}", known.join(", ")), |meant| {
                format!("did you mean `{meant}`?")
            });
            Err(error_at(member.span, &format!("unknown key {:?}; {hint}", member.key)))
        }
    }
}

fn error_at(span: Span, message: &str) -> ParseError {
    ParseError { span, message: message.to_owned() }
}

pub(crate) fn place(name: &str, span: Span) -> SourceRef {
    SourceRef { file: name.into(), line: span.line, column: span.column }
}

fn invalid(name: &str, span: Span, message: &str) -> Diagnostic {
    let message = format!("{name}:{}:{}: {message}", span.line, span.column);
    Diagnostic::error(Code::BAD_PINFILE, message)
        .at(place(name, span), span.length, "here")
        .note("Nothing was evaluated, and nothing was changed.")
        .help("correct the file, or restore it from version control")
}

/// Reports the conflict markers that git leaves in a file that it could not merge.
fn conflict(name: &str, text: &str) -> Option<Diagnostic> {
    let marker = |line: &str| {
        let line = line.trim_end_matches('\r');
        line == "======="
            || ["<<<<<<<", "|||||||", ">>>>>>>"].iter().any(|start| {
                line.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
    };
    let found: Vec<u32> =
        text.lines().enumerate().filter(|(_, line)| marker(line)).map(|(at, _)| at as u32 + 1).collect();
    let lines: Vec<String> = found.iter().map(u32::to_string).collect();
    let first = *found.first()?;
    let plural = if lines.len() == 1 { "line" } else { "lines" };
    let message = format!("{name} has merge conflict markers at {plural} {}", lines.join(", "));
    let span = Span { line: first, column: 1, length: 7 };
    Some(
        Diagnostic::error(Code::PINFILE_CONFLICT, message)
            .at(place(name, span), span.length, "two branches changed the pins around here")
            .note("Nothing was evaluated, and nothing was changed.")
            .help("keep the entries of both sides, with a comma between them; the order does not matter")
            .help(Hint::text("to check the file afterwards: ").then(NextStep::ListPins)),
    )
}
