//! The pinfile: `<entrypoint>.pin.json`, read with places and written in one way only.
//!
//! **Invariant:** a file that is not understood to the last key is not believed at all, and two machines that write the
//! same pins write the same bytes.

use std::collections::BTreeMap;

use stead_model::{Code, Diagnostic, Digest, Map, SourceRef, TypeToken, Value, nearest};

use super::json::{self, Kind, Member, Mistake, Spot, Tree};
use super::path::split_path;

/// The version of the format.
const VERSION: &str = "1";

/// Longer files are not read: no program has that many pins.
const MAX_BYTES: usize = 32 << 20;

/// One pinned leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub resource: TypeToken,
    /// The path under which it was pinned first, if it moved since.
    pub original_path: Option<String>,
    /// Values that hold whatever the program says.
    pub attributes: Map,
}

/// The pins of one target, or of one environment on it, by physical path.
pub type Section = BTreeMap<String, Entry>;

/// A pinfile as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pinfile {
    /// What it is called in messages: its path in the project.
    pub name: String,
    pub sections: BTreeMap<String, Section>,
    /// Of the bytes that were read; `None`: there was no file.
    pub digest: Option<Digest>,
    places: BTreeMap<(String, String, Part), Spot>,
}

/// A part of an entry that can be pointed at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Key,
    OriginalPath,
    Attribute(String),
}

/// What becomes of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// It is as it should be, or is not there and need not be.
    Unchanged,
    Write(String),
    /// It holds nothing any more.
    Remove,
}

impl Pinfile {
    /// Reads a file; `None`: there is none.
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
        let mistaken = |Mistake { spot, message }| wrong(name, spot, &message);
        let tree = json::parse(text).map_err(mistaken)?;
        pinfile.top(&tree).map_err(mistaken)?;
        pinfile.digest = Some(Digest::of(bytes));
        Ok(pinfile)
    }

    fn top(&mut self, tree: &Tree) -> Result<(), Mistake> {
        let members = object(tree, "a pinfile")?;
        let version = member(members, "version").ok_or_else(|| mistake(tree.spot, "`version` is missing"))?;
        match version.value.value() {
            Value::String(text) if text == VERSION => {}
            other => {
                let message =
                    format!("version {} is not known here; this stead reads \"1\"", other.to_json());
                return Err(mistake(version.value.spot, &message));
            }
        }
        only(members, &["version", "pinned"])?;
        let Some(pinned) = member(members, "pinned") else {
            return Err(mistake(tree.spot, "`pinned` is missing"));
        };
        for section in object(&pinned.value, "`pinned`")? {
            self.section(section)?;
        }
        Ok(())
    }

    fn section(&mut self, member: &Member) -> Result<(), Mistake> {
        let key = &member.key;
        if key.split(':').any(str::is_empty) || key.contains(|c: char| c.is_control() || c.is_whitespace()) {
            let message = format!("{key:?} is neither a target nor `target:environment`");
            return Err(mistake(member.spot, &message));
        }
        let mut entries = Section::new();
        let mut originals: BTreeMap<String, &str> = BTreeMap::new();
        for pin in object(&member.value, "a target's pins")? {
            let (entry, parts) = entry(pin)?;
            for (part, spot) in parts {
                if part == Part::OriginalPath
                    && let Some(original) = &entry.original_path
                    && let Some(other) = originals.insert(original.clone(), &pin.key)
                {
                    let message =
                        format!("{other:?} came from {original:?} already; one leaf cannot become two");
                    return Err(mistake(spot, &message));
                }
                self.places.insert((key.clone(), pin.key.clone(), part), spot);
            }
            entries.insert(pin.key.clone(), entry);
        }
        self.sections.insert(key.clone(), entries);
        Ok(())
    }

    /// Where an entry's key stands.
    pub fn place(&self, section: &str, path: &str) -> Option<(SourceRef, usize)> {
        self.place_in(section, path, &Part::Key)
    }

    pub(crate) fn place_in(&self, section: &str, path: &str, part: &Part) -> Option<(SourceRef, usize)> {
        let spot = self.places.get(&(section.to_owned(), path.to_owned(), part.clone()))?;
        Some((place(&self.name, *spot), spot.length))
    }

    pub fn is_missing(&self) -> bool {
        self.digest.is_none()
    }
}

/// The text of a file with these sections.
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

fn print_entry(entry: &Entry) -> String {
    let quoted = |text: &str| Value::from(text).to_json();
    let mut members = vec![("type".to_owned(), quoted(entry.resource.as_str()))];
    members.extend(entry.original_path.iter().map(|path| ("originalPath".to_owned(), quoted(path))));
    members.push(("attributes".to_owned(), print_value(&Value::Map(entry.attributes.clone()), 4)));
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

fn print_members<'a>(out: &mut String, depth: usize, members: impl Iterator<Item = (&'a String, String)>) {
    let pad = "  ".repeat(depth + 1);
    let members: Vec<String> = members
        .map(|(key, value)| format!("{pad}{}: {value}", Value::from(key.as_str()).to_json()))
        .collect();
    match members.is_empty() {
        true => out.push_str("{}"),
        false => out.push_str(&format!("{{\n{}\n{}}}", members.join(",\n"), "  ".repeat(depth))),
    }
}

