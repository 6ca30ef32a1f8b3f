//! Tags: the owner's mark, default tags, and the tags of AWS itself.
//!
//! **Invariants:** a mark is no part of what is compared or shown; tags that AWS sets are never sent.

use std::collections::BTreeMap;

use stead_model::{Environment, Input, Inputs, Map, Name, NameParts, StackId, Uid, Value};
use stead_provider::{OwnerMark, StatePlace};
use stead_schema::cfn::{Class, FormId, Kinds, Schema};

const STACK: &str = "stead:stack";
const UID: &str = "stead:uid";
const NAME: &str = "stead:name";

/// Prefix of the tags that AWS sets.
const OF_AWS: &str = "aws:";

/// Longest value of a tag.
const MAX_VALUE: usize = 256;

/// The tag property of a type.
pub(crate) struct TagProperty {
    pub(crate) name: String,
    style: Style,
    pub(crate) on_create: bool,
    pub(crate) on_update: bool,
}

enum Style {
    /// An object with a member for each tag.
    Object,
    /// A list of objects, with the names of their two members, and the other members that every element needs.
    List { key: String, value: String, more: Vec<String> },
}

impl TagProperty {
    /// Returns the tag property of a type; `None` if its tags cannot be set, or only in a way that stead does not know.
    pub(crate) fn of(schema: &Schema) -> Option<TagProperty> {
        let path = schema.tagging.property.as_ref().filter(|path| path.0.len() == 1)?;
        let name = path.root()?.to_owned();
        let classes = &schema.classes;
        if classes.of(Class::ReadOnly).covers(path) || classes.of(Class::WriteOnly).covers(path) {
            return None;
        }
        let form = schema.member(Schema::ROOT, &name)?;
        let style = match schema.element(form) {
            Some(element) => {
                let member = |wanted: [&str; 2]| {
                    schema.find(element, &mut Vec::new(), &|form| {
                        let fits = |name: &&String| wanted.iter().any(|one| name.eq_ignore_ascii_case(one));
                        form.properties.keys().find(fits).cloned()
                    })
                };
                let (key, value) = (member(["Key", "TagKey"])?, member(["Value", "TagValue"])?);
                let more = flags(schema, element, [&key, &value])?;
                Style::List { key, value, more }
            }
            None if schema.form(form).kinds.has(Kinds::ARRAY) => return None,
            None => Style::Object,
        };
        let fixed = classes.of(Class::CreateOnly).covers(path);
        let marked = takes_marks(schema, form, &style) && !fixed;
        let (on_create, on_update) = (schema.tagging.on_create && marked, schema.tagging.updatable && marked);
        Some(TagProperty { name, style, on_create, on_update })
    }

