//! Parser of published schemas. It skips parts that it cannot use and rejects only documents that are not schemas.

use std::collections::HashMap;

use stead_model::{Map, PathPattern, PatternPart, PropertyPath, Segment, Value};

use super::facts::facts;
use super::limits::Limits;
use super::pointer::resolve;
use super::{
    Class, Classes, DEFAULT_TIMEOUT_MINUTES, Form, FormId, Handler, Handlers, Kinds, Order, Rest, Schema,
    Tagging,
};
use crate::ReplaceOrder;

/// Reason why a document is not the schema of a resource type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError(pub String);

impl std::fmt::Display for SchemaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SchemaError {}

/// Depth at which the parser stops. No published type comes near.
const MAX_DEPTH: usize = 64;

/// Parses a published schema: exactly the part that the bundle would keep of it.
pub fn parse(document: &Value) -> Result<Schema, SchemaError> {
    parse_facts(&facts(document))
}

/// Parses a schema that `facts` has reduced.
pub(super) fn parse_facts(document: &Value) -> Result<Schema, SchemaError> {
    let top = document.as_map().ok_or_else(|| SchemaError("a schema is a JSON object".to_owned()))?;
    let type_name = top.get("typeName").and_then(Value::as_str).ok_or_else(|| {
        SchemaError("`typeName` is missing, so this is not the schema of a resource type".to_owned())
    })?;
    if top.get("properties").and_then(Value::as_map).is_none() {
        return Err(SchemaError(format!("{type_name} has no `properties`")));
    }
    let mut reader = Reader { document: top, forms: Vec::new(), references: HashMap::new() };
    reader.form(document, 0);
    let mut schema = Schema {
        type_name: type_name.to_owned(),
        forms: reader.forms,
        classes: Classes::default(),
        primary_identifier: Vec::new(),
        additional_identifiers: Vec::new(),
        handlers: handlers(top),
        tagging: Tagging { taggable: true, on_create: true, updatable: true, property: None },
        replacement: replacement(top),
        transforms: Vec::new(),
        dangling: Vec::new(),
    };
    pointers(&mut schema, top);
    Ok(schema)
}

struct Reader<'a> {
    document: &'a Map,
    forms: Vec<Form>,
    /// Forms by `$ref`. A form is registered before its parts are parsed, so that recursive references resolve.
    references: HashMap<String, FormId>,
}