/// An entry, and where its parts stand.
fn entry(pin: &Member) -> Result<(Entry, Vec<(Part, Spot)>), Mistake> {
    let Some((resource, _)) = split_path(&pin.key) else {
        let message = format!("{:?} is no path of a leaf, which is `type.id`", pin.key);
        return Err(mistake(pin.spot, &message));
    };
    let members = object(&pin.value, "a pin")?;
    only(members, &["type", "fqn", "originalPath", "attributes"])?;
    let said = [member(members, "type"), member(members, "fqn")];
    if said.iter().all(Option::is_none) {
        return Err(mistake(pin.spot, &format!("`type` is missing; it is {resource:?} here")));
    }
    for said in said.into_iter().flatten() {
        if text(said)? != resource {
            let message = format!("`{}` is another type than the key's, which is {resource:?}", said.key);
            return Err(mistake(said.value.spot, &message));
        }
    }
    let original = member(members, "originalPath");
    let original_path = original.map(|original| original_path(original, pin, resource)).transpose()?;
    let attributes = match member(members, "attributes") {
        Some(attributes) => object(&attributes.value, "`attributes`")?,
        None => &[],
    };
    let mut parts = vec![(Part::Key, pin.spot)];
    parts.extend(original.map(|original| (Part::OriginalPath, original.value.spot)));
    parts.extend(attributes.iter().map(|member| (Part::Attribute(member.key.clone()), member.spot)));
    let (resource, attributes) = (TypeToken(resource.to_owned()), json::map(attributes));
    Ok((Entry { resource, original_path, attributes }, parts))
}

fn original_path(original: &Member, pin: &Member, resource: &str) -> Result<String, Mistake> {
    let path = text(original)?;
    let wrong = |message: String| Err(mistake(original.value.spot, &message));
    match split_path(&path) {
        None => wrong(format!("{path:?} is no path of a leaf, which is `type.id`")),
        Some((other, _)) if other != resource => {
            wrong(format!("what was a {other} cannot become a {resource}: that is another thing"))
        }
        Some(_) if path == pin.key => {
            wrong("it is where it was: `originalPath` is the key itself".to_owned())
        }
        Some(_) => Ok(path),
    }
}

fn object<'a>(tree: &'a Tree, what: &str) -> Result<&'a [Member], Mistake> {
    match &tree.kind {
        Kind::Object(members) => Ok(members),
        _ => Err(mistake(tree.spot, &format!("{what} is an object, and this is {}", tree.word()))),
    }
}

fn text(member: &Member) -> Result<String, Mistake> {
    match &member.value.kind {
        Kind::Plain(Value::String(text)) => Ok(text.clone()),
        _ => {
            let message = format!("`{}` is a string, and this is {}", member.key, member.value.word());
            Err(mistake(member.value.spot, &message))
        }
    }
}

fn member<'a>(members: &'a [Member], key: &str) -> Option<&'a Member> {
    members.iter().find(|member| member.key == key)
}

fn only(members: &[Member], known: &[&str]) -> Result<(), Mistake> {
    match members.iter().find(|member| !known.contains(&member.key.as_str())) {
        None => Ok(()),
        Some(member) => {
            let meant = nearest(&member.key, known.iter().copied());
            let meant = meant.map_or(format!("there are: {}", known.join(", ")), |meant| {
                format!("did you mean `{meant}`?")
            });
            Err(mistake(member.spot, &format!("{:?} says nothing here; {meant}", member.key)))
        }
    }
}

fn mistake(spot: Spot, message: &str) -> Mistake {
    Mistake { spot, message: message.to_owned() }
}

pub(crate) fn place(name: &str, spot: Spot) -> SourceRef {
    SourceRef { file: name.into(), line: spot.line, column: spot.column }
}

fn wrong(name: &str, spot: Spot, message: &str) -> Diagnostic {
    let message = format!("{name}:{}:{}: {message}", spot.line, spot.column);
    Diagnostic::error(Code::BAD_PINFILE, message)
        .at(place(name, spot), spot.length, "here")
        .note("Nothing was evaluated, and nothing was changed.")
        .help("mend the file, or take it back from version control")
}

/// What git leaves in a file that it could not merge.
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
    let spot = Spot { line: first, column: 1, length: 7 };
    Some(
        Diagnostic::error(Code::PINFILE_CONFLICT, message)
            .at(place(name, spot), spot.length, "two branches changed the pins around here")
            .note("Nothing was evaluated, and nothing was changed.")
            .help("keep the entries of both sides, with a comma between them; the order does not matter")
            .help("`stead pin ls` shows whether the file can be read"),
    )
}
