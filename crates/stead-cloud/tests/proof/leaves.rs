//! Leaves of desired inputs, each with its path and its property classes.

use stead_cloud::Sampler;
use stead_model::{Map, PropertyPath, Segment, Value};
use stead_schema::cfn::{Class, Cursor, FormId, Schema};

pub(crate) struct Leaf {
    pub(crate) path: PropertyPath,
    pub(crate) value: Value,
    pub(crate) form: Option<FormId>,
    /// Covered by a create-only or write-only pattern.
    pub(crate) create_only: bool,
    pub(crate) write_only: bool,
    pub(crate) in_list: bool,
}

impl Leaf {
    pub(crate) fn is_free(&self) -> bool {
        !self.create_only && !self.write_only
    }

    pub(crate) fn is_top_level(&self) -> bool {
        self.path.0.len() == 1
    }

    /// Returns true for a property of an object; false for an element of a list or a member of a free-form document.
    pub(crate) fn is_member(&self) -> bool {
        self.form.is_some() && matches!(self.path.0.last(), Some(Segment::Key(_)))
    }

    /// Returns true for the key of a tag or an attribute in a list.
    pub(crate) fn is_key(&self) -> bool {
        let keys = ["Key", "TagKey", "key", "OptionName", "Namespace"];
        let last = matches!(self.path.0.last(), Some(Segment::Key(name)) if keys.contains(&name.as_str()));
        self.in_list && last
    }

    /// Returns another valid value.
    pub(crate) fn other(&self, schema: &Schema) -> Option<Value> {
        let choices = self.form.and_then(|form| {
            schema
                .find(form, &mut Vec::new(), &|form| (!form.choices.is_empty()).then(|| form.choices.clone()))
        });
        if let Some(choices) = choices {
            return choices.into_iter().find(|choice| *choice != self.value);
        }
        match (&self.value, self.form) {
            (Value::Bool(flag), _) => Some(Value::Bool(!flag)),
            (value, Some(form)) => Sampler::new(schema).other_scalar(form, value),
            (Value::String(text), None) => Some(Value::from(format!("{text}-changed"))),
            _ => None,
        }
    }
}

pub(crate) fn leaves(schema: &Schema, inputs: &Map) -> Vec<Leaf> {
    let cursors = [Class::CreateOnly, Class::WriteOnly].map(|class| schema.classes.of(class).cursor());
    let mut walk = Walk { schema, path: Vec::new(), leaves: Vec::new() };
    walk.map(inputs, Some(Schema::ROOT), &cursors);
    walk.leaves
}

struct Walk<'a> {
    schema: &'a Schema,
    path: Vec<Segment>,
    leaves: Vec<Leaf>,
}

impl Walk<'_> {
    fn map(&mut self, map: &Map, form: Option<FormId>, cursors: &[Cursor<'_>; 2]) {
        for (key, value) in map {
            let member = form.and_then(|form| self.schema.member(form, key));
            self.path.push(Segment::Key(key.to_string()));
            self.value(value, member, &cursors.each_ref().map(|cursor| cursor.key(key)));
            self.path.pop();
        }
    }

    fn value(&mut self, value: &Value, form: Option<FormId>, cursors: &[Cursor<'_>; 2]) {
        match value {
            Value::Map(map) => self.map(map, form, cursors),
            Value::List(items) => {
                let element = form.and_then(|form| self.schema.element(form));
                let cursors = cursors.each_ref().map(Cursor::element);
                for (index, item) in items.iter().enumerate() {
                    self.path.push(Segment::Index(index));
                    self.value(item, element, &cursors);
                    self.path.pop();
                }
            }
            scalar => self.leaves.push(Leaf {
                path: PropertyPath(self.path.clone()),
                value: scalar.clone(),
                form,
                create_only: cursors[0].is_covered(),
                write_only: cursors[1].is_covered(),
                in_list: self.path.iter().any(|segment| matches!(segment, Segment::Index(_))),
            }),
        }
    }
}

/// Returns the inputs with another value at an existing path.
pub(crate) fn replaced(inputs: &Map, path: &PropertyPath, value: Value) -> Map {
    let mut inputs = Value::Map(inputs.clone());
    let mut at = &mut inputs;
    for segment in &path.0 {
        at = match (at, segment) {
            (Value::Map(map), Segment::Key(key)) => map.get_mut(key).unwrap(),
            (Value::List(items), Segment::Index(index)) => &mut items[*index],
            _ => panic!("{path} is not in the inputs"),
        };
    }
    *at = value;
    match inputs {
        Value::Map(map) => map,
        _ => panic!("the inputs are not a map"),
    }
}