impl Reader<'_> {
    fn form(&mut self, node: &Value, depth: usize) -> FormId {
        let map = node.as_map();
        let reference = map.and_then(|map| map.get("$ref")).and_then(Value::as_str);
        let shaped = map.is_some_and(|map| map.iter().any(|(key, value)| shapes(key, value)));
        match reference {
            Some(reference) if !shaped => self.reference(reference, depth),
            _ => {
                let id = self.reserve();
                self.fill(id, node, depth);
                id
            }
        }
    }

    fn reference(&mut self, reference: &str, depth: usize) -> FormId {
        if let Some(known) = self.references.get(reference) {
            return *known;
        }
        let id = self.reserve();
        self.references.insert(reference.to_owned(), id);
        if let Some(target) = follow(self.document, reference) {
            self.fill(id, &target, depth + 1);
        } else {
            self.forms[id.0 as usize].rest = Rest::Open;
        }
        self.forms[id.0 as usize].name = reference.strip_prefix("#/definitions/").map(str::to_owned);
        id
    }

    fn reserve(&mut self) -> FormId {
        self.forms.push(Form::default());
        FormId(self.forms.len() as u32 - 1)
    }

    fn fill(&mut self, id: FormId, node: &Value, depth: usize) {
        let Some(map) = node.as_map().filter(|_| depth < MAX_DEPTH) else {
            self.forms[id.0 as usize].rest = Rest::Open;
            return;
        };
        let mut form = Form { kinds: kinds(map.get("type")), ..Form::default() };
        if let Some(properties) = map.get("properties").and_then(Value::as_map) {
            form.properties =
                properties.iter().map(|(key, node)| (key.to_string(), self.form(node, depth + 1))).collect();
        }
        form.rest = self.rest(map, &form, depth);
        form.required = strings(map.get("required")).map(str::to_owned).collect();
        form.items = map.get("items").map(|items| self.form(items, depth + 1));
        form.order = match map.get("insertionOrder").and_then(Value::as_bool) {
            Some(false) => Order::Any,
            _ => Order::AsGiven,
        };
        form.unique = map.get("uniqueItems").and_then(Value::as_bool).unwrap_or(false);
        form.limits = Limits::of(map);
        form.min_items =
            form.limits.items.least.and_then(|least| u32::try_from(least).ok()).unwrap_or_default();
        form.attributes = map.get("arrayType").and_then(Value::as_str) == Some("AttributeList");
        form.choices = map.get("enum").and_then(Value::as_list).map(<[Value]>::to_vec).unwrap_or_default();
        form.choices.extend(map.get("const").cloned());
        form.default = map.get("default").cloned();
        form.one_of = self.all(map.get("oneOf"), depth);
        form.any_of = self.all(map.get("anyOf"), depth);
        form.all_of = self.all(map.get("allOf"), depth);
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            let target = self.reference(reference, depth);
            if target != id && !form.all_of.contains(&target) {
                form.all_of.push(target);
            }
        }
        self.forms[id.0 as usize] = form;
    }

    /// Returns the additional members of an object. Of several patterns for the keys of a map, the first counts.
    fn rest(&mut self, map: &Map, form: &Form, depth: usize) -> Rest {
        if let Some(patterns) = map.get("patternProperties").and_then(Value::as_map)
            && let Some(inner) = patterns.values().next()
        {
            return Rest::Of(self.form(inner, depth + 1));
        }
        match map.get("additionalProperties") {
            Some(Value::Bool(true)) => Rest::Open,
            Some(inner @ Value::Map(_)) => Rest::Of(self.form(inner, depth + 1)),
            // An object without any constraint accepts all members.
            None if form.properties.is_empty() && form.items.is_none() => Rest::Open,
            _ => Rest::Closed,
        }
    }

    fn all(&mut self, nodes: Option<&Value>, depth: usize) -> Vec<FormId> {
        let nodes = nodes.and_then(Value::as_list).unwrap_or_default();
        nodes.iter().map(|node| self.form(node, depth + 1)).collect()
    }
}

/// Returns true if a key beside a `$ref` constrains the value.
fn shapes(key: &str, value: &Value) -> bool {
    match key {
        "properties" | "items" | "oneOf" | "anyOf" | "allOf" | "enum" | "default" | "required"
        | "pattern" | "dependencies" | "dependentRequired" => true,
        "minLength" | "minItems" | "minProperties" => value.as_i64() > Some(0),
        "maxLength" | "maxItems" | "maxProperties" | "minimum" | "maximum" => true,
        "insertionOrder" => *value == Value::Bool(false),
        "uniqueItems" => *value == Value::Bool(true),
        _ => false,
    }
}

fn follow(document: &Map, reference: &str) -> Option<Value> {
    let mut steps = reference.strip_prefix("#/")?.split('/');
    let mut at = document.get(steps.next()?)?;
    for step in steps {
        let step = step.replace("~1", "/").replace("~0", "~");
        at = at.as_map()?.get(&step)?;
    }
    Some(at.clone())
}

fn kinds(node: Option<&Value>) -> Kinds {
    match node {
        Some(Value::String(name)) => Kinds::of(name),
        Some(Value::List(names)) => {
            names.iter().filter_map(Value::as_str).map(Kinds::of).fold(Kinds::default(), Kinds::and)
        }
        _ => Kinds::default(),
    }
}

fn strings(node: Option<&Value>) -> impl Iterator<Item = &str> {
    node.and_then(Value::as_list).unwrap_or_default().iter().filter_map(Value::as_str)
}

