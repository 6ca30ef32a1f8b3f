//! The second argument of a resource.

mod values;

use std::fmt::Display;

use rquickjs::object::Filter;
use rquickjs::{Object, Value};
use stead_model::{
    DeletionPolicy, Environment, Map, NodeId, Options, PathPattern, PhysicalId, Timeouts, TypeToken,
    check_id, nearest,
};
use stead_schema::TypeSchema;

use crate::walk::{World, length_of};

/// Options as the program gave them.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) id: Option<String>,
    pub(crate) gid: Option<String>,
    pub(crate) options: Options,
    pub(crate) problems: Vec<BadOption>,
}

/// What is wrong with one option.
#[derive(Debug, PartialEq)]
pub(crate) struct BadOption {
    pub(crate) option: String,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

/// What the options are about, and what is around it.
pub(crate) struct Subject<'js, 'a> {
    pub(crate) world: &'a World<'js>,
    pub(crate) environment: &'a Environment,
    /// `None` for a group.
    pub(crate) schema: Option<&'a TypeSchema>,
    /// The type of a node; `None` for a group.
    pub(crate) type_of: &'a dyn Fn(NodeId) -> Option<TypeToken>,
}

/// Longer lists than this have holes, which are reported.
const MAX_ITEMS: usize = 1 << 20;

/// What can be said of anything.
const FOR_ALL: &[&str] = &[
    "id",
    "gid",
    "dependsOn",
    "preventDelete",
    "deletionPolicy",
    "pinned",
    "annotations",
    "protect",
    "retainOnDelete",
];

/// What is said of something real: a group is nothing that a provider could touch.
const NOT_FOR_GROUPS: &[&str] = &[
    "deleteBeforeReplace",
    "aliases",
    "ignoreChanges",
    "replaceOnChanges",
    "deletedWith",
    "replaceWith",
    "provider",
    "import",
    "timeouts",
];

pub(crate) fn read<'js>(subject: &Subject<'js, '_>, options: &Value<'js>) -> rquickjs::Result<Given> {
    let mut given = Given::default();
    if options.is_undefined() {
        return Ok(given);
    }
    let Some(object) = options.as_object().filter(|object| subject.world.is_plain(options, object)) else {
        given.problem("options", "the options of a resource are a plain object", None);
        return Ok(given);
    };
    for property in object.own_props::<String, Value<'js>>(Filter::new().string().enum_only()) {
        let (key, value) = property?;
        if !value.is_undefined() {
            given.option(subject, &key, &value)?;
        }
    }
    if given.id.is_some() && given.gid.is_some() {
        let help = "a `gid` is the whole name; leave `id` out".to_owned();
        given.problem("gid", "a resource has an `id` or a `gid`, not both", Some(help));
    }
    Ok(given)
}

/// The first argument of a group.
pub(crate) fn read_group_id(given: &mut Given, id: &Value<'_>) {
    if id.is_undefined() {
        return;
    }
    if given.id.is_some() {
        given.problem("id", "the id of a group is given twice", None);
    }
    given.id = given.id_text("id", id);
}