    /// Returns the tags of a model, by key.
    fn read(&self, model: &Map) -> BTreeMap<String, String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match (&self.style, model.get(&self.name)) {
            (Style::Object, Some(Value::Map(tags))) => {
                tags.iter().map(|(key, value)| (key.to_string(), text(value))).collect()
            }
            (Style::List { key, value, .. }, Some(Value::List(tags))) => {
                let tag = |tag: &Value| {
                    let members = tag.as_map()?;
                    let key = members.get(key)?.as_str()?.to_owned();
                    Some((key, members.get(value).map(text).unwrap_or_default()))
                };
                tags.iter().filter_map(tag).collect()
            }
            _ => BTreeMap::new(),
        }
    }

    /// Adds tags to a model. A tag that the model has already stays.
    pub(crate) fn add(&self, model: &mut Map, tags: &BTreeMap<String, String>) {
        let present = self.read(model);
        let new: Vec<(&String, &String)> =
            tags.iter().filter(|(key, _)| !present.contains_key(*key)).collect();
        if new.is_empty() {
            return;
        }
        let value = match (&self.style, model.get(&self.name)) {
            (Style::Object, before) => {
                let mut all = before.and_then(Value::as_map).cloned().unwrap_or_default();
                for (key, value) in new {
                    all.insert(key.as_str(), Value::from(value.as_str()));
                }
                Value::Map(all)
            }
            (Style::List { .. }, before) => {
                let before = before.and_then(Value::as_list).unwrap_or_default().iter().cloned();
                before.chain(new.into_iter().map(|(key, value)| self.element(key, value))).collect()
            }
        };
        model.insert(self.name.as_str(), value);
    }

    fn element(&self, key: &str, value: &str) -> Value {
        let Style::List { key: key_name, value: value_name, more } = &self.style else { return Value::Null };
        let members = [(key_name.clone(), Value::from(key)), (value_name.clone(), Value::from(value))];
        let more = more.iter().map(|name| (name.clone(), Value::Bool(false)));
        Value::Map(members.into_iter().chain(more).collect())
    }

    /// Removes the tags that a predicate selects. A property without tags is removed too, if it had some.
    fn remove(&self, model: &mut Map, goes: impl Fn(&str) -> bool) {
        let kept = match (&self.style, model.get(&self.name)) {
            (Style::Object, Some(Value::Map(tags))) if tags.keys().any(|key| goes(key)) => {
                let kept = tags.iter().filter(|(key, _)| !goes(key));
                Value::Map(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
            }
            (Style::List { key, .. }, Some(Value::List(tags))) => {
                let is_going = |tag: &Value| {
                    tag.as_map().and_then(|tag| tag.get(key)).and_then(Value::as_str).is_some_and(&goes)
                };
                if !tags.iter().any(is_going) {
                    return;
                }
                tags.iter().filter(|tag| !is_going(tag)).cloned().collect()
            }
            _ => return,
        };
        let is_empty = match &kept {
            Value::Map(tags) => tags.is_empty(),
            Value::List(tags) => tags.is_empty(),
            _ => false,
        };
        match is_empty {
            true => drop(model.remove(&self.name)),
            false => drop(model.insert(self.name.as_str(), kept)),
        }
    }

    /// Adds default tags to declared inputs if the keys of all declared tags are known. A declared tag is stronger.
    ///
    /// The keys of other tags are known at the call, which adds the default tags then.
    pub(crate) fn add_defaults(&self, inputs: &mut Inputs, defaults: &BTreeMap<String, String>) {
        if defaults.is_empty() {
            return;
        }
        match inputs.get(&self.name) {
            None => {
                let mut model = Map::new();
                self.add(&mut model, defaults);
                inputs.extend(model.into_iter().map(|(name, value)| (name, Input::Known(value))));
            }
            Some(Input::Known(value)) => {
                let mut model: Map = [(self.name.clone(), value.clone())].into_iter().collect();
                self.add(&mut model, defaults);
                inputs.extend(model.into_iter().map(|(name, value)| (name, Input::Known(value))));
            }
            Some(Input::List(items)) => {
                let keys: Option<Vec<&str>> = items.iter().map(|item| self.key_in(item)).collect();
                let Some(keys) = keys else { return };
                let new = defaults.iter().filter(|(key, _)| !keys.contains(&key.as_str()));
                let new = new.map(|(key, value)| Input::Known(self.element(key, value)));
                let all = items.iter().cloned().chain(new).collect();
                inputs.insert(self.name.as_str(), Input::list(all));
            }
            Some(Input::Map(tags)) if matches!(self.style, Style::Object) => {
                let mut all = tags.clone();
                for (key, value) in defaults.iter().filter(|(key, _)| !tags.contains_key(key.as_str())) {
                    all.insert(key.as_str(), Input::Known(Value::from(value.as_str())));
                }
                inputs.insert(self.name.as_str(), Input::map(all));
            }
            Some(Input::Map(_) | Input::Deferred(_)) => {}
        }
    }

    /// Returns the key of a declared element of a list of tags, if it is known.
    fn key_in<'i>(&self, element: &'i Input) -> Option<&'i str> {
        let Style::List { key, .. } = &self.style else { return None };
        match element {
            Input::Known(Value::Map(tag)) => tag.get(key)?.as_str(),
            Input::Map(tag) => tag.get(key.as_str())?.as_known()?.as_str(),
            _ => None,
        }
    }

    /// Removes the tags that other inputs declare.
    pub(crate) fn remove_declared(&self, model: &mut Map, declared: &Map) {
        let declared = self.read(declared);
        self.remove(model, |key| declared.contains_key(key));
    }

    /// Adds the mark of the owner. A mark that is there already is replaced.
    pub(crate) fn add_mark(&self, model: &mut Map, owner: &OwnerMark) {
        self.remove(model, is_mark);
        self.add(model, &tags_of(owner));
    }

    /// Returns the mark on a resource. A mark that cannot be understood counts as missing.
    pub(crate) fn mark(&self, model: &Map) -> Option<OwnerMark> {
        mark_in(&self.read(model))
    }

    /// Returns the uid on a resource, whatever else its mark says.
    pub(crate) fn uid(&self, model: &Map) -> Option<Uid> {
        self.read(model).remove(UID).map(Uid)
    }

    /// Removes marks and the tags of AWS from a model that was read.
    pub(crate) fn strip(&self, model: &mut Map) {
        self.remove(model, |key| is_mark(key) || key.starts_with(OF_AWS));
    }

    /// Removes the tags of AWS from a model that was read.
    pub(crate) fn strip_tags_of_aws(&self, model: &mut Map) {
        self.remove(model, |key| key.starts_with(OF_AWS));
    }
}

