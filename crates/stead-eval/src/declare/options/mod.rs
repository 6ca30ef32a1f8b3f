//! Parses resource options: the second argument of a resource.

pub(crate) mod values;

use std::fmt::Display;

use rquickjs::object::Filter;
use rquickjs::{Object, Value};
use stead_model::{
    DeletionPolicy, Environment, Hint, Key, Map, NextStep, NodeId, Options, PathPattern, PatternPart,
    PhysicalId, Timeouts, TypeToken, ValueKind, check_id, nearest,
};
use stead_schema::{Member, TypeSchema};

use crate::engine::values::{Intrinsics, length_of};

/// Options of one resource, with the errors found in them.
#[derive(Debug, Default)]
pub(crate) struct ParsedOptions {
    pub(crate) id: Option<String>,
    pub(crate) gid: Option<String>,
    pub(crate) options: Options,
    pub(crate) problems: Vec<OptionError>,
}

/// Error of one option.
#[derive(Debug, PartialEq)]
pub(crate) struct OptionError {
    pub(crate) option: String,
    pub(crate) message: String,
    pub(crate) help: Option<Hint>,
}

/// Resource that the options belong to, and its surroundings.
pub(crate) struct OptionContext<'js, 'a> {
    pub(crate) intrinsics: &'a Intrinsics<'js>,
    pub(crate) environment: &'a Environment,
    /// `None` for a group.
    pub(crate) schema: Option<&'a TypeSchema>,
    /// Returns the type of a node; `None` for a group.
    pub(crate) type_of: &'a dyn Fn(NodeId) -> Option<TypeToken>,
}

/// Maximum length of a list. A longer list is sparse, and its holes are reported.
const MAX_ITEMS: usize = 1 << 20;

/// Options of resources and groups.
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

/// Options of provisioned resources only: no provider manages a group.
const NOT_FOR_GROUPS: &[&str] = &[
    "deleteBeforeReplace",
    "aliases",
    "ignoreChanges",
    "replaceOnChanges",
    "sensitive",
    "deletedWith",
    "replaceWith",
    "provider",
    "import",
    "timeouts",
];

/// Returns true for the name of an option of resources.
pub(super) fn is_option(name: &str) -> bool {
    FOR_ALL.contains(&name) || NOT_FOR_GROUPS.contains(&name)
}

/// Parses the options of a resource. Errors are collected in the result.
pub(crate) fn read<'js>(
    context: &OptionContext<'js, '_>,
    options: &Value<'js>,
) -> rquickjs::Result<ParsedOptions> {
    let mut parsed = ParsedOptions::default();
    if options.is_undefined() {
        return Ok(parsed);
    }
    let Some(object) = options.as_object().filter(|object| context.intrinsics.is_plain(options, object))
    else {
        let id = options.as_string().and_then(|text| text.to_string().ok());
        let help = id.map(|id| format!("write `{{ id: {id:?} }}`").into());
        parsed.problem("options", "the options of a resource must be a plain object", help);
        return Ok(parsed);
    };
    for property in object.own_props::<String, Value<'js>>(Filter::new().string().enum_only()) {
        let (key, value) = property?;
        if !value.is_undefined() {
            parsed.option(context, &key, &value)?;
        }
    }
    if parsed.id.is_some() && parsed.gid.is_some() {
        let help = "a `gid` is the whole name; remove `id`".into();
        parsed.problem("gid", "a resource has an `id` or a `gid`, not both", Some(help));
    }
    Ok(parsed)
}

/// Parses the first argument of a group.
pub(crate) fn read_group_id(parsed: &mut ParsedOptions, id: &Value<'_>) {
    if id.is_undefined() {
        return;
    }
    if parsed.id.is_some() {
        parsed.problem("id", "the id of a group is set twice", None);
    }
    parsed.id = parsed.id_text("id", id);
}

