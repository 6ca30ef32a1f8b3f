//! Resource types and updates as text.

use std::fmt::Write as _;

use stead_model::PropertyPath;
use stead_schema::cfn::{Class, Edit, FormId, Kinds, Reason, Schema, Update, pointer};
use stead_schema::{Access, Shape, TypeSchema};

/// Renders each property with its shape, and with the effect of a change.
pub fn schema(schema: &TypeSchema) -> String {
    let mut out = format!("{}\n", schema.token);
    match schema.properties.first().map(|property| &property.shape) {
        Some(Shape::Published(published)) => of_published(&mut out, &published.schema),
        _ => by_hand(&mut out, schema),
    }
    out
}

fn by_hand(out: &mut String, schema: &TypeSchema) {
    for property in &schema.properties {
        let mut words = vec![shape_words(&property.shape)];
        match property.access {
            Access::Required => words.push("required".to_owned()),
            Access::ReadOnly => words.push(Class::ReadOnly.word().to_owned()),
            Access::Optional | Access::Filled => {}
        }
        if property.create_only {
            words.push(Class::CreateOnly.word().to_owned());
        }
        let _ = writeln!(out, "  {}: {}", property.name, words.join(", "));
    }
}

fn shape_words(shape: &Shape) -> String {
    match shape {
        Shape::Any | Shape::Published(_) => "any value".to_owned(),
        Shape::String => "string".to_owned(),
        Shape::Choice(choices) => choices.join(" | "),
        Shape::Number => "number".to_owned(),
        Shape::Integer => "integer".to_owned(),
        Shape::Boolean => "boolean".to_owned(),
        Shape::List(inner) => format!("list of {}", shape_words(inner)),
        Shape::Map(inner) => format!("map of {}", shape_words(inner)),
    }
}

fn of_published(out: &mut String, schema: &Schema) {
    let _ = writeln!(out, "  published as {}", schema.type_name);
    let identifier: Vec<String> = schema.primary_identifier.iter().map(ToString::to_string).collect();
    let _ = writeln!(out, "  identified by {}", identifier.join(" | "));
    let handlers = &schema.handlers;
    let can = [
        ("create", handlers.create),
        ("read", handlers.read),
        ("update", handlers.update),
        ("delete", handlers.delete),
        ("list", handlers.list),
    ];
    let can: Vec<&str> = can.iter().filter(|(_, handler)| handler.is_some()).map(|(name, _)| *name).collect();
    match can.as_slice() {
        [] => out.push_str("  cannot be managed through Cloud Control\n"),
        can => drop(writeln!(out, "  can {}", can.join(", "))),
    }
    out.push('\n');
    let mut tree = Tree { schema, out, open: vec![Schema::ROOT] };
    tree.members(Schema::ROOT, &PropertyPath::default());
}

struct Tree<'a> {
    schema: &'a Schema,
    out: &'a mut String,
    /// The enclosing forms; a form inside itself is only named.
    open: Vec<FormId>,
}

impl Tree<'_> {
    fn members(&mut self, form: FormId, path: &PropertyPath) {
        let required = self.schema.form(form).required.clone();
        let members: Vec<(String, FormId)> =
            self.schema.form(form).properties.iter().map(|(name, form)| (name.clone(), *form)).collect();
        for (name, member) in members {
            let path = path.key(&name);
            let mut words = vec![self.kind(member)];
            if required.contains(&name) {
                words.push("required".to_owned());
            }
            let inside = |class: &Class| self.schema.classes.of(*class).covers(&path);
            words.extend(Class::ALL.into_iter().filter(inside).map(|class| class.word().to_owned()));
            let indent = "  ".repeat(self.open.len());
            let _ = writeln!(self.out, "{indent}{name}: {}", words.join(", "));
            self.inside(member, path);
        }
    }

    fn inside(&mut self, member: FormId, path: PropertyPath) {
        let (mut form, mut path) = (member, path);
        while let Some(element) = self.schema.element(form) {
            form = element;
            path = path.index(0);
        }
        if self.open.contains(&form) || self.schema.form(form).properties.is_empty() {
            return;
        }
        self.open.push(form);
        self.members(form, &path);
        self.open.pop();
    }

    fn kind(&self, id: FormId) -> String {
        let form = self.schema.form(id);
        if let Some(element) = self.schema.element(id) {
            let order = if self.schema.is_unordered(id) { "list in any order" } else { "list" };
            return format!("{order} of {}", self.kind(element));
        }
        if !form.choices.is_empty() {
            let choices: Vec<String> = form.choices.iter().map(|choice| choice.to_json()).collect();
            return choices.join(" | ");
        }
        match &form.name {
            Some(name) if self.open.contains(&id) => format!("{name}, as above"),
            _ if !form.properties.is_empty() => "object".to_owned(),
            _ if form.kinds == Kinds::default() => "any value".to_owned(),
            _ => form.kinds.words().replace("a whole number", "integer").replace("a ", "").replace("an ", ""),
        }
    }
}

/// Renders the operations of an update, each with its reason.
pub fn update(update: &Update) -> String {
    let mut out = String::new();
    match update {
        Update::Nothing => out.push_str("nothing to do\n"),
        Update::Patch { operations, conditional } => {
            for operation in operations {
                let path = pointer(&operation.path);
                let _ = match &operation.edit {
                    Edit::Add(value) => writeln!(out, "add {path} {}", value.to_json()),
                    Edit::Remove => writeln!(out, "remove {path}"),
                };
                let _ = writeln!(out, "    {}", operation.why);
            }
            for path in conditional {
                let _ = writeln!(
                    out,
                    "the service may refuse to change {path} in place; then a replacement is offered"
                );
            }
        }
        Update::Replace { forced_by, order } => {
            let first = match order {
                stead_schema::ReplaceOrder::CreateFirst => "the new one is created first",
                stead_schema::ReplaceOrder::DeleteFirst => "the old one is deleted first",
            };
            let _ = writeln!(out, "replace; {first}");
            reasons(&mut out, forced_by);
        }
        Update::Impossible(because) => {
            out.push_str("cannot be updated\n");
            reasons(&mut out, because);
        }
    }
    out
}

fn reasons(out: &mut String, all: &[Reason]) {
    for Reason { path, why } in all {
        let _ = writeln!(out, "    {path}: {why}");
    }
}