/// Returns the required members of a tag besides key and value, all of them flags that may be off, such as the one that gives a tag
/// of a group to its instances. `None` if another member is required.
fn flags(schema: &Schema, element: FormId, known: [&String; 2]) -> Option<Vec<String>> {
    let is_flag = |name: &String| {
        let form = schema.member(element, name)?;
        schema.form(form).kinds.has(Kinds::BOOLEAN).then(|| name.clone())
    };
    let required = schema.form(element).required.iter().filter(|name| !known.contains(name));
    required.map(is_flag).collect()
}

/// Returns true if the keys of marks are valid keys of the type's tags.
fn takes_marks(schema: &Schema, tags: FormId, style: &Style) -> bool {
    let Style::List { key, .. } = style else { return true };
    let form = schema.element(tags).and_then(|element| schema.member(element, key));
    let pattern = form.and_then(|form| {
        schema.find(form, &mut Vec::new(), &|form| {
            form.limits
                .pattern
                .as_ref()
                .map(|pattern| [STACK, UID, NAME].iter().all(|mark| pattern.allows(mark)))
        })
    });
    pattern.unwrap_or(true)
}

fn is_mark(key: &str) -> bool {
    key == STACK || key == UID || key == NAME
}

fn tags_of(owner: &OwnerMark) -> BTreeMap<String, String> {
    let all = [(STACK, Some(stack_of(owner))), (UID, Some(owner.uid.0.clone())), (NAME, name_of(owner))];
    all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// Returns the value of the tag that says where the owner's state is.
///
/// Parts that do not fit are replaced by their digests, the store first. The end of the store follows its digest, for people.
/// **Invariant:** the value always fits: a mark that is left out lets another stack take the resource.
fn stack_of(owner: &OwnerMark) -> String {
    let OwnerMark { stack, place: StatePlace { store, project, environment, target }, .. } = owner;
    let whole = [project, environment, target, &stack.0, store];
    let mut parts = whole.map(|part| escaped(part));
    let store_at = parts.len() - 1;
    for at in [store_at, 0, 1, 2, 3] {
        let digest = StatePlace::digest_of(whole[at]);
        if parts.join("/").len() > MAX_VALUE && parts[at].len() > digest.len() {
            parts[at] = digest;
        }
    }
    if parts[store_at] != escaped(store) {
        let room = MAX_VALUE.saturating_sub(parts.join("/").len() + 1);
        let end = longest_end(store, |end| escaped(end).len() <= room);
        parts[store_at] = format!("{}:{}", parts[store_at], escaped(end.unwrap_or_default()));
    }
    parts.join("/")
}

/// Returns the name of the owner, or a name with the end of it.
fn name_of(owner: &OwnerMark) -> Option<String> {
    let (whole, environment) = (owner.name.to_string(), owner.name.environment());
    let text = |end: &str| {
        let parts = NameParts::Global { environment: environment.clone(), gid: format!("...{end}") };
        escaped(&Name::from(parts).to_string())
    };
    match escaped(&whole) {
        fits if fits.len() <= MAX_VALUE => Some(fits),
        _ => longest_end(&whole, |end| text(end).len() <= MAX_VALUE).map(text),
    }
}

/// Returns the longest end of a text that fits.
fn longest_end(text: &str, fits: impl Fn(&str) -> bool) -> Option<&str> {
    text.char_indices().map(|(at, _)| &text[at..]).find(|end| fits(end))
}

fn mark_in(tags: &BTreeMap<String, String>) -> Option<OwnerMark> {
    let mut parts = tags.get(STACK)?.split('/').map(unescaped);
    let mut next = || parts.next()?;
    let (project, environment, target) = (next()?, next()?, next()?);
    let (stack, store) = (StackId(next()?), next()?);
    let uid = tags.get(UID)?;
    let name = tags.get(NAME).and_then(|name| unescaped(name)?.parse().ok());
    // The name is for people: a mark without one counts.
    let unnamed = || NameParts::Global { environment: Environment::new(&environment), gid: uid.clone() };
    let name = name.unwrap_or_else(|| Name::from(unnamed()));
    let place = StatePlace { store, project, environment, target };
    Some(OwnerMark { stack, uid: Uid(uid.clone()), name, place })
}

/// Writes a text with the characters that every service accepts in a tag. `=` introduces the two digits of a byte.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._:@ ".contains(&byte);
    let byte = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("={byte:02X}") };
    text.bytes().map(byte).collect()
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'=' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