impl ParsedOptions {
    fn option<'js>(
        &mut self,
        context: &OptionContext<'js, '_>,
        key: &str,
        value: &Value<'js>,
    ) -> rquickjs::Result<()> {
        if context.schema.is_none() && NOT_FOR_GROUPS.contains(&key) {
            let help = "set it on the resources in the group".into();
            self.problem(key, &format!("`{key}` does not apply to a group"), Some(help));
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
            "annotations" => self.options.annotations = self.annotations(context, key, value)?,
            "import" => self.options.import = self.text(key, value).map(PhysicalId),
            "aliases" => {
                let names = self.texts(key, value)?;
                self.options.aliases =
                    self.each(key, names, |text| values::alias(text, context.environment), &alias_help());
            }
            "ignoreChanges" => self.options.ignore_changes = self.patterns(context, key, value)?,
            "replaceOnChanges" => self.options.replace_on_changes = self.patterns(context, key, value)?,
            "sensitive" => self.options.sensitive = self.sensitive(context, key, value)?,
            "dependsOn" => self.options.depends_on = self.nodes(context, key, value)?,
            "replaceWith" => {
                let nodes = self.nodes(context, key, value)?;
                self.options.replace_with = self.provisioned(context, key, nodes);
            }
            "deletedWith" => self.options.deleted_with = self.one(context, key, value)?,
            "provider" => self.options.provider = self.provider(context, key, value)?,
            "timeouts" => self.options.timeouts = self.timeouts(context, key, value)?,
            unknown => {
                let help = match context.schema.and_then(|schema| schema.property(unknown)) {
                    Some(_) => format!("`{unknown}` is a property: write it in the first argument").into(),
                    None => or_nearest(unknown, &[FOR_ALL, NOT_FOR_GROUPS].concat()),
                };
                self.problem(unknown, &format!("there is no resource option `{unknown}`"), Some(help));
            }
        }
        Ok(())
    }

    fn id_text(&mut self, key: &str, value: &Value<'_>) -> Option<String> {
        let text = value.as_string().and_then(|text| text.to_string().ok());
        let Some(text) = text else {
            self.problem(key, &format!("`{key}` must be a string, known while planning"), None);
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
                &format!("`{key}` must be a string that is not empty and is known while planning"),
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

    /// Parses marks by key. The guard crate interprets their values.
    fn annotations<'js>(
        &mut self,
        context: &OptionContext<'js, '_>,
        key: &str,
        value: &Value<'js>,
    ) -> rquickjs::Result<Map> {
        let mut annotations = Map::new();
        let object = value.as_object().filter(|object| context.intrinsics.is_plain(value, object));
        let Some(object) = object else {
            self.problem(key, &format!("`{key}` must be an object"), Some(ANNOTATION_HELP.into()));
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
                    let message = format!("`{key}`: `{name}` must be a string, true or false");
                    self.problem(key, &message, Some(ANNOTATION_HELP.into()));
                }
            }
        }
        Ok(annotations)
    }

    /// Returns the items of a list, or the value itself if it is not a list.
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
                        format!("`{key}` must be a string or a list of strings, known while planning");
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
        help: &Hint,
    ) -> Vec<T> {
        let mut all = Vec::new();
        for text in texts {
            match read(&text) {
                Ok(value) => all.push(value),
                Err(error) => self.problem(key, &format!("`{key}`: {error}"), Some(help.clone())),
            }
        }
        all
    }

    fn patterns(
        &mut self,
        context: &OptionContext<'_, '_>,
        key: &str,
        value: &Value<'_>,
    ) -> rquickjs::Result<Vec<PathPattern>> {
        let texts = self.texts(key, value)?;
        for text in &texts {
            let root = text.split(['.', '[']).next().unwrap_or_default();
            let properties = context.schema.into_iter().flat_map(|schema| &schema.properties);
            let names: Vec<&str> = properties.map(|property| property.name.as_str()).collect();
            if !root.is_empty() && root != "*" && !names.contains(&root) {
                self.problem(
                    key,
                    &format!("`{key}`: there is no property `{root}`"),
                    Some(or_nearest(root, &names)),
                );
            }
        }
        Ok(self.each(key, texts, str::parse, &PATTERN_HELP.into()))
    }

    /// Parses patterns of secret values. Each must match a value that a resource of the type can have.
    fn sensitive(
        &mut self,
        context: &OptionContext<'_, '_>,
        key: &str,
        value: &Value<'_>,
    ) -> rquickjs::Result<Vec<PathPattern>> {
        let patterns = self.patterns(context, key, value)?;
        for pattern in &patterns {
            if let Some((name, names)) = context.schema.and_then(|schema| never_matches(schema, pattern)) {
                let known: Vec<&str> = names.iter().map(String::as_str).collect();
                let help = (!known.is_empty()).then(|| or_nearest(&name, &known));
                self.problem(
                    key,
                    &format!("`{key}`: `{pattern}` matches nothing: there is no `{name}`"),
                    help,
                );
            }
        }
        Ok(patterns)
    }

    /// Parses a reference to resources or groups.
    fn nodes<'js>(
        &mut self,
        context: &OptionContext<'js, '_>,
        key: &str,
        value: &Value<'js>,
    ) -> rquickjs::Result<Vec<NodeId>> {
        let mut nodes = Vec::new();
        for item in self.items(value)? {
            let node: Value<'js> = context.intrinsics.node_of.call((item,))?;
            match node.as_int() {
                Some(node) => nodes.push(NodeId(node as u32)),
                None => {
                    let help = (key == "dependsOn").then(|| {
                        "a property that uses a value of another resource already creates the dependency"
                            .into()
                    });
                    let what = match key {
                        "deletedWith" | "provider" => "a resource",
                        _ => "a resource or a list of resources",
                    };
                    self.problem(key, &format!("`{key}` must be {what}"), help);
                }
            }
        }
        nodes.sort();
        nodes.dedup();
        Ok(nodes)
    }

    /// Returns the nodes that are not groups, and reports the groups.
    fn provisioned(&mut self, context: &OptionContext<'_, '_>, key: &str, nodes: Vec<NodeId>) -> Vec<NodeId> {
        let (resources, groups): (Vec<_>, Vec<_>) =
            nodes.into_iter().partition(|node| (context.type_of)(*node).is_some());
        if !groups.is_empty() {
            let help = match key {
                "provider" => PROVIDER_HELP,
                _ => "a group itself is never deleted or replaced: name the resources in it",
            };
            self.problem(key, &format!("`{key}` must be a resource, not a group"), Some(help.into()));
        }
        resources
    }

    fn one<'js>(
        &mut self,
        context: &OptionContext<'js, '_>,
        key: &str,
        value: &Value<'js>,
    ) -> rquickjs::Result<Option<NodeId>> {
        if value.is_array() {
            self.problem(key, &format!("`{key}` must be one resource, not a list"), None);
            return Ok(None);
        }
        let nodes = self.nodes(context, key, value)?;
        Ok(self.provisioned(context, key, nodes).into_iter().next())
    }

    fn provider<'js>(
        &mut self,
        context: &OptionContext<'js, '_>,
        key: &str,
        value: &Value<'js>,
    ) -> rquickjs::Result<Option<NodeId>> {
        let Some(node) = self.one(context, key, value)? else { return Ok(None) };
        let token = (context.type_of)(node).map(|token| token.0).unwrap_or_default();
        if token.ends_with(".Provider") {
            return Ok(Some(node));
        }
        let message = format!("`{key}` must be a resource of a type `….Provider`, not {token}");
        self.problem(key, &message, Some(PROVIDER_HELP.into()));
        Ok(None)
    }

    fn timeouts<'js>(
        &mut self,
        context: &OptionContext<'js, '_>,
        key: &str,
        value: &Value<'js>,
    ) -> rquickjs::Result<Timeouts> {
        let mut timeouts = Timeouts::default();
        let object: Option<&Object<'js>> =
            value.as_object().filter(|object| context.intrinsics.is_plain(value, object));
        let Some(object) = object else {
            self.problem(key, &format!("`{key}` must be an object"), Some(TIMEOUT_HELP.into()));
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
                    self.problem(key, &format!("`{key}`: there is no operation `{step}`"), Some(help));
                    continue;
                }
            };
            *place = duration(&value);
            if place.is_none() && !value.is_undefined() {
                let message = format!("`{key}.{step}` must be a number of seconds, or a string with units");
                self.problem(key, &message, Some(TIMEOUT_HELP.into()));
            }
        }
        Ok(timeouts)
    }

    fn problem(&mut self, option: &str, message: &str, help: Option<Hint>) {
        self.problems.push(OptionError { option: option.to_owned(), message: message.to_owned(), help });
    }
}