impl Given {
    fn option<'js>(
        &mut self,
        subject: &Subject<'js, '_>,
        key: &str,
        value: &Value<'js>,
    ) -> rquickjs::Result<()> {
        if subject.schema.is_none() && NOT_FOR_GROUPS.contains(&key) {
            let help = "give it to the resources in the group".to_owned();
            self.problem(key, &format!("`{key}` says nothing about a group"), Some(help));
            return Ok(());
        }
        match key {
            "id" => self.id = self.id_text(key, value),
            "gid" => self.gid = self.id_text(key, value),
            "preventDelete" => self.options.prevent_delete = self.flag(key, value),
            "deleteBeforeReplace" => self.options.delete_before_replace = self.flag(key, value),
            "pinned" => self.options.pinned = self.flag(key, value),
            "deletionPolicy" => self.options.deletion_policy = self.policy(key, value),
            "protect" => self.options.protect = self.flag(key, value),
            "retainOnDelete" => self.options.retain_on_delete = self.flag(key, value),
            "annotations" => self.options.annotations = self.annotations(subject, key, value)?,
            "import" => self.options.import = self.text(key, value).map(PhysicalId),
            "aliases" => {
                let names = self.texts(key, value)?;
                self.options.aliases =
                    self.each(key, names, |text| values::alias(text, subject.environment), ALIAS_HELP);
            }
            "ignoreChanges" => self.options.ignore_changes = self.patterns(subject, key, value)?,
            "replaceOnChanges" => self.options.replace_on_changes = self.patterns(subject, key, value)?,
            "dependsOn" => self.options.depends_on = self.nodes(subject, key, value)?,
            "replaceWith" => {
                let nodes = self.nodes(subject, key, value)?;
                self.options.replace_with = self.provisioned(subject, key, nodes);
            }
            "deletedWith" => self.options.deleted_with = self.one(subject, key, value)?,
            "provider" => self.options.provider = self.provider(subject, key, value)?,
            "timeouts" => self.options.timeouts = self.timeouts(subject, key, value)?,
            unknown => {
                let help = or_nearest(unknown, &[FOR_ALL, NOT_FOR_GROUPS].concat());
                self.problem(unknown, &format!("there is no resource option `{unknown}`"), Some(help));
            }
        }
        Ok(())
    }

    fn id_text(&mut self, key: &str, value: &Value<'_>) -> Option<String> {
        let text = value.as_string().and_then(|text| text.to_string().ok());
        let Some(text) = text else {
            self.problem(key, &format!("`{key}` must be a string that the program knows"), None);
            return None;
        };
        if let Err(error) = check_id(&text) {
            self.problem(key, &format!("`{key}`: {error}"), None);
            return None;
        }
        Some(text)
    }

    fn text(&mut self, key: &str, value: &Value<'_>) -> Option<String> {
        let text = value.as_string().and_then(|text| text.to_string().ok()).filter(|text| !text.is_empty());
        if text.is_none() {
            self.problem(
                key,
                &format!("`{key}` must be a string that the program knows, and not empty"),
                None,
            );
        }
        text
    }

    fn flag(&mut self, key: &str, value: &Value<'_>) -> Option<bool> {
        if value.as_bool().is_none() {
            self.problem(key, &format!("`{key}` must be true or false"), None);
        }
        value.as_bool()
    }

    fn policy(&mut self, key: &str, value: &Value<'_>) -> Option<DeletionPolicy> {
        const POLICIES: &[&str] = &["delete", "retain"];
        let text = value.as_string().and_then(|text| text.to_string().ok());
        match text.map(|text| text.trim().to_ascii_lowercase()).as_deref() {
            Some("delete") => Some(DeletionPolicy::Delete),
            Some("retain") => Some(DeletionPolicy::Retain),
            Some(reserved @ ("snapshot" | "retain-except-on-create")) => {
                let help = Some(or_nearest("", POLICIES));
                self.problem(key, &format!("the deletion policy `{reserved}` is not supported yet"), help);
                None
            }
            Some(other) => {
                self.problem(
                    key,
                    &format!("there is no deletion policy `{other}`"),
                    Some(or_nearest(other, POLICIES)),
                );
                None
            }
            None => {
                self.problem(key, &format!("`{key}` must be \"delete\" or \"retain\""), None);
                None
            }
        }
    }

    /// Marks by their keys. What they say is for the guard to read.
    fn annotations<'js>(
        &mut self,
        subject: &Subject<'js, '_>,
        key: &str,
        value: &Value<'js>,
    ) -> rquickjs::Result<Map> {
        let mut annotations = Map::new();
        let object = value.as_object().filter(|object| subject.world.is_plain(value, object));
        let Some(object) = object else {
            self.problem(key, &format!("`{key}` must be an object"), Some(ANNOTATION_HELP.to_owned()));
            return Ok(annotations);
        };
        for property in object.own_props::<String, Value<'js>>(Filter::new().string().enum_only()) {
            let (name, value) = property?;
            if value.is_undefined() {
                continue;
            }
            let text = || value.as_string().and_then(|text| text.to_string().ok());
            match value.as_bool().map(stead_model::Value::from).or_else(|| text().map(Into::into)) {
                Some(value) => drop(annotations.insert(name, value)),
                None => {
                    let message = format!("`{key}`: `{name}` must be text, true or false");
                    self.problem(key, &message, Some(ANNOTATION_HELP.to_owned()));
                }
            }
        }
        Ok(annotations)
    }

    /// One value, or a list of them.
    fn items<'js>(&mut self, value: &Value<'js>) -> rquickjs::Result<Vec<Value<'js>>> {
        let Some(array) = value.as_array() else { return Ok(vec![value.clone()]) };
        (0..length_of(array)?.min(MAX_ITEMS)).map(|index| array.get(index)).collect()
    }

    fn texts(&mut self, key: &str, value: &Value<'_>) -> rquickjs::Result<Vec<String>> {
        let mut texts = Vec::new();
        for item in self.items(value)? {
            match item.as_string().and_then(|text| text.to_string().ok()) {
                Some(text) => texts.push(text),
                None => {
                    let message =
                        format!("`{key}` takes a string that the program knows, or a list of strings");
                    self.problem(key, &message, None);
                    break;
                }
            }
        }
        Ok(texts)
    }

    fn each<T, E: Display>(
        &mut self,
        key: &str,
        texts: Vec<String>,
        read: impl Fn(&str) -> Result<T, E>,
        help: &str,
    ) -> Vec<T> {
        let mut all = Vec::new();
        for text in texts {
            match read(&text) {
                Ok(value) => all.push(value),
                Err(error) => self.problem(key, &format!("`{key}`: {error}"), Some(help.to_owned())),
            }
        }
        all
    }

    fn patterns(
        &mut self,
        subject: &Subject<'_, '_>,
        key: &str,
        value: &Value<'_>,
    ) -> rquickjs::Result<Vec<PathPattern>> {
        let texts = self.texts(key, value)?;
        for text in &texts {
            let root = text.split(['.', '[']).next().unwrap_or_default();
            let properties = subject.schema.into_iter().flat_map(|schema| &schema.properties);
            let names: Vec<&str> = properties.map(|property| property.name.as_str()).collect();
            if !root.is_empty() && root != "*" && !names.contains(&root) {
                self.problem(
                    key,
                    &format!("`{key}`: there is no property `{root}`"),
                    Some(or_nearest(root, &names)),
                );
            }
        }
        Ok(self.each(key, texts, str::parse, PATTERN_HELP))
    }

    /// Resources and groups.
    fn nodes<'js>(
        &mut self,
        subject: &Subject<'js, '_>,
        key: &str,
        value: &Value<'js>,
    ) -> rquickjs::Result<Vec<NodeId>> {
        let mut nodes = Vec::new();
        for item in self.items(value)? {
            let node: Value<'js> = subject.world.node_of.call((item,))?;
            match node.as_int() {
                Some(node) => nodes.push(NodeId(node as u32)),
                None => {
                    let help = (key == "dependsOn")
                        .then(|| "a property that comes from a resource orders the two by itself".to_owned());
                    let what = match key {
                        "deletedWith" | "provider" => "a resource",
                        _ => "a resource, or a list of resources",
                    };
                    self.problem(key, &format!("`{key}` takes {what}"), help);
                }
            }
        }
        nodes.sort();
        nodes.dedup();
        Ok(nodes)
    }

    /// Those that are no groups.
    fn provisioned(&mut self, subject: &Subject<'_, '_>, key: &str, nodes: Vec<NodeId>) -> Vec<NodeId> {
        let (resources, groups): (Vec<_>, Vec<_>) =
            nodes.into_iter().partition(|node| (subject.type_of)(*node).is_some());
        if !groups.is_empty() {
            let help = match key {
                "provider" => PROVIDER_HELP,
                _ => "a group is never deleted or replaced itself: name the resources in it",
            };
            let help = help.to_owned();
            self.problem(key, &format!("`{key}` takes resources, and this is a group"), Some(help));
        }
        resources
    }

    fn one<'js>(
        &mut self,
        subject: &Subject<'js, '_>,
        key: &str,
        value: &Value<'js>,
    ) -> rquickjs::Result<Option<NodeId>> {
        if value.is_array() {
            self.problem(key, &format!("`{key}` takes one resource, not a list"), None);
            return Ok(None);
        }
        let nodes = self.nodes(subject, key, value)?;
        Ok(self.provisioned(subject, key, nodes).into_iter().next())
    }

    fn provider<'js>(
        &mut self,
        subject: &Subject<'js, '_>,
        key: &str,
        value: &Value<'js>,
    ) -> rquickjs::Result<Option<NodeId>> {
        let Some(node) = self.one(subject, key, value)? else { return Ok(None) };
        let token = (subject.type_of)(node).map(|token| token.0).unwrap_or_default();
        if token.ends_with(".Provider") {
            return Ok(Some(node));
        }
        let message = format!("`{key}` takes a resource of a type `….Provider`, and this is a {token}");
        self.problem(key, &message, Some(PROVIDER_HELP.to_owned()));
        Ok(None)
    }

    fn timeouts<'js>(
        &mut self,
        subject: &Subject<'js, '_>,
        key: &str,
        value: &Value<'js>,
    ) -> rquickjs::Result<Timeouts> {
        let mut timeouts = Timeouts::default();
        let object: Option<&Object<'js>> =
            value.as_object().filter(|object| subject.world.is_plain(value, object));
        let Some(object) = object else {
            self.problem(key, &format!("`{key}` must be an object"), Some(TIMEOUT_HELP.to_owned()));
            return Ok(timeouts);
        };
        for property in object.own_props::<String, Value<'js>>(Filter::new().string().enum_only()) {
            let (step, value) = property?;
            let place = match step.as_str() {
                "create" => &mut timeouts.create,
                "update" => &mut timeouts.update,
                "delete" => &mut timeouts.delete,
                "read" => &mut timeouts.read,
                _ => {
                    let help = or_nearest(&step, &["create", "update", "delete", "read"]);
                    self.problem(key, &format!("`{key}`: there is no step `{step}`"), Some(help));
                    continue;
                }
            };
            *place = length_of_time(&value);
            if place.is_none() && !value.is_undefined() {
                let message = format!("`{key}.{step}` must be a number of seconds, or text with a unit");
                self.problem(key, &message, Some(TIMEOUT_HELP.to_owned()));
            }
        }
        Ok(timeouts)
    }

    fn problem(&mut self, option: &str, message: &str, help: Option<String>) {
        self.problems.push(BadOption { option: option.to_owned(), message: message.to_owned(), help });
    }
}

const ALIAS_HELP: &str =
    "write the name as `stead state ls` shows it, with or without the environment: `main:local.File#old`";
const PATTERN_HELP: &str = "write a property, or a place in one: `tags`, `rules[0].port`, `rules[*].port`";
const PROVIDER_HELP: &str = "without `provider`, the target's own provider serves it";
const ANNOTATION_HELP: &str = "write `annotations: { \"s3/deletion-policy\": \"retain\" }`";
const TIMEOUT_HELP: &str = "write `timeouts: { create: 90, update: \"10m\", delete: \"1h\" }`";

fn length_of_time(value: &Value<'_>) -> Option<u64> {
    if let Some(text) = value.as_string() {
        return values::seconds(&text.to_string().ok()?);
    }
    let number = value.as_number().filter(|number| *number >= 1.0 && number.fract() == 0.0)?;
    (number <= 9_007_199_254_740_991.0).then_some(number as u64)
}

fn or_nearest(wrong: &str, known: &[&str]) -> String {
    match nearest(wrong, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are: {}", known.join(", ")),
    }
}