fn handlers(top: &Map) -> Handlers {
    let all = top.get("handlers").and_then(Value::as_map);
    let handler = |name: &str| {
        let minutes = all?.get(name)?.as_map()?.get("timeoutInMinutes").and_then(Value::as_i64);
        let minutes = minutes.and_then(|minutes| u32::try_from(minutes).ok());
        Some(Handler { timeout_minutes: minutes.unwrap_or(DEFAULT_TIMEOUT_MINUTES) })
    };
    Handlers {
        create: handler("create"),
        read: handler("read"),
        update: handler("update"),
        delete: handler("delete"),
        list: handler("list"),
    }
}

fn replacement(top: &Map) -> Option<ReplaceOrder> {
    match top.get("replacementStrategy").and_then(Value::as_str)? {
        "delete_then_create" => Some(ReplaceOrder::DeleteFirst),
        "create_then_delete" => Some(ReplaceOrder::CreateFirst),
        _ => None,
    }
}

/// Resolves all pointers to properties, after the forms are parsed.
fn pointers(schema: &mut Schema, top: &Map) {
    let mut dangling = Vec::new();
    let mut pattern = |schema: &Schema, pointer: &str| {
        let resolved = resolve(schema, pointer);
        if !resolved.leads_somewhere {
            dangling.push(pointer.to_owned());
        }
        resolved.pattern
    };
    let mut classes = Classes::default();
    for class in Class::ALL {
        classes.set(class, strings(top.get(class.key())).map(|text| pattern(schema, text)).collect());
    }
    let primary =
        strings(top.get("primaryIdentifier")).filter_map(|text| path(&pattern(schema, text))).collect();
    let groups = top.get("additionalIdentifiers").and_then(Value::as_list).unwrap_or_default();
    let additional = groups
        .iter()
        .map(|group| strings(Some(group)).filter_map(|text| path(&pattern(schema, text))).collect())
        .collect();
    let transforms = top.get("propertyTransform").and_then(Value::as_map).into_iter().flatten();
    let transforms = transforms
        .filter_map(|(pointer, expression)| Some((pattern(schema, pointer), expression.as_str()?.to_owned())))
        .collect();
    let tagging = tagging(top, |pointer| path(&pattern(schema, pointer)));
    schema.classes = classes;
    schema.primary_identifier = primary;
    schema.additional_identifiers = additional;
    schema.transforms = transforms;
    schema.tagging = tagging;
    schema.dangling = dangling;
}

/// Returns the tagging rules. The tag property is the one that the schema names, else `Tags` if it exists.
fn tagging(top: &Map, mut path: impl FnMut(&str) -> Option<PropertyPath>) -> Tagging {
    let said = top.get("tagging").and_then(Value::as_map);
    let flag = |key: &str| said.and_then(|map| map.get(key)).and_then(Value::as_bool);
    let has_tags = top.get("properties").and_then(Value::as_map).is_some_and(|map| map.contains_key("Tags"));
    let taggable =
        flag("taggable").or_else(|| top.get("taggable").and_then(Value::as_bool)).unwrap_or(has_tags);
    let pointer = said.and_then(|map| map.get("tagProperty")).and_then(Value::as_str);
    let pointer = pointer.or(has_tags.then_some("/properties/Tags"));
    Tagging {
        taggable,
        on_create: flag("tagOnCreate").unwrap_or(taggable),
        updatable: flag("tagUpdatable").unwrap_or(taggable),
        property: pointer.filter(|_| taggable).and_then(&mut path),
    }
}

/// Converts a pattern without `*` to a path.
fn path(pattern: &PathPattern) -> Option<PropertyPath> {
    let segment = |part: &PatternPart| match part {
        PatternPart::Any => None,
        PatternPart::Key(key) => Some(Segment::Key(key.clone())),
        PatternPart::Index(index) => Some(Segment::Index(*index)),
    };
    pattern.parts().iter().map(segment).collect::<Option<Vec<_>>>().map(PropertyPath)
}