/// Returns the first segment of a pattern that no value of the type has, and the names that it could have.
fn never_matches(schema: &TypeSchema, pattern: &PathPattern) -> Option<(String, Vec<String>)> {
    let (PatternPart::Key(root), inside) = pattern.parts().split_first()? else { return None };
    let mut shape = schema.property(root)?.shape.clone();
    for part in inside {
        let (name, key) = match part {
            PatternPart::Any if shape.kind() == Some(ValueKind::List) => {
                shape = shape.element();
                continue;
            }
            PatternPart::Any => return None,
            PatternPart::Key(name) => (name.clone(), Key::Name(name.clone())),
            PatternPart::Index(index) => (index.to_string(), Key::Index(*index)),
        };
        let kind = shape.kind();
        shape = match shape.member(&key) {
            Member::Is(_) if kind == Some(ValueKind::String) => return Some((name, Vec::new())),
            Member::Never(names) if kind == Some(ValueKind::Map) => return Some((name, names)),
            Member::Never(_) => return Some((name, Vec::new())),
            Member::Is(shape) => shape,
        };
    }
    None
}

const PATTERN_HELP: &str = "write a property or a path inside one: `tags`, `rules[0].port`, `rules[*].port`";
const PROVIDER_HELP: &str = "without `provider`, the target's default provider manages the resource";
const ANNOTATION_HELP: &str = "write `annotations: { \"s3/deletion-policy\": \"retain\" }`";
const TIMEOUT_HELP: &str = "write `timeouts: { create: 90, update: \"10m\", delete: \"1h\" }`";

fn alias_help() -> Hint {
    let help = "write the recorded name, with or without the environment, such as `main:local.File#old`; to see the names: ";
    Hint::text(help).then(NextStep::ListState)
}

fn duration(value: &Value<'_>) -> Option<u64> {
    if let Some(text) = value.as_string() {
        return values::seconds(&text.to_string().ok()?);
    }
    let number = value.as_number().filter(|number| *number >= 1.0 && number.fract() == 0.0)?;
    (number <= 9_007_199_254_740_991.0).then_some(number as u64)
}

fn or_nearest(wrong: &str, known: &[&str]) -> Hint {
    match nearest(wrong, known.iter().copied()) {
        Some(meant) => Hint::text(format!("did you mean `{meant}`?")),
        None => Hint::text(format!("expected one of: {}", known.join(", "))),
    }
}
